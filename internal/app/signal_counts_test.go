package app_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// hidden runs a job that shows counts alone, and checks that nothing of a finding,
// and nothing of what people said of one, is in what it leaves.
func (s *stage) hidden(j *job, code int, outcome string, secret ...string) ended {
	s.t.Helper()
	e := j.with("summary", "counts").start().is(code, outcome)
	what := j.inputs["mode"] + "'s "
	for _, all := range [][]string{words(), secret} {
		holdsNone(s.t, what+"log", e.stdout+e.log, all...)
		holdsNone(s.t, what+"summary", e.summary, all...)
		holdsNone(s.t, what+"outputs", fmt.Sprint(e.outputs), all...)
		for _, st := range s.repo.Statuses(s.pull.HeadSHA()) {
			holdsNone(s.t, what+"status", fmt.Sprint(st), all...)
		}
	}
	return e
}

// overTrusts has the two ways to keep a draft that does not encrypt it: what a run's
// page shows is then the summary's matter alone.
func overTrusts(t *testing.T, run func(t *testing.T, s *stage)) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			run(t, across(t, scene{base: baseTree(), head: headTree(), trust: trust, script: llmtest.Certain(heeding)}))
		})
	}
}

func TestT28_CountsTellNothingOfAFindingInAnyMode(t *testing.T) {
	t.Parallel()
	const feedback = "F1 is milder, the ledger is locked by its caller"
	t.Run("draft, mark, revise, resume", func(t *testing.T) {
		overTrusts(t, func(t *testing.T, s *stage) {
			drafted := s.hidden(s.draftJob(), 0, "PAUSED")
			require.Equal(t, "5", drafted.outputs["findings"])
			drafted.shows("1 blocker, 1 major, 2 minor, 1 nit")
			s.hidden(s.markJob(drafted.digest()), 0, "")
			newer := s.hidden(s.reviseJob(drafted.outputs["code"], feedback), 0, "PAUSED", "milder", "locked by")
			require.NotEqual(t, drafted.outputs["code"], newer.outputs["code"])
			s.hidden(s.markJob(newer.digest()), 0, "")
			s.approved("The ledger/ is fine.\n/drop F7: awaited elsewhere\n/edit F6: Lock both accounts.")
			post := s.postJob(newer.digest()).with("mark", "true", "check-run", "true", "fail-on", "minor", "sarif",
				"found.sarif")
			post.may(map[string]string{"pull_requests": "write", "actions": "read", "contents": "read",
				"checks": "write", "statuses": "write"})
			s.hidden(post, 1, "POSTED", "awaited elsewhere", "Lock both", "is fine")
		})
	})
	t.Run("resume that is refused", func(t *testing.T) {
		overTrusts(t, func(t *testing.T, s *stage) {
			drafted := s.hidden(s.draftJob(), 0, "PAUSED")
			for _, commands := range []string{"/dorp F1: Moves money", "/drop F99: Says too little",
				"/drop F1\n/edit F1: Because of that", "/revise Moves money, says who?", "/edit F1 Moves money"} {
				s.hidden(s.decideJob(drafted.outputs["code"], "approve").with("commands", commands), 3, "REFUSED",
					"says who")
			}
			s.hidden(s.decideJob(drafted.outputs["code"], "abort").with("commands", "/abort: Moves money twice"), 0,
				"ABORTED", "twice")
			s.hidden(s.decideJob(drafted.outputs["code"], "approve"), 3, "REFUSED")
		})
	})
	t.Run("record", func(t *testing.T) {
		overTrusts(t, func(t *testing.T, s *stage) {
			drafted := s.hidden(s.draftJob(), 0, "PAUSED")
			s.hidden(s.recordJob(drafted.digest()), 0, "PAUSED")
			s.run.Wait(gateName)
			s.run.Decide(gateName, "rejected", "maya", "Moves money? No: locked by the caller\n/drop F1: ledger/transfer.go")
			s.hidden(s.recordJob(drafted.digest()), 0, "ABORTED", "locked by")
			s.hidden(s.postJob(drafted.digest()), 3, "REFUSED", "locked by")
		})
	})
	t.Run("pushes", func(t *testing.T) {
		overTrusts(t, func(t *testing.T, s *stage) {
			s.pull.AddReview("sam", "", githubtest.Comment{Path: "ops/run.sh", Line: 3,
				Body: "Say what was done, Moves money style"})
			first := s.hidden(s.draftJob(), 0, "PAUSED", "Say what")
			s.approved("/drop F2: awaited elsewhere")
			s.hidden(s.postJob(first.digest()), 0, "POSTED", "awaited elsewhere")
			s.pushed(s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"}))
			s.hidden(s.draftJob(), 0, "CLEAN", "Say what", "awaited elsewhere")
			s.pushed(s.pull.Tree().With(githubtest.Tree{"ledger/transfer.go": baseTree()["ledger/transfer.go"]}))
			resolved := s.hidden(s.draftJob(), 0, "PAUSED")
			require.Equal(t, "0", resolved.outputs["findings"])
			s.hidden(s.decideJob(resolved.outputs["code"], "approve"), 0, "POSTED")
			require.Equal(t, 2, s.announced("Moves money")+s.announced("Logs and goes on"))
		})
	})
	t.Run("a nit alone, and a revision of it", func(t *testing.T) {
		overTrusts(t, func(t *testing.T, s *stage) {
			s.pushed(baseTree().With(githubtest.Tree{"ops/run.sh": headTree()["ops/run.sh"]}))
			kept := s.hidden(s.draftJob(), 0, "KEPT")
			s.hidden(s.reviseJob(kept.outputs["code"], feedback), 0, "PAUSED", "milder")
		})
	})
}

// TestT28_CountsTellNothingOfAnAnswerThatCannotBeRead has a reviewer whose answers
// are none, and one that answers so when it revises.
func TestT28_CountsTellNothingOfAnAnswerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := func(r llmtest.Request) llmtest.Answer {
		if r.Path == "web/cart.ts" || llmtest.Data(r.User)["feedback"] != "" {
			return llmtest.Answer{Text: `Planted prose: {"findings":[{"title":"Moves money"`}
		}
		return llmtest.Certain(critic)(r)
	}
	planted := []string{"Planted", "Moves money", "Logs and goes on", "move(a, b)", "DEFECT"}
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{base: baseTree(), head: headTree(), trust: trust, script: broken})
			drafted := s.draftJob().with("summary", "counts").start().is(0, "PAUSED")
			newer := s.reviseJob(drafted.outputs["code"], "F1 and F2: planted by hand").with("summary",
				"counts").start().is(0, "PAUSED")
			for name, e := range map[string]ended{"draft": drafted, "revision": newer} {
				holdsNone(t, name, e.stdout+e.log+e.summary+fmt.Sprint(e.outputs), append(planted, "planted by")...)
			}
		})
	}
}
