package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/recall"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/transport"
)

// world is a pull request on a fake GitHub, with a reviewer that knows defects by
// a call in the code.
type world struct {
	*githubtest.Server
	repo     *githubtest.Repo
	pull     *githubtest.Pull
	api      *github.Client
	reworded bool // the reviewer uses other words than before
	body     bool // and places its findings in the body
	drop     []string
	known    [][]finding.Earlier
	resolve  bool
}

// source is GitHub, where what the jobs' own bot posted is believed.
type source struct{ *github.Client }

func (source) Remembers(_ context.Context, r github.Review, _ marker.Review) (bool, error) {
	return r.User == github.ActionsBot, nil
}

// Stands is for post.
func (s source) Stands(ctx context.Context, r github.Review, m marker.Review) (bool, error) {
	return s.Remembers(ctx, r, m)
}

// defects are calls in code and the two ways in which the reviewer says what is
// wrong with them.
var defects = map[string][2]string{
	"tx.Commit(ctx)":      {"The error of `tx.Commit` is dropped", "PostDay silently drops the error of the commit"},
	"rows.Scan(&name)":    {"The scan reads past the last column", "Scan reads a column past the last one"},
	"float64(req.Amount)": {"The amount is read as a float", "Money is read into a float and loses cents"},
	"exec.Command(req.Cmd)": {"A command comes from the request unchecked",
		"The command is taken from the request unchecked"},
}

func newWorld(t *testing.T, base, head githubtest.Tree) *world {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{Files: base})
	w := &world{Server: s, repo: repo, pull: repo.AddPull(githubtest.PullOptions{Author: "eve", HeadFiles: head})}
	w.api = w.connect(t, s.AppToken(repo, map[string]string{"contents": "write", "pull-requests": "write"}))
	return w
}

func (w *world) connect(t *testing.T, token string) *github.Client {
	t.Helper()
	hc := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: w.URL, Token: token, HTTP: hc})
	require.NoError(t, err)
	return c
}

// reviewed is what the reviewer finds in a file.
func (w *world) reviewed(f diff.File) finding.FileReview {
	r := finding.FileReview{Path: f.Path, State: finding.Reviewed}
	hunks, _ := diff.Hunks(f.Patch)
	for _, h := range hunks {
		for _, l := range h.Lines {
			for call, said := range defects {
				title := said[0]
				if w.reworded {
					title = said[1]
				}
				if l.Op == diff.Add && strings.Contains(l.Text, call) {
					found := finding.Finding{Path: f.Path, Side: finding.Right, Line: l.New, Severity: finding.Major,
						Category: "correctness", Confidence: 0.9, Title: title, Body: "Because."}
					if w.body {
						found.Line = 9000 + l.New
						found.Quote = l.Text
					}
					r.Findings = append(r.Findings, found)
				}
			}
		}
	}
	slices.SortFunc(r.Findings, finding.Compare)
	return r
}

// draft is what a run at the present head has.
func (w *world) draft(t *testing.T) (found []finding.Finding, earlier []finding.Earlier, p pull.Pull) {
	t.Helper()
	p, err := w.api.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: w.pull.Number})
	require.NoError(t, err)
	files, _, err := w.api.Files(t.Context(), p)
	require.NoError(t, err)
	earlier, left, err := recall.Recall(t.Context(), source{w.api},
		recall.Change{Pull: p, Files: files, Known: w.known})
	require.NoError(t, err)
	require.Empty(t, left)
	in := aggregate.Input{Files: files, Earlier: earlier, Inline: 100}
	for _, f := range files {
		in.Reviews = append(in.Reviews, w.reviewed(f))
	}
	found, earlier = aggregate.Findings(in)
	return found, earlier, p
}

// push is a run and its decision: what it posts newly, by title, and what it says
// to be resolved.
func (w *world) push(t *testing.T) (posted, resolved []string) {
	t.Helper()
	found, earlier, p := w.draft(t)
	var d decision.Decision
	for _, f := range finding.Kept(found) {
		if slices.ContainsFunc(w.drop, func(word string) bool { return strings.Contains(f.Title, word) }) {
			d.Drop = append(d.Drop, decision.Drop{ID: f.ID})
			continue
		}
		posted = append(posted, f.Title)
	}
	found = finding.Apply(d, found)
	for _, e := range earlier {
		if e.Fate == finding.WasPosted && e.Now == finding.Resolved && !e.Announced {
			resolved = append(resolved, e.Title)
		}
	}
	if len(posted)+len(resolved)+len(d.Drop) == 0 {
		return nil, nil
	}
	w.post(t, p, found, earlier)
	return posted, resolved
}

func (w *world) post(t *testing.T, p pull.Pull, found []finding.Finding, earlier []finding.Earlier) {
	t.Helper()
	q := post.Request{
		Ref: p.Ref, Base: p, Commit: p.HeadSHA, Thread: pull.ThreadID(p.Ref, "", p.HeadSHA),
		Digest:   (p.HeadSHA + p.HeadSHA)[:64],
		Decision: decision.Record{By: "rita"},
		Review: render.Review{Name: fmt.Sprintf("#%d", p.Number), Head: p.HeadSHA, Findings: finding.Kept(found),
			Filtered: held(found), Earlier: earlier},
	}
	writer := write.New(w.api)
	if w.resolve {
		q.Threads = &post.Threads{List: w.api.Threads, Resolve: writer.ResolveThread}
	}
	done, err := post.Review(t.Context(), source{w.api}, writer, q)
	require.NoError(t, err)
	require.NoError(t, done.Unresolved)
}

func held(all []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool { return f.Filtered == "" })
}

// file is a Go file with a call on its own line, between so many lines.
func file(above int, calls ...string) string {
	text := "package p\n\n"
	for i := range above {
		text += fmt.Sprintf("var a%d = %d\n", i, i)
	}
	for i, c := range calls {
		text += fmt.Sprintf("func f%d() {\n\t%s\n}\n\n", i, c)
	}
	return text
}

const (
	commit = "tx.Commit(ctx)"
	scan   = "rows.Scan(&name)"
	float  = "float64(req.Amount)"
	run    = "exec.Command(req.Cmd)"
)

var base = githubtest.Tree{"README.md": "# r\n", "old.go": file(40)}

func TestTheSixPushes(t *testing.T) {
	two := base.With(githubtest.Tree{"new.go": file(3, commit, scan), "old.go": file(40, float)})
	first := []string{defects[commit][0], defects[float][0], defects[scan][0]}
	for name, c := range map[string]struct {
		push     func(w *world)
		posted   []string // by the second run
		resolved []string
	}{
		"unchanged": {func(w *world) {
			w.pull.Push(w.pull.Tree().With(githubtest.Tree{"other.txt": "x\n"}))
		}, nil, nil},
		"moved": {func(w *world) {
			w.pull.Push(two.With(githubtest.Tree{"new.go": file(60, scan, commit), "old.go": file(45, float)}))
		}, nil, nil},
		"edited near": {func(w *world) {
			near := strings.ReplaceAll(file(3, commit, scan), "() {\n", "(ctx context.Context) {\n")
			w.pull.Push(two.With(githubtest.Tree{"new.go": near,
				"old.go": strings.Replace(file(40, float), "func f0", "func total", 1)}))
		}, nil, nil},
		"renamed": {func(w *world) {
			w.pull.Push(two.With(githubtest.Tree{"kept.go": two["old.go"], "made.go": two["new.go"]}).Without("old.go",
				"new.go"))
		}, nil, nil},
		"renamed, known to GitHub": {func(w *world) {
			w.pull.Push(two.With(githubtest.Tree{"kept.go": two["old.go"]}).Without("old.go"))
		}, nil, nil},
		"fixed": {func(w *world) {
			w.pull.Push(two.With(githubtest.Tree{"new.go": file(3, "err = tx.Commit(c)", scan), "old.go": file(40)}))
		}, nil, []string{defects[commit][0], defects[float][0]}},
		"force-pushed base": {func(w *world) {
			w.repo.Commit("main", "moved on", base.With(githubtest.Tree{"old.go": "// Package p.\n" + file(40)}))
			w.pull.MergeBase()
			w.pull.ForcePush(two.With(githubtest.Tree{"old.go": "// Package p.\n" + file(40, float)}))
		}, nil, nil},
		"another one beside": {func(w *world) {
			w.pull.Push(two.With(githubtest.Tree{"new.go": file(3, commit, scan, run, commit)}))
		}, []string{defects[commit][0], defects[run][0]}, nil},
	} {
		for variant, reworded := range map[string]bool{"in the same words": false, "in other words": true} {
			if reworded && (name == "renamed" || len(c.posted) > 0) {
				continue // of a file that the change itself made and renamed, and of another place, the words count
			}
			t.Run(name+", "+variant, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, base, two)
				posted, resolved := w.push(t)
				require.ElementsMatch(t, first, posted)
				require.Empty(t, resolved)
				c.push(w)
				w.reworded = reworded
				posted, resolved = w.push(t)
				require.ElementsMatch(t, c.posted, posted)
				require.ElementsMatch(t, c.resolved, resolved)
				w.pull.Push(w.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"}))
				posted, resolved = w.push(t)
				require.Empty(t, posted, "nothing is said a third time")
				require.Empty(t, resolved, "nor resolved twice")
			})
		}
	}
}
