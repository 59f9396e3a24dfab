package aggregate_test

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

var digits = regexp.MustCompile(`[0-9]+`)

// cases is how many random changes are tried.
const cases = 100_000

// drawn is a random change with what is to be posted of it.
type drawn struct {
	change
	given, most int
	all         []finding.Finding
}

func draw(seed uint64) drawn {
	r := rand.New(rand.NewPCG(seed, 7))
	d := drawn{change: randomChange(r), most: r.IntN(8)}
	flags, reviews := randomFindings(r, d.change)
	d.given = len(flags)
	for _, f := range reviews {
		d.given += len(f.Findings)
	}
	d.all, _ = aggregate.Findings(aggregate.Input{Files: d.files, Findings: flags, Reviews: reviews, Inline: d.most})
	return d
}

// comment is the one that a finding would be posted as.
func comment(f finding.Finding) githubtest.Comment {
	k := githubtest.Comment{Path: f.Path, Side: string(f.Side), Line: f.Line, Body: f.Title}
	if f.StartLine != f.Line {
		k.StartLine, k.StartSide = f.StartLine, k.Side
	}
	return k
}

// TestP7_WhatIsSentIsWhatGitHubTakes holds three accounts of one change against
// one another: what is placed inline, what the fake takes, and what the change
// was made of. No side is taken that only a whole request would show: each comment
// is asked about on its own, and those of a review together.
func TestP7_WhatIsSentIsWhatGitHubTakes(t *testing.T) {
	t.Parallel()
	tally, drawn := map[string]int{}, testvolume.Of(cases, cases/10)
	for seed := range uint64(drawn) {
		d := draw(seed)
		if len(d.all) != d.given {
			t.Fatalf("case %d: %d findings of %d are left", seed, len(d.all), d.given)
		}
		var sent []githubtest.Comment
		for _, f := range finding.Kept(d.all) {
			takes, may := len(githubtest.ValidateReview(d.listed, comment(f))) == 0, d.may(f)
			if f.Side == "" {
				takes = false // which the fake takes for the right one
			}
			inline := f.Placement == finding.Inline
			switch capped := f.Severity == finding.Nit || len(sent) >= d.most; {
			case takes != may, inline && !may, !inline && may && !capped, inline && capped, !inline &&
				(f.Placement != finding.Body || f.Note == ""):
				t.Fatalf("case %d: %+v\ntaken %t, stands in the diff %t, capped %t\n%+v", seed, f, takes, may, capped,
					d.listed)
			}
			if inline {
				sent = append(sent, comment(f))
			}
			tally[string(f.Placement)+" "+digits.ReplaceAllString(f.Note, "N")]++
			if f.Suggestion != "" && f.SuggestionProblem == "" &&
				(f.Side != finding.Right || !may && !omits(d.files, f.Path)) {
				t.Fatalf("case %d: a suggestion that cannot be applied: %+v", seed, f)
			}
		}
		if no := githubtest.ValidateReview(d.listed, sent...); len(no) > 0 {
			t.Fatalf("case %d: %q", seed, no)
		}
	}
	for _, kind := range []string{"inline ", "body a nit", "body beyond the N comments of a review",
		"body line N is not part of the diff", "body lines N to N are not part of the diff",
		"body GitHub shows no diff of its file"} {
		require.Greater(t, tally[kind], drawn/1000, "cases of %q", kind)
	}
}

// omits reports whether GitHub left the patch of a file out.
func omits(files []diff.File, path string) bool {
	for _, f := range files {
		if f.Path == path {
			return f.Blob != ""
		}
	}
	return false
}
