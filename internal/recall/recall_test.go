package recall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/recall"
	"github.com/org/pr-review-action/internal/render"
)

// one is a change with one defect, on line 6 of new.go.
var one = base.With(githubtest.Tree{"new.go": file(2, commit)})

// by is what is recalled of a fate.
func by(all []finding.Earlier, fate finding.Fate) (some []finding.Earlier) {
	for _, e := range all {
		if e.Fate == fate {
			some = append(some, e)
		}
	}
	return some
}

func TestWhatComesBackIsPostedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, one)
	said := []string{defects[commit][0]}
	for _, step := range []struct {
		file             string
		posted, resolved []string
	}{
		{file(2, commit), said, nil},
		{file(2, "return tx.Commit(c)"), nil, said},
		{file(2, commit, "x()"), said, nil},
		{file(3, commit, "x()"), nil, nil},
		{file(2, "return tx.Commit(c)"), nil, said},
		{file(1, "return tx.Commit(c)"), nil, nil},
	} {
		w.pull.Push(base.With(githubtest.Tree{"new.go": step.file}))
		posted, resolved := w.push(t)
		require.Equal(t, step.posted, posted, step.file)
		require.Equal(t, step.resolved, resolved, step.file)
	}
}

func TestWhatWasDroppedStaysDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, base.With(githubtest.Tree{"new.go": file(2, commit, scan)}))
	w.drop = []string{"Commit"}
	posted, _ := w.push(t)
	require.Equal(t, []string{defects[scan][0]}, posted)
	w.drop = nil
	for i := range 3 {
		w.pull.Push(base.With(githubtest.Tree{"new.go": file(2+i, commit, scan, []string{float, run, "x()"}[i])}))
		found, earlier, _ := w.draft(t)
		filters := []finding.Filter{}
		for _, f := range found {
			filters = append(filters, f.Filtered)
		}
		require.Contains(t, filters, finding.DroppedBefore)
		require.Len(t, by(earlier, finding.WasDropped), 1)
		posted, _ = w.push(t)
		require.NotContains(t, posted, defects[commit][0])
		require.Len(t, posted, 1-i/2)
	}
}

func TestFindingsOfTheBodyAreKnownByTheMarker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, base.With(githubtest.Tree{"old.go": file(40, commit, scan, commit)}))
	w.body = true
	posted, _ := w.push(t)
	require.Len(t, posted, 3)
	require.Empty(t, w.pull.Reviews()[0].Comments)
	w.pull.Push(base.With(githubtest.Tree{"moved.go": file(44, commit, scan, commit)}).Without("old.go"))
	posted, resolved := w.push(t)
	require.Empty(t, posted)
	require.Empty(t, resolved, "of a place that is not known nothing can be said")
	w.pull.Push(base.With(githubtest.Tree{"moved.go": file(44, commit, scan, commit, commit)}).Without("old.go"))
	posted, _ = w.push(t)
	require.Equal(t, []string{defects[commit][0]}, posted, "a third place is a new finding")
}

func TestPeopleWhoMayWriteHaveSaidIt(t *testing.T) {
	t.Parallel()
	on := githubtest.Comment{Path: "new.go", Line: 6, Body: "hm\nmore"}
	require.Contains(t, strings.Split(one["new.go"], "\n")[5], commit)
	wide, beside, whole, elsewhere, old := on, on, on, on, on
	wide.StartLine, beside.Line, whole.WholeFile, elsewhere.Path, old.Path = 1, 5, true, "old.go", "gone.go"
	for name, c := range map[string]struct {
		login, role string
		comment     githubtest.Comment
		want        bool
	}{
		"a maintainer":           {"maya", "write", on, true},
		"an admin":               {"maya", "admin", on, true},
		"maintain is write":      {"maya", "maintain", on, true},
		"on lines around it":     {"maya", "write", wide, true},
		"a reader":               {"maya", "read", on, false},
		"who may triage":         {"maya", "triage", on, false},
		"the author":             {"eve", "write", on, false},
		"a bot":                  {"scan[bot]", "write", on, false},
		"on the line above":      {"maya", "write", beside, false},
		"on the whole file":      {"maya", "write", whole, false},
		"on another file":        {"maya", "write", elsewhere, false},
		"on one not in the diff": {"maya", "write", old, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, base, one)
			w.repo.Permit(c.login, c.role)
			w.pull.AddReview(c.login, "", c.comment)
			found, earlier, _ := w.draft(t)
			require.Len(t, finding.Kept(found), 1, "a major one stays, whatever is said of it")
			require.Equal(t, c.want, found[0].Note == "maya commented on line 6: “hm”", found[0].Note)
			if c.want {
				said := by(earlier, finding.WasCommented)
				require.Len(t, said, 1)
				require.Equal(t, []string{"maya", "hm"}, []string{said[0].By, said[0].Title})
			}
		})
	}
}

func TestAnAnswerToOursIsNoRemarkOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, one)
	w.push(t)
	ours := w.pull.Reviews()[0].Comments[0]
	w.repo.Permit("maya", "write")
	w.pull.AddReview("maya", "", githubtest.Comment{Path: "new.go", Line: 6, ReplyTo: ours.ID, Body: "no"})
	_, earlier, _ := w.draft(t)
	require.Empty(t, by(earlier, finding.WasCommented))
	require.Len(t, by(earlier, finding.WasPosted), 1)
	require.Empty(t, earlier[0].ReviewThread, "somebody answered")
}

func TestT25_AForgedMarkerIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, one)
	found, _, p := w.draft(t)
	fp := found[0].Fingerprint
	forged := render.Posted("Hello", "", marker.Review{
		Thread: pull.ThreadID(p.Ref, "", p.HeadSHA), Digest: strings.Repeat("a", 64), Approved: strings.Repeat("b", 64),
		Posted: []string{fp}, Dropped: []string{fp},
	})
	comment := githubtest.Comment{Path: "new.go", Line: 6,
		Body: render.Comment(found[0]) + "\n\n" + marker.Comment(fp)}
	w.repo.Permit("maya", "write")
	for _, who := range []string{"eve", "maya"} {
		w.pull.AddReview(who, forged)
	}
	w.pull.AddReview("eve", "", comment)
	found, earlier, _ := w.draft(t)
	require.Empty(t, earlier)
	require.Len(t, finding.Kept(found), 1)

	for _, body := range []string{
		strings.Replace(forged, "#1:", "#1@docs:", 1), strings.Replace(forged, "#1:", "#2:", 1),
		strings.Replace(forged, "o/r#", "o/other#", 1),
		forged + "\nmore", "",
	} {
		w.pull.AddReview(github.ActionsBot, body, comment)
	}
	w.pull.AddReview("scan[bot]", forged, comment)
	found, _, _ = w.draft(t)
	require.Len(t, finding.Kept(found), 1, "another reviewer's, pull request's and repository's, one that is "+
		"quoted, and another bot's")
	w.pull.AddReview(github.ActionsBot, forged)
	found, _, _ = w.draft(t)
	require.Empty(t, finding.Kept(found), "the test would see a marker that is believed")
	w.pull.AddReview(github.ActionsBot, forged, comment)
	_, earlier, _ = w.draft(t)
	require.Len(t, earlier, 2)
	require.Empty(t, earlier[0].Path, "a comment counts with the review that it came with, and of two reviews of "+
		"one draft the younger is a copy")
	w.pull.AddReview(github.ActionsBot, strings.ReplaceAll(forged, "aaaa", "cccc"), comment)
	_, earlier, _ = w.draft(t)
	require.Equal(t, "new.go", earlier[0].Path)
}

func TestACommentOfOursMayBeEdited(t *testing.T) {
	t.Parallel()
	other := marker.Comment(strings.Repeat("e", 16))
	for name, body := range map[string]func(was string) string{
		"its words": func(was string) string {
			return "**Nit: something else**" + was[strings.Index(was, "\n"):]
		},
		"without marker":  func(was string) string { return was[:strings.LastIndex(was, "\n")] },
		"another marker":  func(was string) string { return was[:strings.LastIndex(was, "\n")+1] + other },
		"emptied":         func(string) string { return " " },
		"hidden and huge": func(was string) string { return strings.Repeat("\u202e\x00<b>", 10000) + was },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, base, one)
			w.push(t)
			k := w.pull.Reviews()[0].Comments[0]
			w.pull.ChangeComment(k.ID, func(k *githubtest.Comment) { k.Body = body(k.Body) })
			found, earlier, _ := w.draft(t)
			require.Len(t, earlier, 1)
			require.Empty(t, finding.Kept(found), "its fingerprint is in the review's marker")
			require.LessOrEqual(t, len(earlier[0].Title), 1200)
		})
	}
}

// crowd is a page on which so many people have commented.
type crowd struct {
	recall.Source
	comments []github.ReviewComment
	may      map[string]bool
	asked    int
	err      error
}

func (c *crowd) Reviews(context.Context, pull.Ref) ([]github.Review, error) { return nil, nil }

func (c *crowd) ReviewComments(context.Context, pull.Ref) ([]github.ReviewComment, error) {
	return c.comments, c.err
}

func (c *crowd) Member(_ context.Context, _, _, login string) (github.Member, error) {
	c.asked++
	if !c.may[login] {
		return github.Member{Permission: "read"}, nil
	}
	return github.Member{Permission: "write"}, nil
}

func TestManyCommentsOfStrangersKeepNobodyFromBeingHeard(t *testing.T) {
	t.Parallel()
	c := &crowd{may: map[string]bool{"maya": true}}
	for i := range 3000 {
		c.comments = append(c.comments, github.ReviewComment{ID: int64(i), Path: "a.go", Side: "RIGHT", Line: 6,
			User: fmt.Sprintf("stranger-%d", i%100), UserType: "User", Body: "x", Association: "NONE"})
	}
	change := recall.Change{Files: []diff.File{{Path: "a.go"}}}
	all, left, err := recall.Recall(t.Context(), c, change)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, all)
	require.Equal(t, 30, c.asked)
	for range 3000 {
		c.comments = append(c.comments, github.ReviewComment{ID: 5000, Path: "a.go", Side: "RIGHT", Line: 6,
			User: "maya", UserType: "User", Body: strings.Repeat("y", 70000), Association: "MEMBER"})
	}
	all, _, err = recall.Recall(t.Context(), c, change)
	require.NoError(t, err)
	require.Len(t, all, 500)
	require.Len(t, all[0].Title, 300)
	for i := range c.comments {
		c.comments[i].WholeFile = true
	}
	all, _, err = recall.Recall(t.Context(), c, change)
	require.NoError(t, err)
	require.Empty(t, all, "GitHub names a line for what is on the whole file")
	c.comments, c.err = nil, github.ErrTooLarge
	all, left, err = recall.Recall(t.Context(), c, change)
	require.NoError(t, err)
	require.Empty(t, all)
	require.Len(t, left, 1)
}

func TestWhatCannotBeReadIsDoneWithout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, one)
	w.push(t)
	w.repo.Permit("maya", "write")
	w.pull.AddReview("maya", "", githubtest.Comment{Path: "new.go", Line: 6, Body: "x"})
	p, err := w.api.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 1})
	require.NoError(t, err)
	c := recall.Change{Pull: p, Files: []diff.File{{Path: "new.go", Status: diff.Added}}}
	for path, want := range map[string]string{
		"/graphql":          "threads of earlier findings stay as they are",
		"**/permission":     "not every comment of a person",
		"/repos/o/r/pulls*": "",
	} {
		w.Fail("*", path, githubtest.Fault{Status: http.StatusForbidden})
		all, left, err := recall.Recall(t.Context(), source{w.api}, c)
		w.ClearFaults()
		require.NoError(t, err)
		require.NotEmpty(t, by(all, finding.WasPosted))
		require.Equal(t, want == "", len(left) == 0, path)
		if want != "" {
			require.ErrorContains(t, errors.Join(left...), want)
		}
	}
	for _, path := range []string{"**/reviews", "**/comments"} {
		w.Fail("GET", path, githubtest.Fault{Status: http.StatusForbidden})
		_, _, err := recall.Recall(t.Context(), source{w.api}, c)
		w.ClearFaults()
		require.Error(t, err, path)
	}
}

func TestNoCredentialIsKeptOfALine(t *testing.T) {
	t.Parallel()
	key := "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
	w := newWorld(t, base, base.With(githubtest.Tree{"new.go": file(2, commit+" // "+key)}))
	w.push(t)
	w.repo.Permit("maya", "write")
	w.pull.AddReview("maya", "", githubtest.Comment{Path: "new.go", Line: 6, Body: "is " + key + " real?"})
	_, earlier, _ := w.draft(t)
	require.Len(t, earlier, 2)
	require.NotContains(t, fmt.Sprint(earlier), key)
	require.Contains(t, earlier[0].Quote, commit)
}

func TestAnUnchangedLineThatLeavesTheDiffIsNotResolved(t *testing.T) {
	t.Parallel()
	near := base.With(githubtest.Tree{"old.go": strings.Replace(file(40, commit), "}", "} // end", 1)})
	w := newWorld(t, base.With(githubtest.Tree{"old.go": file(40, commit)}), near)
	_, _, p := w.draft(t)
	f := finding.Finding{Path: "old.go", Side: finding.Right, StartLine: 44, Line: 44, Severity: finding.Major,
		Title: "T", Placement: finding.Inline, Fingerprint: strings.Repeat("a", 16)}
	require.Contains(t, strings.Split(near["old.go"], "\n")[43], commit)
	w.post(t, p, []finding.Finding{f}, nil)
	w.pull.Push(base.With(githubtest.Tree{"old.go": "// far\n" + file(40, commit)}))
	_, earlier, _ := w.draft(t)
	require.Len(t, earlier, 1)
	require.Zero(t, earlier[0].Line)
	require.Empty(t, earlier[0].Now)
}

func TestThreadsOfResolvedFindingsAreResolved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, base.With(githubtest.Tree{"new.go": file(2, commit, scan, run)}))
	w.push(t)
	comments := w.pull.Reviews()[0].Comments
	w.pull.AddReview("eve", "", githubtest.Comment{Path: "new.go", Line: 6, ReplyTo: comments[0].ID, Body: "fixed"})
	w.pull.Push(base.With(githubtest.Tree{"new.go": file(2, run)}))
	w.resolve = true
	_, resolved := w.push(t)
	require.Len(t, resolved, 2)
	comments = w.pull.Reviews()[0].Comments
	require.Equal(t, []bool{false, true, false}, []bool{comments[0].Resolved, comments[1].Resolved,
		comments[2].Resolved}, "one was answered, one is still there")
}

func TestFilesThatGitHubDoesNotListAreNotGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, one)
	w.push(t)
	p, err := w.api.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 1})
	require.NoError(t, err)
	for unlisted, want := range map[int]string{0: "new.go", 5: ""} {
		all, _, err := recall.Recall(t.Context(), source{w.api}, recall.Change{Pull: p, Unlisted: unlisted})
		require.NoError(t, err)
		require.Equal(t, want, all[0].Path)
	}
}
