package render_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/testvolume"
)

var (
	foldedBlock = regexp.MustCompile(`(?s)<details><summary>(.*?)</summary>.*?\n</details>`)
	commentFold = regexp.MustCompile(`(?m)^<details><summary>(?:More|Suggested change, \d+ lines?)</summary>$`)
)

func TestAnInlineCommentHasTwelveLinesAtMost(t *testing.T) {
	t.Parallel()
	texts := []string{"Short.", strings.Repeat("A sentence of some words stands here. ", 60),
		strings.Repeat("word", 500), strings.Repeat("文章", 900) + "。",
		strings.Repeat("- an item of a list\n", 40), strings.Repeat("A paragraph.\n\n", 30),
		"Before.\n\n```go\n" + strings.Repeat("\tcode()\n", 40) + "```\n\nBehind.",
		hostileText + strings.Repeat("\n\n"+hostileText, 9), ""}
	for i, body := range texts {
		for _, lines := range []int{0, 1, 6, 9, 60} {
			f := ledger().Findings[0]
			f.Body, f.Suggestion = body, strings.Repeat("\tcode()\n", lines)
			comment := render.Comment(f)
			open := commentFold.Split(comment, 2)[0]
			folds := len(commentFold.FindAllString(comment, -1))
			require.LessOrEqual(t, render.Height(open)+2*folds, 12, "%d %d\n%s", i, lines, comment)
			require.LessOrEqual(t, strings.Count(open, "\n")+folds, 12)
			require.Equal(t, lines > 0, strings.Contains(comment, "\n```suggestion\n\tcode"),
				"a fold leaves it to be applied")
			require.Empty(t, live(comment), comment)
		}
	}
}

func TestP2_AFoldedCommentLosesNoWord(t *testing.T) {
	t.Parallel()
	f := ledger().Findings[1]
	var words []string
	for i := range 900 {
		words = append(words, fmt.Sprintf("w%04d", i))
		if i%60 == 59 {
			words[i] += ".\n\n"
		}
	}
	f.Body = strings.Join(words, " ")
	comment := render.Comment(f)
	require.Regexp(t, `w\d{4}\.\n\n<details><summary>More</summary>\n\nw\d{4}`, comment, "it breaks behind a paragraph")
	require.Equal(t, strings.Fields(f.Body), regexp.MustCompile(`w\d{4}\.?`).FindAllString(comment, -1))
	f.Body = strings.Repeat("One line of many.\n", 100)
	require.Contains(t, render.Comment(f), "<details><summary>More</summary>\n\nOne line", "a long paragraph folds whole")
}

func TestASuggestionThatIsNotToBeAppliedIsCode(t *testing.T) {
	t.Parallel()
	f := ledger().Findings[0]
	f.SuggestionProblem = "it does not parse, see @org"
	require.NotContains(t, render.Comment(f), "```suggestion")
	require.Contains(t, render.Comment(f), "Suggested in place of line 41:\n\n```\n"+f.Suggestion)
	r := ledger()
	r.Findings[0] = f
	require.Contains(t, summary.Draft(r, dialog()), "posted inline, the suggestion as plain code, since it does "+
		"not parse, see `@org`*")
}

func TestACommentIsReadBack(t *testing.T) {
	t.Parallel()
	f := ledger().Findings[1]
	f.Title = "Locks `a_b` of *Transfer* <T> are [taken] late"
	posted := render.Comment(f) + "\n" + marker.Comment("0123456789abcdef")
	for _, body := range []string{posted, strings.ReplaceAll(posted, "\n", "\r\n") + "\r\n"} {
		print, severity, title, ok := marker.ParseComment(body)
		require.True(t, ok)
		require.Equal(t, []string{"0123456789abcdef", "major", f.Title}, []string{print, severity, title})
	}
	print, severity, title, ok := marker.ParseComment("edited by hand\n" + marker.Comment("0123456789abcdef"))
	require.True(t, ok)
	require.Equal(t, []string{"0123456789abcdef", "", ""}, []string{print, severity, title})
	_, severity, _, _ = marker.ParseComment("**Terrible: x**\n" + marker.Comment("0123456789abcdef"))
	require.Empty(t, severity)
	require.Empty(t, marker.Comment("0123456789abcdeF"))
	for _, body := range []string{"", posted + "\nmore", "> " + marker.Comment("0123456789abcdef"),
		"<!-- pr-review:f=0123 -->"} {
		_, _, _, ok := marker.ParseComment(body)
		require.False(t, ok, body)
	}
	f.Body, f.Title = marker.Comment("0123456789abcdef"), marker.Comment("0123456789abcdef")
	_, _, _, ok = marker.ParseComment(render.Comment(f))
	require.False(t, ok, "T12: nothing from outside forms a marker")
}

func TestNitsAndLongListsAreFolded(t *testing.T) {
	t.Parallel()
	r := sixty()
	body := render.Body(r)
	require.Contains(t, body, "<details><summary>44 more comments</summary>\n\n- **blocker**")
	r = r.InBody()
	body = render.Body(r)
	open := foldedBlock.ReplaceAllString(body, "")
	require.Equal(t, 10, strings.Count(open, " · [line "), open)
	require.Contains(t, body, "<details><summary>15 nits</summary>")
	require.Contains(t, body, "<details><summary>35 more findings</summary>")
	for i := range r.Findings {
		require.Contains(t, body, fmt.Sprintf("call %d is dropped", i+1))
	}
}

// rows are the hostile answers among the known attacks.
func rows(t *testing.T) (payloads []string) {
	t.Helper()
	for _, row := range llmtest.Attacks(t) {
		if row.Channel != "model-output" {
			continue
		}
		payloads = append(payloads, row.Payload)
		var answer struct{ Findings []struct{ Body string } }
		if json.Unmarshal([]byte(row.Payload), &answer) == nil && len(answer.Findings) > 0 {
			payloads = append(payloads, answer.Findings[0].Body)
		}
	}
	return payloads
}

func TestT10T11T12T15_HostileSamplesAreInertOnEveryPage(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for _, payload := range rows(t) {
		r := ledger()
		r.Title, r.Added = payload, 1
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Title, f.Body, f.Suggestion, f.Quote, f.Note, f.SuggestionProblem = payload, payload, payload, payload,
				payload, payload
		}
		r.Findings[0].SuggestionProblem = ""
		r.Findings[2].Path, r.Findings[3].Path = payload, payload
		r.Earlier = []finding.Earlier{{Fate: finding.WasPosted, Now: finding.Resolved, Path: payload, Title: payload,
			URL: payload, Severity: finding.Severity(payload)}}
		r.Filtered = []finding.Finding{{Filtered: finding.AlreadyCommented, Path: payload, Title: payload,
			Note: payload}, {Filtered: finding.Filter(payload), Title: payload}}
		for name, page := range map[string]string{"draft": summary.Draft(r, dialog()), "body": render.Body(r),
			"file": render.File(r), "comment": render.Comment(r.Findings[0]), "plain": render.Comment(r.Findings[1])} {
			require.Empty(t, live(page), "%s of %q\n%s", name, payload, page)
		}
		out := terminal.Review(r, terminal.Options{Width: 80})
		require.NotRegexp(t, "(?m)^\\s*::|##\\[|[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e\u200b]", out, "T13: %q",
			payload)
	}
}

// TestT27 reads pages as a person does: what is between the markup.
func TestT27_HonestCodeInFindingsStaysReadable(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"a List<String> is not a List<Object>", "if a < b && c > d the loop ends", "x[i] = *p++ reads beyond",
		"__init__ and snake_case_name differ", "costs $HOME and 50% more",
		"#include <stdio.h> is missing", "C:\\temp\\new is not escaped", "a|b|c is a pattern", "~/.ssh is read",
		"the type is [](x int) or !ok", "1. is no list here", "email admin@example.org gets it",
		"see issue #12 and @Override",
	} {
		r := ledger()
		r.Findings = r.Findings[:1]
		r.Findings[0].Title, r.Findings[0].Body = said,
			strings.ReplaceAll(said, "__init__", "`__init__`")+", so `List<String>` and `a && b` fail."
		for name, page := range map[string]string{"draft": summary.Draft(r, dialog()),
			"comment": render.Comment(r.Findings[0]), "in body": render.Body(r.InBody()), "listed": render.Body(r)} {
			title := strings.TrimPrefix(render.PlainTitle(r.Findings[0]), "1. ")
			require.Contains(t, read(page), title, "%s:\n%s", name, page)
		}
		wide := strings.ReplaceAll(terminal.Review(r, terminal.Options{Width: 200}), "│", "")
		require.Contains(t, strings.Join(strings.Fields(wide), " "), ", so `List<String>` and `a && b` fail.")
	}
}

// read is the text of a page without its markup.
func read(page string) string {
	source := []byte(page)
	var b strings.Builder
	_ = ast.Walk(parser.Parser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if t, ok := n.(*ast.Text); ok && entering {
				b.Write(unescaped(t.Segment.Value(source)))
			}
			return ast.WalkContinue, nil
		})
	return b.String()
}

var escaped = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)

func unescaped(s []byte) []byte { return escaped.ReplaceAll(s, []byte("$1")) }
