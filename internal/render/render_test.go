package render_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/wording"
)

// pages are all Markdown renderings of a review.
func pages(r render.Review) map[string]string {
	p := map[string]string{
		"draft A": summary.Draft(r, dialog()), "draft B": summary.Draft(r, dispatch()), "draft kept": summary.Draft(r,
			keptDraft()),
		"body": render.Body(r), "in body": render.Body(r.InBody()), "file": render.File(r),
		"posted": render.Posted(render.Body(r), render.Approval(decision.Record{By: "x</details>@org"}, false),
			marker.Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd"}),
	}
	for _, outcome := range []string{"SKIPPED", "CLEAN", "POSTED", "ABORTED", "EXPIRED", "REFUSED", "FAILED"} {
		p[outcome] = ended(r, outcome, "failed: </details> @org/team #12 https://collect.example/x")
	}
	for _, f := range r.Findings {
		p["comment "+f.ID] = render.Comment(f)
	}
	return p
}

// parser reads GitHub's Markdown; its default for mail addresses takes
// backticks into them, which GitHub's parser does not.
var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
	extension.NewLinkify(extension.WithLinkifyEmailRegexp(
		regexp.MustCompile(`^[A-Za-z0-9.+_-]+@[A-Za-z0-9_-]+\.[A-Za-z0-9._-]+`)))))

var (
	ourHTML = regexp.MustCompile(`</?(?:details|summary|code)>|<!-- pr-review:v1 [A-Za-z0-9=./#@: _-]+ -->`)
	codeTag = regexp.MustCompile(`(?s)<code>.*?</code>`)
	// headline is our own naming of the pull request.
	headline = regexp.MustCompile(`(?: of| in|^) ?#[0-9]+[ ,]`)
	acts     = regexp.MustCompile(`(?:^|[^\w` + "`" + `])@[A-Za-z0-9]|(?:^|\W)#[0-9]|(?i)\bgh-[0-9]|://|www\.`)
)

// live lists what of a page would act on GitHub beyond what we put there.
func live(page string) (found []string) {
	source := []byte(page)
	root := parser.Parser().Parse(text.NewReader(source))
	raw := ""
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if url := string(n.Destination); !strings.HasPrefix(url, "https://github.com/org/payments/") {
				found = append(found, "link "+url)
			}
			return ast.WalkSkipChildren, nil
		case *ast.Image, *ast.AutoLink, *extast.Table, *ast.ThematicBreak:
			found = append(found, n.Kind().String())
		case *ast.FencedCodeBlock:
			if info := string(n.Language(source)); info != "" && info != "suggestion" &&
				!strings.HasPrefix(guard.Fence("x", info), "```"+info+"\n") {
				found = append(found, "info "+info)
			}
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				raw += string(s.Value(source))
			}
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				raw += string(s.Value(source))
			}
			if n.HasClosure() {
				raw += string(n.ClosureLine.Value(source))
			}
		case *ast.Text:
			if s := html.UnescapeString(string(n.Segment.Value(source))); acts.MatchString(s) &&
				!headline.MatchString(s) {
				found = append(found, "text "+s)
			}
		}
		return ast.WalkContinue, nil
	})
	plain := codeTag.ReplaceAllString(raw, "")
	rest := ourHTML.ReplaceAllString(plain, "")
	if strings.ContainsAny(rest, "<>") || acts.MatchString(html.UnescapeString(rest)) {
		found = append(found, "html "+rest)
	}
	if o, c := strings.Count(plain, "<details>"), strings.Count(plain, "</details>"); o != c {
		found = append(found, fmt.Sprintf("%d <details> and %d </details>", o, c))
	}
	return found
}

func TestT10T11T12T15_NothingFromOutsideActsOnThePage(t *testing.T) {
	require.NotEmpty(t, live("@org/team"), "the check itself works")
	require.NotEmpty(t, live("<details><summary>@org</summary>\n\nx\n</details>"))
	require.NotEmpty(t, live("![x](https://collect.example)"))
	for name, page := range pages(hostile()) {
		require.Empty(t, live(page), "%s\n%s", name, page)
	}
}

func TestT12_ASuggestionWithHiddenCharactersIsNotOffered(t *testing.T) {
	f := ledger().Findings[0]
	require.Contains(t, render.Comment(f), "```suggestion\n"+f.Suggestion)
	f.Suggestion += "\u202e"
	require.NotContains(t, render.Comment(f), "```suggestion")
	f = ledger().Findings[0]
	f.Side = finding.Left
	require.NotContains(t, render.Comment(f), "```suggestion")
}

func TestT13_TerminalTextCannotSteerTerminalOrRunner(t *testing.T) {
	r := hostile()
	r.Findings[0].Title = strings.Repeat("aaaaaaaa ", 3) + "::error::x ##[group]y"
	r.Findings[0].Body = strings.Repeat("bbbbbbb ::error::x ", 30)
	r.Notices = []string{strings.Repeat("ccccccc ::error::x ", 30)}
	for width := 8; width < 120; width += 3 {
		out := terminal.Review(r, terminal.Options{Width: width})
		for _, line := range strings.Split(out, "\n") {
			require.NotRegexp(t, `^\s*(::|##\[)`, line, "width %d", width)
		}
		require.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e]", out)
	}
}

func TestP2_TheFileHoldsWhatIsPostedByteForByte(t *testing.T) {
	for name, r := range map[string]render.Review{"ledger": ledger(), "hostile": hostile(), "sixty": sixty(),
		"2000": manyFiles(2000), "partial": partial()} {
		file := render.File(r)
		require.Contains(t, file, render.Body(r), name)
		require.Contains(t, file, render.Body(r.InBody()), name)
		for _, f := range inline(r) {
			require.Contains(t, file, render.Comment(f), name)
		}
	}
}

func TestP2_PostingNeedsNoDiff(t *testing.T) {
	r := ledger()
	body, file := render.Body(r), render.File(r)
	r.Hunks = nil
	require.Equal(t, body, render.Body(r))
	require.Equal(t, file, render.File(r))
	require.Contains(t, summary.Draft(r, dialog()), "Suggested in place of line 41:")
}

func TestBodyIsCutAtAFindingsBorderWithACount(t *testing.T) {
	r := manyFiles(3000)
	r.Findings = nil
	for i := range 80 {
		r.Findings = append(r.Findings, finding.Finding{
			ID: fmt.Sprintf("F%d", i+1), Path: fmt.Sprintf("a%d.go", i), Side: finding.Right, Line: 1, StartLine: 1,
			Severity: finding.Minor,
			Title:    "Title", Body: fmt.Sprintf("begin%d ", i) + strings.Repeat("word ", 300) + fmt.Sprintf("end%d",
				i), Placement: finding.Body,
		})
	}
	body := render.Body(r)
	require.LessOrEqual(t, len(body), 60_000)
	shown := strings.Count(body, "\n\nbegin")
	require.Positive(t, shown)
	require.Equal(t, shown, len(regexp.MustCompile(`end\d+\n`).FindAllString(body, -1)), "none is cut in two")
	require.Contains(t, body, fmt.Sprintf("**%d findings not shown here for length** (%d minor)", 80-shown, 80-shown))
	require.Contains(t, body, "minor): they are in the draft: `review.md` in its artifact, unless that is encrypted.",
		"who reads it under trust: encrypt finds no review.md there")
	require.Contains(t, render.File(r), "end79\n", "review.md has the rest")
	require.Equal(t, r.Findings[shown:], render.Cut(r))
	for i := range r.Findings {
		r.Findings[i].Placement = finding.Inline
		r.Findings[i].Title = strings.Repeat("title ", 200)
	}
	r.Findings = slices.Repeat(r.Findings, 5)
	require.Contains(t, render.Body(r), "not shown here for length")
	require.Empty(t, render.Cut(r), "an inline comment is posted also where the body does not list it")
}

func TestDraftStaysUnderGitHubsLimit(t *testing.T) {
	r := manyFiles(3000)
	r.Findings = nil
	for range 400 {
		f := hostile().Findings[0]
		f.Body = strings.Repeat("@org/team #12 ", 2000)
		r.Findings = append(r.Findings, f)
	}
	draft := summary.Draft(r, dialog())
	require.LessOrEqual(t, len(draft), 1<<20)
	require.Contains(t, draft, "findings not shown here for length")
	require.Contains(t, draft, "**Decide** in ")
	require.LessOrEqual(t, len(render.Comment(r.Findings[0])), 65_536)
}

func TestP6_NumbersAgreeAndEveryFileIsNamed(t *testing.T) {
	for name, r := range map[string]render.Review{"ledger": ledger(), "partial": partial(), "2000": manyFiles(2000)} {
		draft := summary.Draft(r, dialog())
		reviewed := 0
		for _, f := range r.Files {
			if f.State == finding.Reviewed {
				reviewed++
			}
		}
		require.Contains(t, draft, fmt.Sprintf("%s of %s reviewed",
			wording.Thousands(int64(reviewed)), wording.Count(len(r.Files), "file")))
		for _, f := range r.Files {
			require.Contains(t, draft, f.Path[strings.LastIndexByte(f.Path, '/')+1:]+"`", name)
		}
	}
	require.Contains(t, summary.Draft(onlyFailures(), dialog()), "**1 failed, 1 not reached, 1 partly, 1 too large**")
}

func TestFilesThatDoNotFitAreCounted(t *testing.T) {
	_, list := manyFiles(2000).FileLists(3000)
	require.LessOrEqual(t, len(list), 4500)
	require.Regexp(t, `and [\d,]+ more files\n`, list)
}

func TestRulesAreSaidInTheFirstLine(t *testing.T) {
	first := func(s string) string { return strings.SplitN(s, "\n", 2)[0] }
	r := byRules()
	for name, s := range map[string]string{
		"draft": summary.Draft(r, dialog()), "ended": ended(r, "POSTED", ""), "body": render.Body(r),
		"file":     render.File(r),
		"terminal": terminal.Review(r, terminal.Options{}),
	} {
		require.Contains(t, first(s), render.RulesNotice, name)
		require.Equal(t, 1, strings.Count(s, "without a model")-strings.Count(s, "Posted instead if"), name)
	}
}

func TestDispatchRouteShowsCommandsThatWork(t *testing.T) {
	d := dispatch()
	draft := summary.Draft(ledger(), d)
	require.Contains(t, draft, "\n"+d.Dispatch+"\n")
	require.Contains(t, draft, "\n"+d.DispatchAbort+"\n")
	require.Contains(t, draft, d.Dispatch+" -f commands='/drop F4: REASON\n/edit F1: NEW TEXT\n/summary F2'")
	require.Contains(t, draft, "until 4 December 2026, 08:00 UTC", "the artifact is gone before the draft expires")
}

func TestAKeptDraftAsksNobodyAndCanStillBeDecided(t *testing.T) {
	draft := summary.Draft(weak(), keptDraft())
	require.True(t, strings.HasPrefix(draft, "## Review of #42 calls nobody\n"), draft)
	require.NotContains(t, draft, "waits for a decision")
	require.NotContains(t, draft, "Review deployments", "no job waits in the environment")
	for _, want := range []string{"weaker than what calls a person", "code `3f9c2a71be04d855`",
		"To post it all the same",
		keptDraft().Dispatch, keptDraft().DispatchAbort} {
		require.Contains(t, draft, want)
	}
	require.NotContains(t, summary.Draft(ledger(), dispatch()), "all the same")
}

func TestDroppingEveryFindingIsNotTheSameAsFindingNothing(t *testing.T) {
	r := allDropped()
	require.True(t, strings.HasPrefix(render.Body(r), "**No finding was kept** · "))
	require.True(t, strings.HasPrefix(terminal.Review(r, terminal.Options{}), "no finding was kept · "))
	r.Filtered = ledger().Filtered
	require.True(t, strings.HasPrefix(render.Body(r), "**Nothing found** · "),
		"other filters are ours, not the approver's")
}

func TestAnOldLineIsToldFromANewOne(t *testing.T) {
	r := ledger()
	r.Filtered = append(r.Filtered, r.Findings[2])
	r.Filtered[len(r.Filtered)-1].Filtered = finding.Duplicate
	require.Contains(t, render.Body(r), "- **major** `api/handler.go:26` (old) The amount")
	require.Contains(t, terminal.Review(r, terminal.Options{}), "F3  major  api/handler.go:26 (old)  The amount")
	require.Contains(t, summary.Draft(r, dialog()), "- major `api/handler.go:26` (old) The amount")
	require.Equal(t, 1, strings.Count(render.Body(r), "(old)"))
}

func TestAQuoteFromOutsideTheDiffIsNotShownAsCode(t *testing.T) {
	r := ledger()
	r.Findings = r.Findings[3:]
	f := &r.Findings[0]
	out := terminal.Review(r, terminal.Options{Color: true})
	require.NotContains(t, out, "errors.New")
	require.Contains(t, out, " │ \x1b[2mline 15 is not part of the diff\x1b[0m\n")
	f.Path, f.StartLine, f.Line, f.Note = "ledger/transfer.go", 41, 41, "moved by the approver"
	out = terminal.Review(r, terminal.Options{})
	require.Contains(t, out, "41 │     l.Debit(from, amount)\n", "the diff has the line")
	require.NotContains(t, out, f.Note)
}

func TestLinesThatEndInCRLFAreShownLikeOthers(t *testing.T) {
	r := ledger()
	want, screen, hunks := pages(r), terminal.Review(r, terminal.Options{}), r.Hunks
	r.Hunks = func(path string) []diff.Hunk {
		all := hunks(path)
		for _, h := range all {
			for i := range h.Lines {
				h.Lines[i].Text += "\r"
			}
		}
		return all
	}
	require.Equal(t, want, pages(r))
	require.Equal(t, screen, terminal.Review(r, terminal.Options{}))
}

func TestTheFirstLineOnTheTerminalBreaksBetweenFoundAndRead(t *testing.T) {
	found, read := "1 blocker, 2 major, 1 minor", "9 of 11 files reviewed, 2 skipped (1 binary, 1 lockfile)"
	for width, want := range map[int]string{0: found + " · " + read, 120: found + " · " + read, 80: found + "\n" + read,
		40: found + "\n9 of 11 files reviewed, 2 skipped (1\nbinary, 1 lockfile)"} {
		require.True(t, strings.HasPrefix(terminal.Review(ledger(), terminal.Options{Width: width}), want+"\n"),
			"width %d",
			width)
	}
}

func FuzzNothingActs(f *testing.F) {
	f.Add(hostileText, "a.go", "x")
	f.Add("- a\n  ```\n</details>", "`", "``` @org")
	f.Fuzz(func(t *testing.T, body, path, title string) {
		r := ledger()
		r.Findings = r.Findings[:1]
		f := &r.Findings[0]
		f.Body, f.Path, f.Title, f.Placement = body, path, title, finding.Body
		folded := *f
		r.Findings = append(r.Findings, folded, folded, folded)
		r.Findings[3].Severity = finding.Minor
		require.Empty(t, live(summary.Draft(r, dialog())))
		require.Empty(t, live(render.Body(r)))
	})
}
