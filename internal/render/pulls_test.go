package render_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/wording"
)

// sample is one of the pull requests in testdata/pulls.json, made up to look
// like real ones of 3 to 300 files. Code holds the lines that a finding is about.
type sample struct {
	Number, Added, Removed, Calls, Tokens, Cost, Limit int
	Seconds                                            float64
	Title, Author                                      string
	Notices, Files                                     []string
	Findings                                           []claim
	Filtered, Earlier                                  [][]any
}

// claim is a finding with the code that it is about, and rows of the diff around that.
type claim struct {
	finding.Finding
	Code          string
	Before, After []string
}

// hunk is the code as a hunk that adds it, or on the left takes it away.
func (c claim) hunk() string {
	sign := "+"
	if c.Side == finding.Left {
		sign = "-"
	}
	rows := slices.Concat(c.Before, strings.Split(sign+strings.ReplaceAll(c.Code, "\n", "\n"+sign), "\n"), c.After)
	old, fresh, above := 0, 0, 0
	for i, row := range rows {
		if i < len(c.Before) && row[:1] != map[finding.Side]string{finding.Left: "+", finding.Right: "-"}[c.Side] {
			above++
		}
		if row[0] != '+' {
			old++
		}
		if row[0] != '-' {
			fresh++
		}
	}
	start := c.StartLine - above
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s\n", start, old, start, fresh, strings.Join(rows, "\n"))
}

func samples(t *testing.T) (all []sample) {
	t.Helper()
	text, err := os.ReadFile("testdata/pulls.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

func (s sample) review(t *testing.T) render.Review {
	t.Helper()
	r := render.Review{
		Name: fmt.Sprintf("#%d", s.Number), Web: "https://github.com/org/payments", Head: head, Title: s.Title,
		Author: s.Author,
		Added:  s.Added, Removed: s.Removed, Model: "gpt-6-luna",
		Notices: s.Notices, Limit: cost.MicroUSD(max(s.Limit, 2_000_000)),
		Usage: cost.Usage{Calls: int64(s.Calls), InputTokens: int64(s.Tokens), Cost: cost.MicroUSD(s.Cost)},
	}
	for _, spec := range s.Files {
		r.Files = append(r.Files, expanded(spec)...)
	}
	patches := map[string][]claim{}
	for i, c := range s.Findings {
		f := c.Finding
		f.ID, f.Source, f.Placement = fmt.Sprintf("F%d", i+1), finding.Model, finding.Inline
		f.Quote, _, _ = strings.Cut(c.Code, "\n")
		if f.Note != "" {
			f.Placement = finding.Body
		}
		require.True(t, c.Code == "" || f.Line-f.StartLine == strings.Count(c.Code, "\n"), "%s: the code of %s",
			s.Title, f.Title)
		if c.Code != "" {
			patches[f.Path] = append(patches[f.Path], c)
		}
		r.Findings = append(r.Findings, f)
	}
	for _, row := range s.Filtered {
		r.Filtered = append(r.Filtered, finding.Finding{Filtered: finding.Filter(row[0].(string)),
			Path: row[1].(string), Side: finding.Right,
			Line: int(row[2].(float64)), Severity: finding.Severity(row[3].(string)), Title: row[4].(string),
			Note: row[5].(string)})
	}
	for _, row := range s.Earlier {
		r.Earlier = append(r.Earlier, finding.Earlier{Fate: finding.WasPosted, Now: finding.Resolved,
			Path:     row[0].(string),
			Severity: finding.Severity(row[1].(string)), Title: row[2].(string), URL: row[3].(string)})
	}
	r.Hunks = func(path string) (all []diff.Hunk) {
		for _, c := range patches[path] { // each a separate diff
			hunks, err := diff.Hunks(c.hunk())
			require.NoError(t, err)
			all = append(all, hunks...)
		}
		return all
	}
	return r
}

// expanded are the files that a row stands for: "skipped:asset web/{a,b}.svg".
func expanded(spec string) (all []finding.FileReview) {
	what, path, _ := strings.Cut(spec, " ")
	state, reason, _ := strings.Cut(what, ":")
	if inner := regexp.MustCompile(`\{([^{}]*)\}`).FindStringSubmatch(path); inner != nil {
		for _, one := range strings.Split(inner[1], ",") {
			all = append(all, expanded(what+" "+strings.Replace(path, inner[0], one, 1))...)
		}
		return all
	}
	why := finding.Reason(reason)
	if state != string(finding.Skipped) {
		why = finding.Reason(wording.Words(reason))
	}
	return []finding.FileReview{file(path, finding.State(state), why)}
}

// TestGoldenPulls keeps drafts and posted reviews of five pull requests. They
// were looked at as pictures of 375 and 900 pixels.
func TestGoldenPulls(t *testing.T) {
	all := samples(t)
	for i, files := range []int{3, 12, 40, 120, 300} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			r := all[i].review(t)
			require.Equal(t, files, len(r.Files))
			d := dialog()
			if i%2 == 1 {
				d = dispatch()
				d.Revise = "gh workflow run pr-review.yml -R org/payments -f pull-request=42 -f code=" + d.Code +
					" -f feedback='WHAT TO DO DIFFERENTLY'"
			}
			d.Elapsed = time.Duration(all[i].Seconds * float64(time.Second))
			golden(t, fmt.Sprintf("pull-%d-draft.md", files), summary.Draft(r, d))
			posted := render.Posted(render.Body(r), render.Approval(decision.Record{By: "rita-reviewer", At: d.Expires},
				false),
				marker.Review{Thread: fmt.Sprintf("org/payments#%d:%s", all[i].Number, head),
					Digest:   "3f9c2a71be04d855",
					Approved: "77d0"})
			golden(t, fmt.Sprintf("pull-%d-review.md", files), posted+comments(r))
			require.Empty(t, live(summary.Draft(r, d)))
			require.Empty(t, live(render.Body(r)))
		})
	}
}

// inline are the findings of inline comments.
func inline(r render.Review) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool {
		return f.Placement != finding.Inline
	})
}

// comments are the inline comments, each under its place.
func comments(r render.Review) (text string) {
	for _, f := range inline(r) {
		text += "\n\n---\n\n*At " + r.Place(f, f.Path) + "*\n\n" + render.Comment(f)
	}
	return text + "\n"
}
