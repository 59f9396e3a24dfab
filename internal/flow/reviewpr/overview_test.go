package reviewpr_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
)

func TestStatusesAreTheReferencesNames(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]reviewpr.Status{
		"": "initialize", "ingest": "fetch_pr_details", "triage": "fetch_pr_details", "context": "extract_context_ids",
		"review": "analyze_code", "overview": "generate_review", "aggregate": "generate_review", "gate": "gate",
		"revise": "analyze_code", "redraft": "analyze_code", "post": "post_review",
	} {
		require.Equal(t, want, reviewpr.StatusOf(node), node)
	}
	nodes := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^    n_(\w+)`).FindAllStringSubmatch(newWorld(nil).flow(t).Mermaid(),
		-1) {
		nodes[m[1]] = true
		require.NotEqual(t, reviewpr.Initialize, reviewpr.StatusOf(m[1]), "no status in StatusOf: %s", m[1])
	}
	require.Subset(t, nodes, map[string]bool{"ingest": true, "review": true, "gate": true, "post": true},
		"a node of each shape")
	type view = graph.View[reviewpr.State]
	for want, v := range map[reviewpr.Status]view{
		"initialize":      {Status: graph.Running},
		"analyze_code":    {Status: graph.Running, Next: []string{"review"}, Steps: []graph.Step{{Node: "context"}}},
		"gate":            {Status: graph.Paused},
		"complete":        {Status: graph.Ended, End: reviewpr.Clean},
		"generate_review": {Status: graph.Ended, End: reviewpr.Failed, Steps: []graph.Step{{Node: "aggregate"}}},
	} {
		require.Equal(t, want, reviewpr.StatusesIn(v)[0])
	}
	require.Equal(t, reviewpr.FetchDetails, reviewpr.StatusAt(&graph.NodeError{Node: "ingest", Err: errors.New("x")}))
	require.Equal(t, reviewpr.InError, reviewpr.StatusAt(errors.New("x")))
}

// simple is a change of two files of which a model says something.
func simple(t *testing.T, whole llmtest.Script) *asking {
	t.Helper()
	c := wholeCases(t, "contradiction-amount.txtar")["contradiction-amount"]
	return newAsking(t, c.change, ticket.Context{}, llmtest.Honest, whole, "")
}

func says(texts ...string) llmtest.Script {
	n := 0
	return func(llmtest.Request) llmtest.Answer {
		n++
		return llmtest.Answer{Text: texts[min(n, len(texts))-1]}
	}
}

// inFile is a finding on the first line that is in a file.
func inFile(path string) string {
	return `{"path":"` + path + `","line":1,"severity":"minor","title":"t","quote":"","confidence":1}`
}

const seen = `{"overview":"It renames a field.","findings":[]}`

func TestAnAnswerOnTheWholeChangeIsRepairedOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string
		calls   int
		text    string
		note    string
	}{
		"whole":          {[]string{seen}, 1, "It renames a field.", ""},
		"broken":         {[]string{`{"overview":"It`, seen}, 2, "It renames a field.", ""},
		"prose":          {[]string{"Looks good.", seen}, 2, "It renames a field.", ""},
		"without a text": {[]string{`{"findings":[]}`, seen}, 2, "It renames a field.", ""},
		"of another file": {[]string{`{"overview":"x","findings":[{"path":"../etc/passwd","line":1` +
			`,"severity":"major",` +
			`"title":"t","quote":"q","confidence":1}]}`, seen}, 2, "It renames a field.", ""},
		"half of it twice": {[]string{`{"overview":"x","findings":[` + inFile("web/refund.ts") + `,` +
			inFile("b/api/refund.go") + `]}`}, 2, "x",
			"Some findings on the change as a whole are missing: 1 of 2 findings could not be used: " +
				"finding 2: its path is not one of the changed files."},
		"broken twice": {[]string{"Looks good."}, 2, "",
			"The change was not looked at as a whole: the model's answer could " +
				"not be used: it is not a JSON object of the form."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, says(tc.answers...))
			s := a.run(t)
			require.Len(t, a.server.Wholes(), tc.calls)
			require.Equal(t, tc.text, s.Whole.Text)
			require.EqualValues(t, 2+tc.calls, s.Usage.Calls, "what was asked is paid for")
			if tc.note != "" {
				require.Equal(t, []string{tc.note}, s.Review().Notices)
				require.Equal(t, tc.text != "", len(s.Whole.Findings) == 1, "what is whole stays")
			}
		})
	}
}

// spent is a model without money for questions about the whole change.
type spent struct{ review.Chatter }

func (c spent) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	if r.SchemaName == "change_overview" {
		return llm.Answer{}, cost.ErrSpent
	}
	return c.Chatter.Chat(ctx, r)
}

func TestWithoutMoneyOrTimeTheReviewGoesOnAndSaysSo(t *testing.T) {
	t.Parallel()
	ends := func(t *testing.T, a *asking, steps reviewpr.Steps, note string) {
		flow, err := reviewpr.New(steps, a.store)
		require.NoError(t, err)
		r, err := flow.Run(t.Context(), a.change.Thread, a.draft())
		require.NoError(t, err)
		require.Equal(t, reviewpr.Clean, r.End)
		require.Equal(t, []string{note}, r.State.Review().Notices)
		require.Empty(t, a.server.Wholes())
	}
	t.Run("money", func(t *testing.T) {
		t.Parallel()
		a := simple(t, llmtest.Nothing)
		a.model.Options.Review = spent{a.model.Options.Review}
		ends(t, a, a.wired(), "The change was not looked at as a whole: the budget was spent.")
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		a := simple(t, llmtest.Nothing)
		synctest.Test(t, func(t *testing.T) {
			steps := a.wired()
			steps.Reviewer, steps.Deadline = finds(""), time.Now().Add(time.Second)
			steps.Overview = func(ctx context.Context, w review.Whole) (finding.Overview, error) {
				<-ctx.Done()
				return a.model.Overview(ctx, w)
			}
			ends(t, a, steps, "The change was not looked at as a whole: the time was up.")
		})
	})
}

// An overview that is posted is edited and dropped as a finding is; one that is not, is not.
func TestAPostedOverviewIsEditedAndDropped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		use       config.OverviewUse
		command   string
		in, out   string // of the review
		shown, id bool   // in the draft
		refused   string
	}{
		"shown":           {"", "", "", "renames a field", true, false, ""},
		"shown, dropped":  {"", "/drop O1", "", "", true, false, "this draft posts no overview"},
		"off":             {config.OverviewOff, "", "", "renames a field", false, false, ""},
		"posted":          {config.OverviewPost, "", "It renames a field.", "", true, true, ""},
		"posted, dropped": {config.OverviewPost, "/drop o1: wrong", "", "renames a field", true, true, ""},
		"posted, edited": {config.OverviewPost, "/edit O1: It @renames **one** field.",
			"**What it does:** It `@renames` **one** field.", "model's words", true, true, ""},
		"posted, edited to the same": {config.OverviewPost, "/edit O1: It renames a field.",
			"**What it does, in a model's words:** It renames a field.", "", true, true, ""},
		"posted, graded": {config.OverviewPost, "/severity O1 nit", "", "", true, true,
			"O1 is the overview, which is dropped or edited"},
		"posted, not kept": {config.OverviewPost, "/keep F1", "It renames a field.", "", true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, says(seen))
			a.change.Config.Overview = tc.use
			a.change.Files = append([]diff.File{}, a.change.Files...)
			a.change.Files[0].Patch = strings.Replace(a.change.Files[0].Patch, "// cents", "// DEFECT: cents", 1)
			steps := a.wired()
			a.model.Verify = nil
			steps.Post = func(context.Context, reviewpr.State) (post.Posted, error) {
				return post.Posted{URL: "u"}, nil
			}
			flow, err := reviewpr.New(steps, a.store)
			require.NoError(t, err)
			r, err := flow.Run(t.Context(), a.change.Thread, a.draft())
			require.NoError(t, err)
			require.Equal(t, graph.Paused, r.Status)
			text := summary.Draft(r.State.Review(), summary.Decide{Code: "x"})
			require.Equal(t, tc.shown, strings.Contains(text, "It renames a field."))
			require.Equal(t, tc.id, strings.Contains(text, "(O1, posted with the review)"))
			require.Equal(t, tc.id, strings.Contains(r.State.Shown(), "It renames a field."), "P2: it is asked about")

			d, err := decision.Parse(tc.command)
			require.NoError(t, err)
			d, err = d.Under(decision.Approve)
			require.NoError(t, err)
			record := decision.Record{Thread: a.change.Thread, By: "rita", At: made}
			r, err = flow.Resume(t.Context(), a.change.Thread, graph.Answer{Value: decision.Answer{Decision: d,
				Record: record.With(d)}})
			if tc.refused != "" {
				require.ErrorContains(t, err, tc.refused)
				return
			}
			require.NoError(t, err)
			body, _ := post.Rendered(r.State.Review())
			require.Equal(t, body, r.State.SummaryBody)
			require.Contains(t, body, tc.in)
			if tc.out != "" {
				require.NotContains(t, body, tc.out)
			}
		})
	}
}

// The head moved and the diff did not: nothing is asked again.
func TestAnOverviewIsNotPaidForTwice(t *testing.T) {
	t.Parallel()
	a := simple(t, says(seen))
	a.run(t)
	saved, err := a.store.Load(t.Context(), a.change.Thread)
	require.NoError(t, err)
	moved := *a.change.Pull
	moved.HeadSHA = strings.Repeat("ef", 20)
	a.change.Pull, a.change.Head = &moved, moved.HeadSHA
	a.change.Thread = pull.ThreadID(ref, "", moved.HeadSHA)
	a.paid.Add(saved, a.change.Thread)
	s := a.run(t)
	require.Len(t, a.server.Wholes(), 1)
	require.Equal(t, "It renames a field.", s.Whole.Text)
	require.Zero(t, s.Usage, "another thread has paid")

	moved.Title = "Another title" // which is part of what was asked
	a.change.Thread += "2"
	a.run(t)
	require.Len(t, a.server.Wholes(), 2)
}

// Partial data of the pull request never ends a run.
func TestAnUnreadableListOfOldReviewsIsNamedAndEndsNothing(t *testing.T) {
	t.Parallel()
	a := simple(t, llmtest.Nothing)
	steps := a.wired()
	known := finding.Earlier{Fate: finding.WasDropped, Fingerprint: "0123456789abcdef"}
	steps.Recall = func(context.Context, ingest.Change) ([]finding.Earlier, error) {
		return []finding.Earlier{known}, errors.New("listing the reviews: 502")
	}
	flow, err := reviewpr.New(steps, a.store)
	require.NoError(t, err)
	r, err := flow.Run(t.Context(), a.change.Thread, a.draft())
	require.NoError(t, err)
	require.Equal(t, reviewpr.Clean, r.End)
	require.Equal(t, []string{"What was said of this change before could not be read, so that findings may be " +
		"said again."},
		r.State.Review().Notices)
	require.Len(t, r.State.Earlier, 1, "what could be had counts")
}

// report.tests and report.style leave their categories out, and say so.
func TestCategoriesThatAreNotReportedAreHeldBackAndCallNobody(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]config.Report{"off": {}, "on": {Tests: true, Style: true}} {
		w := newWorld(func(ctx context.Context, f diff.File) (finding.FileReview, error) {
			r, err := finds(finding.Minor)(ctx, f)
			r.Findings[0].Category = map[string]string{"a.go": "tests", "b.go": "Style"}[f.Path]
			return r, err
		}, "a.go", "b.go")
		w.change.Config.Report = report
		r := w.run(t)
		if name == "on" {
			require.Len(t, finding.Kept(r.State.Comments), 2)
			require.Equal(t, reviewpr.Paused, r.State.Outcome())
			continue
		}
		require.Empty(t, finding.Kept(r.State.Comments))
		require.Equal(t, finding.LeftOut, r.State.Comments[0].Filtered)
		require.Equal(t, reviewpr.Kept, r.State.Outcome())
		require.Contains(t, summary.Draft(r.State.Review(), summary.Decide{Code: "x", Kept: true}), "2 not reported")
	}
}
