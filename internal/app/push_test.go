package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// Lines with a defect, and what the story's reviewer says of each.
const (
	badCommit = "tx.Commit(ctx) // DEFECT: major: The error of the commit is dropped"
	badScan   = "rows.Scan(name) // DEFECT: minor: The scan reads past the last column"
	badFloat  = "x := float(req.Amount) // DEFECT: major: The amount is read as a float"
	badRange  = "send(rows[0:n]) // DEFECT: blocker: The range is longer than the list"
	badName   = "var nm string // DEFECT: nit: The name says too little of it"

	neverEmptied = "The cart is never emptied" // in the body, at a line that does not exist
)

func titleOf(line string) string { return line[strings.LastIndex(line, ": ")+2:] }

// goFile is a Go file with functions of one line each, below so many others.
func goFile(above int, calls ...string) string {
	text := "package p\n\n"
	for i := range above {
		text += fmt.Sprintf("var a%d = %d\n", i, i)
	}
	for i, c := range calls {
		text += fmt.Sprintf("func f%d() {\n\t%s\n}\n\n", i, c)
	}
	return text
}

// growing is the change of these stories: one file that it makes, one that it
// changes, and one with a finding that has no line.
func growing() (base, head githubtest.Tree) {
	base = githubtest.Tree{"README.md": "# r\n", "old.go": goFile(40),
		"web/cart.ts": lines("export {}", 20, "// line %d")}
	return base, base.With(githubtest.Tree{
		"new.go": goFile(3, badCommit, badScan), "old.go": goFile(40, badFloat),
		"web/cart.ts": base["web/cart.ts"] + "save(cart)\n",
	})
}

// across is a stage on which runs follow each other; T32 holds for all of them.
func across(t *testing.T, sc scene) *stage {
	t.Helper()
	if sc.base == nil {
		sc.base, sc.head = growing()
	}
	if sc.script == nil {
		sc.script = llmtest.Certain(critic)
	}
	s := setUp(t, sc)
	t.Cleanup(func() { require.Empty(t, overreach(s.hub.Requests())) })
	return s
}

// pushed is a commit on the pull request, and the run that it starts.
func (s *stage) pushed(tree githubtest.Tree) {
	s.pull.Push(tree)
	s.anew(githubtest.RunOptions{Actor: "lee"})
	later(s)
}

// approve drafts what waits and has maya approve it, with a comment.
func (s *stage) approve(comment string) (drafted, posted ended) {
	s.t.Helper()
	drafted = s.parked()
	s.approved(comment)
	return drafted, s.postJob(drafted.digest()).start().is(0, "POSTED")
}

var resolvedList = regexp.MustCompile(`\*\*Resolved since: [^*]+\*\*\n\n(?:- [^\n]*\n)+`)

// times is how many reviews say a title, beside those that say it is resolved,
// and how many comments.
func (s *stage) times(title string) (reviews, comments int) {
	for _, r := range s.pull.Reviews() {
		said := strings.Contains(resolvedList.ReplaceAllString(r.Body, ""), title)
		for _, c := range r.Comments {
			if strings.Contains(c.Body, title) {
				said, comments = true, comments+1
			}
		}
		if said {
			reviews++
		}
	}
	return reviews, comments
}

// announced is how many reviews list a title as resolved.
func (s *stage) announced(title string) (n int) {
	for _, r := range s.pull.Reviews() {
		n += strings.Count(strings.Join(resolvedList.FindAllString(r.Body, -1), ""), title)
	}
	return n
}

// present are the titles of what is wrong at the head.
func (s *stage) present() (titles []string) {
	for _, line := range []string{badCommit, badScan, badFloat, badRange, badName} {
		for _, text := range s.pull.Tree() {
			if strings.Contains(text, line) {
				titles = append(titles, titleOf(line))
			}
		}
	}
	return append(titles, neverEmptied)
}

// once is the rule of pushes: everything that is wrong at the head is on the
// pull request in one review, in one comment at most.
func (s *stage) once() {
	s.t.Helper()
	for _, title := range s.present() {
		reviews, comments := s.times(title)
		require.Equal(s.t, 1, reviews, title)
		require.LessOrEqual(s.t, comments, 1, title)
	}
}

// told returns the titles of what a draft would newly post, and the findings that it
// keeps out, each with a reason.
func (s *stage) told(drafted ended) (kept []string, held map[string]finding.Finding) {
	s.t.Helper()
	held = map[string]finding.Finding{}
	for _, f := range s.stateOf(drafted).Comments {
		if f.Filtered == "" {
			kept = append(kept, f.Title)
			continue
		}
		require.NotEmpty(s.t, f.Note, "%s is filtered without a reason", f.Title)
		held[f.Title] = f
	}
	return kept, held
}

// complete is the rule of drafts: what is wrong at the head is newly said, or kept
// out and listed with a reason. A clean run has its summary alone.
func (s *stage) complete(drafted ended, news ...string) {
	s.t.Helper()
	require.Equal(s.t, fmt.Sprint(len(news)), drafted.outputs["findings"])
	if drafted.outputs["outcome"] != "CLEAN" {
		kept, held := s.told(drafted)
		require.ElementsMatch(s.t, news, kept)
		for _, title := range s.present() {
			require.True(s.t, slices.Contains(kept, title) || held[title].Filtered != "", "%s is lost", title)
		}
	}
	_, out, _ := strings.Cut(drafted.summary, "Filtered: ")
	for _, title := range s.present() {
		require.NotEqual(s.t, slices.Contains(news, title), strings.Contains(out, title), "%s\n%s", title,
			drafted.summary)
	}
}

// push is what a commit does to a pull request with a review, and what comes of it.
type push struct {
	do       func(s *stage, tree githubtest.Tree)
	outcome  string
	news     []string // lines that are newly said
	resolved []string // lines that are said to be resolved
}

func pushes() map[string]push {
	near := strings.NewReplacer("() {\n", "(ctx context.Context) {\n")
	return map[string]push{
		"unchanged": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"other.txt": "x\n"}))
		}, "CLEAN", nil, nil},
		"moved": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": goFile(60, badScan, badCommit),
				"old.go": goFile(45, badFloat)}))
		}, "CLEAN", nil, nil},
		"edited near": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": near.Replace(tree["new.go"]),
				"old.go": near.Replace(tree["old.go"])}))
		}, "CLEAN", nil, nil},
		"renamed": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"kept.go": tree["old.go"],
				"made.go": tree["new.go"]}).Without("old.go", "new.go"))
		}, "CLEAN", nil, nil},
		"fixed": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": goFile(3, "err = tx.Commit(ctx)", badScan),
				"old.go": goFile(40, "x := req.Amount")}))
		}, "PAUSED", nil, []string{badCommit, badFloat}},
		"force-pushed base": {func(s *stage, tree githubtest.Tree) {
			base, _ := growing()
			s.repo.Commit("main", "moved on", base.With(githubtest.Tree{"old.go": "// Package p.\n" + goFile(40)}))
			s.pull.MergeBase()
			s.pull.ForcePush(tree.With(githubtest.Tree{"old.go": "// Package p.\n" + goFile(40, badFloat)}))
		}, "CLEAN", nil, nil},
		"another one beside": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": goFile(3, badCommit, badRange, badScan)}))
		}, "PAUSED", []string{badRange}, nil},
		"one fixed, one new": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": goFile(3, "err = tx.Commit(ctx)", badRange, badScan)}))
		}, "PAUSED", []string{badRange}, []string{badCommit}},
		"a nit beside": {func(s *stage, tree githubtest.Tree) {
			s.pull.Push(tree.With(githubtest.Tree{"new.go": goFile(3, badCommit, badScan, badName)}))
		}, "KEPT", []string{badName}, nil},
	}
}

func TestP2_PushesSayNothingTwiceAndLoseNothing(t *testing.T) {
	t.Parallel()
	for name, p := range pushes() {
		for _, trust := range []string{"", checkpoint.TrustSeal} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				s := across(t, scene{trust: trust})
				first, _ := s.approve("")
				s.complete(first, s.present()...)
				s.once()

				p.do(s, s.pull.Tree())
				s.anew(githubtest.RunOptions{Actor: "lee"})
				second := s.draftJob().start().is(0, p.outcome)
				s.complete(second, titles(p.news)...)
				require.Len(t, s.pull.Reviews(), 1, "a draft posts nothing")
				if _, stand, ok := strings.Cut(second.summary, "Posted before, and standing"); ok {
					stand, _, _ = strings.Cut(stand, "<details>")
					require.NotContains(t, stand, "outdated", "where it is now")
					require.Equal(t, name != "renamed", strings.Contains(stand, "`new.go:"), stand)
					require.Equal(t, name == "renamed", strings.Contains(stand, "`made.go:"), stand)
				}
				s.settle(p, second)

				s.pushed(s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"}))
				third := s.draftJob().start().is(0, "CLEAN")
				s.complete(third)
				require.NotContains(t, third.summary, "Resolved since", "resolved once")
			})
		}
	}
}

// settle approves what waits of a push. What it resolved is said once.
func (s *stage) settle(p push, drafted ended) {
	s.t.Helper()
	if p.outcome == "CLEAN" {
		s.once()
		return
	}
	s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
	s.once()
	for _, line := range p.resolved {
		drafted.shows("Resolved since", titleOf(line))
		require.Equal(s.t, 1, s.announced(titleOf(line)), line)
		reviews, _ := s.times(titleOf(line))
		require.Equal(s.t, 1, reviews)
	}
	require.Equal(s.t, len(p.resolved) > 0, strings.Contains(drafted.summary, "Resolved since"))
}

func titles(defects []string) (all []string) {
	for _, line := range defects {
		all = append(all, titleOf(line))
	}
	return all
}

func TestTheLookAtTheWholeChangeIsToldOfEarlierReviewsByTitlesAlone(t *testing.T) {
	s := across(t, scene{})
	s.approve("/drop F2: known")
	s.pull.Comment("maya", "Please mend it soon.")
	asked := len(s.model.Wholes())
	s.pushed(s.pull.Tree().With(githubtest.Tree{"more.go": goFile(3, badRange)}))
	s.draftJob().start().is(0, "PAUSED")
	require.Greater(t, len(s.model.Wholes()), asked)
	shown := llmtest.Data(s.model.Wholes()[asked].User)
	require.Contains(t, shown["reported"], titleOf(badCommit))
	require.Contains(t, shown["comments"], "Please mend it soon.")
	require.NotContains(t, shown["reviews"], "pr-review")
	require.NotContains(t, shown["reviews"], titleOf(badCommit), "nobody says it")
}
