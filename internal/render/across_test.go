package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// across is a review that knows earlier ones: n findings of theirs are resolved.
func across(n int) render.Review {
	r := ledger()
	for i := range n {
		r.Earlier = append(r.Earlier, finding.Earlier{Fate: finding.WasPosted, Now: finding.Resolved,
			Path: fmt.Sprintf("old/f%02d.go", i), Side: finding.Right,
			Severity: finding.Major, Title: fmt.Sprintf("claim %02d.", i),
			URL: fmt.Sprintf("https://github.com/org/payments/pull/42#discussion_r%d", i)})
	}
	r.Earlier = append(r.Earlier,
		finding.Earlier{Fate: finding.WasPosted, Now: finding.StillThere, Title: "still there"},
		finding.Earlier{Fate: finding.WasPosted, Now: finding.Resolved, Announced: true, Title: "announced"},
		finding.Earlier{Fate: finding.WasDropped, Now: finding.Resolved, Title: "dropped"},
		finding.Earlier{Fate: finding.WasCommented, Title: "said"})
	return r
}

func held(filter finding.Filter, note string) finding.Finding {
	return finding.Finding{Filtered: filter, Note: note, Path: "a.go", Side: finding.Right, Line: 7,
		Severity: finding.Minor, Title: "a claim"}
}

func TestWhatIsResolvedIsSaidOnceAndBounded(t *testing.T) {
	t.Parallel()
	for name, show := range map[string]func(render.Review) string{
		"draft": func(r render.Review) string {
			return summary.Draft(r, dialog())
		}, "body": render.Body, "terminal": func(r render.Review) string {
			return terminal.Review(r,
				terminal.Options{Width: 80})
		},
	} {
		page := show(across(2))
		require.Contains(t, page, "2 resolved", name)
		for _, want := range []string{"old/f00.go", "Claim 00", "old/f01.go", "Claim 01"} {
			require.Equal(t, 1, strings.Count(page, want), "%s: %s", name, want)
		}
		for _, other := range []string{"nnounced", "claim 02"} {
			require.NotContains(t, page, other, name)
		}
		require.Equal(t, name != "body", strings.Contains(page, "till there"), "which one is for who decides")
		require.Contains(t, page, "1 finding of earlier reviews stands", name)
		require.NotContains(t, show(across(0)), "resolved", name)
		require.Regexp(t, `and 1,180 more`, show(across(1200)), name)
		require.NotContains(t, show(across(1200)), "Claim 20", name)
	}
	require.Contains(t, render.Body(across(2)), "**Resolved since: 2 findings of earlier reviews**\n\n- major "+
		"[`old/f00.go`](https://github.com/org/payments/pull/42#discussion_r0) Claim 00\n")
	require.Contains(t, render.Body(across(6)), "<details><summary>Resolved since: 6 findings")
}

func TestACommentThatHasNoLineAnyMoreIsOutdated(t *testing.T) {
	t.Parallel()
	r := across(1)
	posted := finding.Earlier{Fate: finding.WasPosted, ID: "F1", Severity: finding.Major, Path: "a.go", Title: "One",
		URL: "https://github.com/org/payments/pull/42#discussion_r9"}
	body := finding.Earlier{Fate: finding.WasPosted, ID: "F2", Severity: finding.Major, Path: "b.go", Title: "Two"}
	r.Earlier = append(r.Earlier, posted, body)
	draft := summary.Draft(r, dialog())
	require.Contains(t, draft, "- F1 **major** [`a.go`](https://github.com/org/payments/pull/42#discussion_r9) "+
		"(outdated) One\n- F2 **major** `b.go` Two\n")
	require.Contains(t, draft, "- major [`old/f00.go`](https://github.com/org/payments/pull/42#discussion_r0) Claim")
	require.Contains(t, terminal.Review(r, terminal.Options{}), "stands  F1  major  a.go (outdated)  One\nstands  F2  "+
		"major  b.go  Two\n")
}

func TestAReviewOfResolvedFindingsAloneReadsWell(t *testing.T) {
	t.Parallel()
	r := across(2)
	r.Findings, r.Filtered, r.Notices = nil, nil, nil
	require.True(t, strings.HasPrefix(render.Body(r), "**Nothing new** · 2 resolved · 1 finding of earlier "+
		"reviews stands · 9 of 11 files reviewed at "), render.Body(r))
	require.Contains(t, summary.Draft(r, dialog()), "**Nothing new** · 2 resolved · 1 finding of earlier "+
		"reviews stands · 9 of 11 files reviewed, 2 skipped · ")
	require.True(t, strings.HasPrefix(terminal.Review(r, terminal.Options{}),
		"nothing new, 2 resolved, 1 finding of earlier reviews stands · "))
	known := ledger()
	known.Findings, known.Filtered = nil, []finding.Finding{held(finding.AlreadyPosted, "")}
	require.Contains(t, ended(known, "CLEAN", ""), "## Nothing new in #42\n")
	known.Filtered = nil
	require.Contains(t, ended(known, "CLEAN", ""), "## Nothing found in #42\n")
}

func TestTheDraftSaysWhatWasHeldBackAndWhy(t *testing.T) {
	t.Parallel()
	r := ledger()
	r.Filtered = append(r.Filtered, held(finding.DroppedBefore, "dropped by @rita: known"), held(finding.AlreadyPosted,
		""), held(finding.AlreadyCommented, "said by @mira on line 7"),
		held(finding.Refuted, "the caller holds the lock"))
	draft := summary.Draft(r, dialog())
	require.Contains(t, draft, "<summary>Filtered: 1 posted before, 1 said by people, 1 dropped before, 1 "+
		"duplicate, 1 low confidence, 1 refuted</summary>")
	require.Contains(t, draft, "An approver dropped it from an earlier draft:\n\n- minor `a.go:7` A claim (dropped "+
		"by `@rita`: known)\n")
	require.Contains(t, draft, "Somebody said it of the same lines:\n\n- minor `a.go:7` A claim (said by `@mira` on "+
		"line 7)\n")
	require.Contains(t, terminal.Review(r, terminal.Options{Width: 80}),
		"filtered: 1 posted before, 1 said by people, 1 dropped before, 1 duplicate, 1\nlow confidence, 1 refuted\n\n"+
			"refuted  minor  a.go:7  A claim: the caller holds the lock\n")
	require.Contains(t, draft, "Verification refuted it:\n\n- minor `a.go:7` A claim (the caller holds the lock)\n")
	require.NotContains(t, render.File(r), "Filtered", "it is not posted")
}

func TestDraftsWithMuchThatWasFilteredStayUnderGitHubsLimit(t *testing.T) {
	t.Parallel()
	r := across(5000)
	for i := range 5000 {
		f := held(finding.AlreadyPosted, strings.Repeat("@a ", 100))
		f.Path, f.Title = fmt.Sprintf("%d/%s", i, strings.Repeat("p/", 1000)), strings.Repeat("#1 ", 100)
		r.Filtered = append(r.Filtered, f)
		r.Earlier[i].Path = f.Path
	}
	require.LessOrEqual(t, len(summary.Draft(r, dialog())), 1<<20)
	require.LessOrEqual(t, len(render.Body(r)), 60_000)
	require.Regexp(t, `- and [0-9,]+ more\n`, summary.Draft(r, dialog()))
}

func titled() render.Review {
	r := ledger()
	r.Title, r.Author, r.Added, r.Removed, r.Round = "Move transfers into one transaction", "ada", 1412, 87, 2
	return r
}

func TestTheHeadSaysWhatTheChangeIs(t *testing.T) {
	t.Parallel()
	const page = "(https://github.com/org/payments/pull/42), 11 files, +1,412 −87\n\n"
	draft := summary.Draft(titled(), dialog())
	require.True(t, strings.HasPrefix(draft, "## Review of #42, revision 2 of 3, waits for a decision\n\n[“Move "+
		"transfers into one transaction” by ada]"+page+"**1 blocker"), draft)
	require.Contains(t, draft, " · $0.03, 12.4 s, `gpt-6-luna` · code `3f9c2a71be04d855` · until ")
	require.Contains(t, terminal.Review(titled(), terminal.Options{Width: 80}),
		"\n“Move transfers into one transaction” by ada, 11 files, +1,412 −87, revision 2\nof 3\n")
	require.Contains(t, summary.Draft(titled(), hidden(dialog(), "seal")), "\n\n[The pull request]"+page)
	require.NotContains(t, summary.Draft(titled(), hidden(dialog(), "seal"))+summary.End(titled(),
		summary.Ending{Outcome: "CLEAN", Counts: true}), "Move transfers")
	require.NotContains(t, render.Body(titled())+render.File(titled()), "Move transfers",
		"what is posted stands below the title")
	local := titled()
	local.Name, local.Web, local.Author = "main...HEAD", "", ""
	require.Contains(t, summary.Draft(local, dialog()), "\n\n“Move transfers into one transaction”, 11 files")
}

// An approver decides on the first screen: where, one command, and a fold for the rest.
func TestDecideStandsAboveTheFindings(t *testing.T) {
	t.Parallel()
	const actions = "https://github.com/org/payments/actions/"
	both := dialog()
	both.Dispatch, both.Revise = dispatch().Dispatch, "gh workflow run pr-review.yml"
	without := dialog()
	without.Approve, without.Run = "", 0
	for name, c := range map[string]struct {
		decide    summary.Decide
		where, gh string
	}{
		"the environment": {dialog(), "**Decide** in [Review deployments](" + actions + "runs/7001) or with:",
			dialog().Approve},
		"an environment, dispatch allowed": {both, "**Decide** in [Review deployments](" + actions + "runs/7001)",
			dialog().Approve},
		"an environment of no run": {without, "**Decide** in *Review deployments*.", ""},
		"a dispatch": {dispatch(), "**Decide** in [this form](" + actions +
			"workflows/pr-review-decide.yml), which *Run workflow* opens, draft `42-3f9c2a71be04d855`, or with:",
			dispatch().Dispatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draft := summary.Draft(titled(), c.decide)
			above, _, ok := strings.Cut(draft, "\n> [!WARNING]")
			require.True(t, ok)
			require.Contains(t, above, "\n"+c.where)
			require.Contains(t, above, "<details><summary>More ways to decide</summary>")
			open := regexp.MustCompile(`(?s)<details>.*?</details>`).ReplaceAllString(draft, "")
			require.Equal(t, min(len(c.gh), 1), strings.Count(open, "\ngh "), "one line, the others folded")
			require.Contains(t, open, c.gh)
			require.Empty(t, live(draft))
		})
	}
	kept := summary.Draft(weak(), keptDraft())
	require.NotContains(t, kept, "**Decide**", "nobody is asked")
	require.Less(t, strings.Index(kept, "<details><summary>To post it all the same"), strings.Index(kept, "#### F1"))
}

func TestT15_ATitleCannotLeaveItsQuotationMarks(t *testing.T) {
	t.Parallel()
	r := titled()
	r.Author = "eve](https://collect.example)[@org/x"
	for _, title := range []string{"x”, 0 files. **Approved** by @org/security “", "</details>\n# Approved", "/approve",
		"![x](https://collect.example)", "<!-- pr-review:v1 -->", strings.Repeat("`", 90), "\u202ex",
		"x](https://collect.example) [y", `x\`, "`x] (`y", "[a][b]"} {
		r.Title = title
		draft := summary.Draft(r, dialog())
		require.Empty(t, live(draft), draft)
		line := strings.Split(draft, "\n")[2]
		require.Equal(t, 1, strings.Count(line, "“"), line)
		require.Equal(t, 1, strings.Count(line, "”"), line)
		require.True(t, strings.HasSuffix(line, "](https://github.com/org/payments/pull/42), 11 files, +1,412 −87"),
			line)
		require.Contains(t, line, "by `eve]", "a login that is none is code")
		require.Equal(t, []string{"https://github.com/org/payments/pull/42"}, links(line), line)
	}
}

// links are the targets of the links in Markdown.
func links(page string) (all []string) {
	source := []byte(page)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			all = append(all, string(l.Destination))
		}
		if l, ok := n.(*ast.AutoLink); ok && entering {
			all = append(all, string(l.URL(source)))
		}
		return ast.WalkContinue, nil
	})
	return all
}

func TestRevisingIsOfferedWhileARoundIsLeft(t *testing.T) {
	t.Parallel()
	d := dispatch()
	d.Revise = "gh workflow run pr-review.yml -f mode=revise -f code=3f9c -f feedback='WHAT'"
	for round, want := range map[int]string{0: "(3 revisions left)", 1: "(2 revisions left)", 2: "(1 revision left)",
		3: ""} {
		r := ledger()
		r.Round = round
		draft := summary.Draft(r, d)
		require.Equal(t, want != "", strings.Contains(draft, "\n"+d.Revise+"\n"), round)
		require.Contains(t, draft, want)
	}
	require.NotContains(t, summary.Draft(ledger(), dispatch()), "revision")
}

func TestWarningsLeaveRoomForTheWorstFinding(t *testing.T) {
	t.Parallel()
	r := ledger()
	r.Notices = append(r.Notices, "Two.", "Three.")
	draft := summary.Draft(r, dialog())
	require.Contains(t, draft, "<details><summary>2 more warnings</summary>\n\n- Two.\n- Three.\n</details>\n\n#### F1")
	for i := range 20 {
		r.Flags = append(r.Flags, finding.Flag{Path: "a`@x.go", Line: i, Kind: finding.InjectionFlag,
			Text: "x\n# y <b>" + strings.Repeat("z", 500)})
	}
	draft = summary.Draft(r, dialog())
	require.Contains(t, draft, "``a`@x.go`` line 6 addresses the reviewer: `x # y <b>zzz")
	require.Contains(t, draft, "- 13 more warnings of this kind.\n")
	require.Contains(t, draft, "<details><summary>22 more warnings</summary>")
	shown := terminal.Review(r, terminal.Options{Width: 80})
	require.Equal(t, 10, strings.Count(shown, "warning: "))
	require.Contains(t, shown, "13 more warnings of this kind\n")
	require.NotContains(t, render.File(r), "addresses", "no flag is posted")
	require.Contains(t, summary.Draft(r, hidden(dialog(), "seal")), "and 23 warnings are not shown")
	r.Flags = nil
	r.Notices = []string{"One.", "Two."}
	require.Contains(t, summary.Draft(r, dialog()), "> [!WARNING]\n> One.\n\n"+
		"<details><summary>1 more warning</summary>\n\n- Two.\n</details>")
}

func TestAPostedReviewFitsWithItsMarker(t *testing.T) {
	t.Parallel()
	var prints []string
	for i := range 900 {
		prints = append(prints, fmt.Sprintf("%016x", i))
	}
	m := marker.Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd", Posted: prints, Dropped: prints,
		Resolved: prints[:3]}
	whole, ok := marker.Parse(m.String())
	require.True(t, ok)
	require.Len(t, whole.Dropped, 400)
	short, ok := marker.Parse(render.Posted("body", "", m))
	require.True(t, ok)
	require.Equal(t, prints[:400], short.Posted)
	long := render.Posted(strings.Repeat("x", 60_000),
		render.Approval(decision.Record{By: "rita", At: time.Now()}, false), m)
	require.LessOrEqual(t, len(long), 65_000)
	cut, ok := marker.Parse(long)
	require.True(t, ok)
	require.Equal(t, prints[:3], cut.Resolved, "the longest lists give way")
	require.Greater(t, len(cut.Posted), 100)
	require.Equal(t, prints[:len(cut.Posted)], cut.Posted)
}

func TestAReviewByRulesThatFoundNothingDoesNotSoundLikeARead(t *testing.T) {
	t.Parallel()
	r := byRules()
	r.Findings, r.Notices, r.Flags, r.Earlier = nil, nil, nil, nil
	const want = "o rule matched; no model read these files"
	require.Contains(t, terminal.Review(r, terminal.Options{Width: 200}), "n"+want+" · 9 of 11 files")
	require.Contains(t, render.Body(r), "**N"+want+"** · 9 of 11 files")
	end := ended(r, "CLEAN", "")
	require.Contains(t, end, "## No rule matched in #42")
	require.Contains(t, end, "N"+want+"** · 9 of 11 files")
	require.NotContains(t, end, "othing found")
}
