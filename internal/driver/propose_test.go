package driver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/embedtest"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/problem"
)

func TestP2_AParkedTicketsDraftIsTheOneThatItsGateAsksAbout(t *testing.T) {
	t.Parallel()
	p := newProposal(t, "go", "TASK-101", nil)
	require.Equal(t, ticketpr.Paused, p.draft().Outcome)
	flow, err := ticketpr.New(ticketpr.Steps{}, p.store)
	require.NoError(t, err)
	view, err := flow.Inspect(t.Context(), p.thread())
	require.NoError(t, err)
	require.NoError(t, ticketpr.Intact(view))
	view.State.Changes[0].Content += " "
	require.Equal(t, 3, problem.Check(ticketpr.Intact(view)))
}

// unread is a store that cannot be read any more once something was appended to it.
type unread struct {
	graph.Store
	appended bool
}

func (s *unread) Append(ctx context.Context, thread string, record ...[]byte) error {
	s.appended = true
	return s.Store.Append(ctx, thread, record...)
}

func (s *unread) Load(ctx context.Context, thread string) (graph.Saved, error) {
	if s.appended {
		return graph.Saved{}, fs.ErrPermission
	}
	return s.Store.Load(ctx, thread)
}

func TestNoMoneyComesBackFromAThreadThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	p := newProposal(t, "go", "TASK-101", nil)
	r := p.draft()
	require.Positive(t, r.State.Usage.Calls)
	d := p.driver()
	d.Store = &unread{Store: p.store}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: "maya", At: time.Unix(1, 0),
		Via: decision.ByCommandLine}.With(decision.Decision{Verdict: decision.Abort})
	_, err := d.Advance(t.Context(), ticketpr.Steps{}, ticketpr.State{}, driver.AnswerTo(r.Packed.Manifest,
		decision.Answer{Decision: decision.Decision{Verdict: decision.Abort}, Record: record}))
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Zero(t, d.Spent)
}

// TestSixTicketsBecomeTheApprovedTrees drafts every sample ticket, holds that nothing is
// written before the approval, and that the branch then has the approved bytes and no others;
// the projects' own tests pass on it.
func TestSixTicketsBecomeTheApprovedTrees(t *testing.T) {
	t.Parallel()
	for key, c := range map[string]struct{ sample, branch, program, test string }{
		"TASK-101": {"go", "fix/TASK-101-tasks-without-a-due-date-are-listed-as", "go", goesTests},
		"TASK-102": {"go", "feat/TASK-102-give-tasks-a-priority", "go", goesTests},
		"TASK-201": {"ts", "fix/TASK-201-the-list-of-a-tag-shows-tasks-without-it", "node", nodesTests},
		"TASK-202": {"ts", "feat/TASK-202-count-the-open-tasks", "node", nodesTests},
		"TASK-301": {"java", "fix/TASK-301-tasks-of-a-person-are-not-found", "javac", javaCompiles},
		"TASK-302": {"java", "feat/TASK-302-tasks-have-a-due-date", "javac", javaCompiles},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := newProposal(t, c.sample, key, nil)
			r := p.draft()
			require.Equal(t, ticketpr.Paused, r.Outcome, r.Message)
			require.Equal(t, "human_review_gate", r.Node)
			require.Contains(t, r.State.Shown(), "## Proposed changes for "+key+": "+p.ticket.Summary+"\n")
			require.Contains(t, r.State.Shown(), "### What was asked\n\n`"+key+"` "+p.ticket.Summary+"\n")
			require.Len(t, r.State.Seen.Criteria, len(p.ticket.Criteria))
			p.untouched()
			want := p.texts("HEAD")
			for _, f := range r.State.Proposed() {
				want[f.Path] = f.Content
			}
			require.NotEqual(t, want, p.texts("HEAD"))

			after, err := p.decide("/approve")
			require.NoError(t, err)
			require.Equal(t, []string{ticketpr.Posted, c.branch}, []string{after.Outcome, after.Branch})
			require.Equal(t, want, p.texts(after.State.Applied.Commit))
			require.Equal(t, p.base.Commit, p.git("rev-parse", after.State.Applied.Commit+"^"))
			require.Empty(t, p.git("status", "--porcelain"))

			out := t.TempDir()
			require.NoError(t, os.CopyFS(out, onlyFiles{os.DirFS(p.dir)}))
			require.NoError(t, os.WriteFile(filepath.Join(out, "p.patch"), []byte(patch(r)), 0o600))
			command := "git apply p.patch"
			if _, err := exec.LookPath(c.program); err == nil { // it is not everywhere
				command += " && " + c.test
			}
			apply := exec.Command("sh", "-c", command)
			apply.Dir = out
			apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(out), "GOFLAGS=-mod=mod",
				"GOWORK=off")
			said, err := apply.CombinedOutput()
			require.NoError(t, err, "%s", said)
		})
	}
}

// The samples' own tests. NODE_MODULES, a folder with Vitest and TypeScript, is set by .ci/run.
const (
	goesTests  = "go test -vet=off ./..."
	nodesTests = `(cd packages/core && node --test) && if [ -n "$NODE_MODULES" ]; then
		ln -s "$NODE_MODULES" node_modules &&
		node node_modules/vitest/vitest.mjs run packages/web && node node_modules/typescript/bin/tsc; fi`
	javaCompiles = "find . -path '*/main/*' -name '*.java' > sources && " +
		"javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -d classes @sources"
)

// onlyFiles is a folder without Git's own.
type onlyFiles struct{ fs.FS }

func (o onlyFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(o.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool { return e.Name() == ".git" }), err
}

// TestPiecesAreFoundByTheSettingsEndpoints holds that the search asks with summary and
// description, that the gate lists what it found in the reranker's order, and that an
// endpoint which does not answer is told there; a question is paid once.
func TestPiecesAreFoundByTheSettingsEndpoints(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*embedtest.Fault{"answering": nil, "lost": embedtest.Unauthorized} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := embedtest.Start(t, func(s *embedtest.Server) { s.Fault = fault })
			p := newProposal(t, "go", "TASK-101", nil)
			p.base.Config.Embeddings = config.Embeddings{Dimensions: 64,
				Endpoint: config.Endpoint{BaseURL: server.URL + "/v1", Model: "words-1"}}
			p.base.Config.Rerank = config.Endpoint{BaseURL: server.URL + "/v2", Model: "order-1"}
			r := p.draft()
			require.Equal(t, ticketpr.Paused, r.Outcome, r.Message)
			shown := r.State.Shown()
			if fault != nil {
				require.Contains(t, shown, "The embeddings endpoint is off for this run")
				require.NotEmpty(t, r.State.Chunks, "words found some")
				return
			}
			var asked []string
			for _, c := range server.Calls() {
				if c.Query != "" {
					asked = append(asked, c.Query)
				}
			}
			require.NotEmpty(t, asked)
			require.Contains(t, asked[0], p.ticket.Summary)
			require.Contains(t, asked[0], "shows up in the list of overdue tasks at once")
			require.LessOrEqual(t, len(r.State.Chunks), 4, "one module was chosen")
			for i, c := range r.State.Chunks {
				require.Contains(t, shown, fmt.Sprintf("`%s` lines %d–%d, score %.2f", c.Path, c.StartLine, c.EndLine,
					c.Score))
				require.True(t, i == 0 || r.State.Chunks[i-1].Score >= c.Score)
			}
			require.Positive(t, r.State.Usage.EmbeddingTokens)
			require.Positive(t, r.State.Usage.RerankUnits)
			calls := len(server.Calls())
			p.draft()
			require.Len(t, server.Calls(), calls)
		})
	}
}

// TestTheReviewOfAProposalLooksAroundInTheChangedTree holds that a reviewer of a proposed file is
// shown its caller in another file, and that its tools read what the change would write.
func TestTheReviewOfAProposalLooksAroundInTheChangedTree(t *testing.T) {
	t.Parallel()
	p := newProposal(t, "go", "TASK-101", nil)
	answers := scripted(t, "go", "TASK-101", nil)
	p.model = llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		if r.Question == llmtest.Review && len(r.Turns) == 0 && len(r.Tools) > 0 {
			return llmtest.Answer{Calls: []llmtest.Call{{Name: "read_file",
				Arguments: `{"path":"store/store.go","side":"head","start_line":0,"end_line":0}`}}}
		}
		return answers(r)
	})
	require.Equal(t, ticketpr.Paused, p.draft().Outcome)
	var shown, read string
	for _, r := range p.model.Requests() {
		if r.Question == llmtest.Review && r.Path == "store/store.go" {
			shown = r.User
			for _, turn := range r.Turns {
				read += turn.Text
			}
		}
	}
	require.Contains(t, shown, "json.NewEncoder(w).Encode(s.Overdue(now()))")
	require.Contains(t, read, "!t.Done && !t.Due.IsZero() && t.Due.Before(now)")
}

// TestTestsAreAskedForAsTheRepositoryTests holds what the model is shown of frameworks: the
// tests nearest to the change, one from end to end where there is one, and the build.
func TestTestsAreAskedForAsTheRepositoryTests(t *testing.T) {
	t.Parallel()
	for key, c := range map[string]struct {
		sample     string
		shows, not []string
	}{
		"TASK-201": {"ts", []string{">>>\npackages/core/test/tasks.test.js\n", `from "node:test"`,
			" build>>>\npackages/core/package.json\n"}, []string{"vitest", "end-to-end test>>>"}},
		"TASK-202": {"ts", []string{" test>>>\npackages/web/src/view.test.ts\n", ` from "vitest"`,
			" end-to-end test>>>\npackages/web/e2e/tasks.e2e.test.ts\n", `"vitest": "^3.2.0"`}, nil},
		"TASK-301": {"java", []string{" test>>>\ntask-core/src/test/java/com/example/tasks/TaskServiceTest.java\n",
			"org.assertj.core.api", " build>>>\npom.xml\n", "junit-jupiter"}, nil},
		"TASK-302": {"java",
			[]string{" end-to-end test>>>\ne2e/src/test/java/com/example/tasks/TaskListE2ETest.java\n"},
			nil},
		"TASK-102": {"go", []string{">>>\nstore/store_test.go\n", " build>>>\ngo.mod\n"},
			[]string{"end-to-end test>>>"}},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := newProposal(t, c.sample, key, nil)
			p.draft()
			asked := p.asked(llmtest.ImplementTests)[0]
			for _, part := range c.shows {
				require.Contains(t, asked, part)
			}
			for _, part := range c.not {
				require.NotContains(t, asked, part)
			}
		})
	}
	t.Run("a module without tests", func(t *testing.T) {
		t.Parallel()
		p := newProposal(t, "go", "TASK-102", func(all answers) {
			all[llmtest.ImplementModules] = []json.RawMessage{[]byte(`{"affected_modules":["api"],"reasoning":{},
				"files_likely_to_change":["api/api.go"]}`)}
			all[llmtest.ImplementCode] = []json.RawMessage{[]byte(`{"root_cause":"","changes":[{"path":"api/x.go",
				"description":"","new_content":"package api\n"}]}`)}
			all[llmtest.ImplementTests] = []json.RawMessage{[]byte(`{"tests":[]}`)}
		})
		p.draft()
		require.Contains(t, p.asked(llmtest.ImplementTests)[0], " test>>>\nstore/store_test.go\n")
	})
}

// The reference's counter never counts and its feedback never reaches the prompt; here both
// do, and the fourth feedback ends the draft.
func TestFeedbackIsHeardThreeTimes(t *testing.T) {
	t.Parallel()
	p := newProposal(t, "go", "TASK-101", nil)
	before := p.draft()
	for round, feedback := range []string{"name the variable late", "mention the zero time", "keep it shorter"} {
		r, err := p.decide("/revise " + feedback)
		require.NoError(t, err)
		require.Equal(t, ticketpr.Paused, r.Outcome)
		require.Equal(t, round+1, r.State.Iteration)
		require.NotEqual(t, before.Digest, r.Digest, "another draft has another digest")
		before = r
		last := p.asked(llmtest.ImplementCode)
		require.Contains(t, last[len(last)-1], feedback)
		require.Contains(t, last[len(last)-1], "proposed")
		last = p.asked(llmtest.ImplementTests)
		require.Contains(t, last[len(last)-1], feedback)
	}
	require.Contains(t, before.State.Shown(), "mention the zero time")
	r, err := p.decide("/revise once more")
	require.NoError(t, err)
	require.Equal(t, ticketpr.Aborted, r.Outcome)
	require.Contains(t, r.Message, "revised 3 times")
	require.Len(t, p.asked(llmtest.ImplementCode), 4)
	p.untouched()
}
