package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// blocked is a stage on which a review with a blocker was posted.
func blocked(t *testing.T, sc scene) *stage {
	sc.base = githubtest.Tree{"README.md": "# r\n"}
	sc.head = sc.base.With(githubtest.Tree{"new.go": goFile(3, badRange)})
	s := across(t, sc)
	drafted, posted := s.approve("")
	counts(drafted, "1", "1", "0", "0")
	counts(posted, "1", "1", "1", "1")
	posted.shows("## Review of #42 was posted · 1 blocker stands")
	return s
}

// counts holds the outputs findings, blockers, open-findings and open-blockers.
func counts(e ended, want ...string) {
	e.t.Helper()
	for i, name := range []string{"findings", "blockers", "open-findings", "open-blockers"} {
		require.Equal(e.t, want[i], e.outputs[name], name)
	}
}

// second is the drafting job of a second push, where a blocker fails.
func (s *stage) second(tree githubtest.Tree) ended {
	s.pushed(tree)
	return s.draftJob().with("fail-on", "blocker").start()
}

func TestFailOnHoldsWhileAPostedBlockerStands(t *testing.T) {
	t.Parallel()
	more := githubtest.Tree{"more.txt": "x\n"}
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("nothing new, trust "+trust, func(t *testing.T) {
			s := blocked(t, scene{trust: trust})
			e := s.second(s.pull.Tree().With(more)).is(1, "CLEAN")
			counts(e, "0", "0", "1", "1")
			e.says("1 posted finding of severity blocker or higher, and fail-on is blocker")
			e.shows("## Nothing new in #42 · 1 blocker of earlier reviews stands", "- F1 **blocker** ",
				titleOf(badRange))
		})
	}
	t.Run("mended", func(t *testing.T) {
		s := blocked(t, scene{})
		e := s.second(githubtest.Tree{"README.md": "# r\n", "new.go": goFile(3, "send(rows)")}).is(0, "PAUSED")
		counts(e, "0", "0", "0", "0")
		e.shows("1 resolved")
		e = s.decideJob(e.outputs["code"], "approve").with("fail-on", "nit").start().is(0, "POSTED")
		counts(e, "0", "0", "0", "0")
		counts(s.second(s.pull.Tree().With(more)).is(0, "CLEAN"), "0", "0", "0", "0")
	})
	t.Run("weaker than what fails", func(t *testing.T) {
		s := blocked(t, scene{})
		s.pull.ChangeComment(s.pull.Reviews()[0].Comments[0].ID, func(k *githubtest.Comment) {
			k.Body = "**Nit: Nothing much**\n\n<!-- pr-review:f=0123456789abcdef -->"
		})
		// as it was posted, whoever edits it
		counts(s.second(s.pull.Tree().With(more)).is(1, "CLEAN"), "0", "0", "1", "1")
	})
	t.Run("waits, and is aborted", func(t *testing.T) {
		s := blocked(t, scene{trust: checkpoint.TrustSeal})
		e := s.second(s.pull.Tree().With(githubtest.Tree{"b.go": goFile(3, badScan)})).is(0, "PAUSED")
		counts(e, "1", "0", "1", "1")
		e.shows("**1 minor** · 1 blocker of earlier reviews stands", "F2 · minor", "- F1 **blocker** ")
		e = s.decideJob(e.outputs["code"], "abort").with("fail-on", "blocker").start().is(1, "ABORTED")
		counts(e, "1", "0", "1", "1")
		e.shows("was rejected, nothing was posted · 1 blocker of earlier reviews stands")
		s.anew(githubtest.RunOptions{Actor: "lee"})
		counts(s.draftJob().with("fail-on", "blocker").start().is(1, "ABORTED"), "0", "0", "1", "1")
	})
	t.Run("waits, and all of it is dropped", func(t *testing.T) {
		s := blocked(t, scene{})
		e := s.second(s.pull.Tree().With(githubtest.Tree{"b.go": goFile(3, badScan)})).is(0, "PAUSED")
		e = s.decideJob(e.outputs["code"], "approve").with("commands", "/drop F2: known").start().is(0, "POSTED")
		e.shows("## Review of #42 was posted · 1 blocker stands\n")
		require.True(t, strings.HasPrefix(s.pull.Reviews()[1].Body, "**No finding was kept** · 1 blocker of earlier "+
			"reviews stands · "), s.pull.Reviews()[1].Body)
	})
	t.Run("reviewed before", func(t *testing.T) {
		s := blocked(t, scene{})
		s.anew(githubtest.RunOptions{Actor: "lee"})
		counts(s.draftJob().with("fail-on", "blocker").start().is(1, "POSTED"), "0", "0", "1", "1")
	})
	t.Run("kept", func(t *testing.T) {
		s := blocked(t, scene{})
		e := s.second(s.pull.Tree().With(githubtest.Tree{"b.go": goFile(3, badName)})).is(1, "KEPT")
		counts(e, "1", "0", "1", "1")
	})
	t.Run("skipped", func(t *testing.T) {
		s := blocked(t, scene{})
		s.pull.Label("maya", "no-ai-review")
		counts(s.second(s.pull.Tree().With(more)).is(1, "SKIPPED"), "0", "0", "1", "1")
	})
	t.Run("skipped, and its file is gone", func(t *testing.T) {
		s := blocked(t, scene{})
		counts(s.second(githubtest.Tree{"README.md": "# r\n", "logo.png": "\x89PNG\r\n\x1a\n\x00"}).is(0,
			"SKIPPED"), "0", "0", "0", "0")
	})
}

func TestANitInABodyStandsUntilItIsNotFoundAgain(t *testing.T) {
	base := githubtest.Tree{"README.md": "# r\n"}
	head := base.With(githubtest.Tree{"new.go": goFile(3, badScan, badName)})
	s := across(t, scene{base: base, head: head})
	_, posted := s.approve("")
	counts(posted, "2", "0", "2", "0")
	s.pushed(head.With(githubtest.Tree{"more.txt": "x\n"}))
	e := s.draftJob().with("fail-on", "nit").start().is(1, "CLEAN")
	counts(e, "0", "0", "2", "0")
	e.shows("1 minor, 1 nit of earlier reviews stand")
	s.pushed(base.With(githubtest.Tree{"new.go": goFile(3, badScan)}))
	e = s.draftJob().with("fail-on", "minor").start().is(1, "CLEAN")
	counts(e, "0", "0", "1", "0")
}

func TestAThreadThatAWriterClosesEndsItsFinding(t *testing.T) {
	t.Parallel()
	for login, open := range map[string]string{"maya": "0", "lee": "1", "rob": "1", "github-actions[bot]": "1"} {
		t.Run(login, func(t *testing.T) {
			s := blocked(t, scene{})
			first := s.pull.Reviews()[0].Comments[0].ID
			s.pull.ResolveThread(first, login)
			code := map[string]int{"0": 0, "1": 1}[open]
			more := s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"})
			counts(s.second(more).is(code, "CLEAN"), "0", "0", open, open)
			s.pull.ResolveThread(first, "")
			s.anew(githubtest.RunOptions{Actor: "lee"})
			counts(s.draftJob().with("fail-on", "blocker").start().is(1, "CLEAN"), "0", "0", "1", "1")
		})
	}
	t.Run("between draft and decision", func(t *testing.T) {
		s := blocked(t, scene{})
		e := s.second(s.pull.Tree().With(githubtest.Tree{"b.go": goFile(3, badScan)})).is(0, "PAUSED")
		s.pull.ResolveThread(s.pull.Reviews()[0].Comments[0].ID, "maya")
		decide := s.decideJob(e.outputs["code"], "approve").with("fail-on", "minor")
		e = decide.start().is(1, "POSTED")
		counts(e, "1", "0", "1", "0")
		e.shows("was posted · 1 minor stands\n")
		s.pull.ResolveThread(s.pull.Reviews()[1].Comments[0].ID, "maya")
		e = decide.start().is(0, "POSTED")
		counts(e, "1", "0", "0", "0")
		e.shows("## Review of #42 was posted\n")
	})
}

func TestADropWithAReasonEndsWhatWasPosted(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := blocked(t, scene{trust: trust})
			e := s.second(s.pull.Tree().With(githubtest.Tree{"b.go": goFile(3, badScan)})).is(0, "PAUSED")
			for _, bad := range []string{"/drop F1", "/edit F1: x", "/severity F1 nit", "/keep F1",
				"/drop F1-F2: no", "/summary F1"} {
				j := s.decideJob(e.outputs["code"], "approve").with("commands", bad)
				j.start().is(3, "REFUSED").says("/drop F1: REASON")
			}
			commands := "/drop F1: the caller checks it"
			s.approved(commands)
			s.run.Approve(gateName, "sam", "/approve")
			s.postJob(e.digest()).start().is(3, "REFUSED").says("two approvals of this draft say different things")
			decide := s.decideJob(e.outputs["code"], "approve").with("commands", commands, "fail-on", "blocker")
			counts(decide.start().is(0, "POSTED"), "1", "0", "1", "0")
			require.Len(t, s.pull.Reviews(), 2)
			e = s.second(s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"})).is(0, "CLEAN")
			counts(e, "0", "0", "1", "0")
			e.shows("dropped before")
		})
	}
}

func TestWhatWasPostedAndCannotBeReadEndsNoRun(t *testing.T) {
	s := blocked(t, scene{})
	s.pushed(s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"}))
	s.hub.Fail("GET", "**/reviews", githubtest.Fault{Status: http.StatusForbidden})
	e := s.draftJob().with("fail-on", "blocker").start().is(0, "PAUSED")
	counts(e, "1", "1", "", "")
	e.says("what was posted before could not be read")
	e.shows("could not be read")
	s.hub.ClearFaults()
	counts(s.decideJob(e.outputs["code"], "approve").with("fail-on", "blocker").start().is(1,
		"POSTED"), "1", "1", "", "")
}

// A pull request whose base branch was merged is pointed at another one: the commit stays, and its diff may grow.
func TestTheSameCommitAgainstAnotherBaseIsDraftedAgain(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{checkpoint.TrustDigest, checkpoint.TrustSeal} {
		t.Run(trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			base, head := growing()
			s.repo.Commit("stable", "without what lies below", base)
			s.repo.Commit("main", "with it", base.With(githubtest.Tree{"below.go": goFile(0, badRange)}))
			s.pull.MergeBase()
			require.Contains(t, s.pull.Tree()["new.go"], head["new.go"])
			_, first := s.approve("")
			against := func(branch string) ended {
				s.pull.Retarget(branch)
				s.anew(githubtest.RunOptions{Actor: "lee"})
				later(s)
				return s.draftJob().start()
			}
			if trust == checkpoint.TrustSeal { // it is drafted, and said, if what it was reviewed against is not told
				s.hub.Fail("GET", "/repos/octo/demo/pulls/42/files", githubtest.Fault{Status: 422, Times: 1})
			}
			drafted := against("stable").is(0, "PAUSED")
			s.complete(drafted, titleOf(badRange))
			s.decideJob(drafted.outputs["code"], "abort").start().is(0, "ABORTED")

			asked := s.reviews()
			require.Equal(t, first.outputs["review-url"], against("main").is(0, "POSTED").outputs["review-url"])
			require.Equal(t, asked, s.reviews())
			s.pull.Retarget("stable")
			s.anew(githubtest.RunOptions{Actor: "lee"})
			later(s)
			drafted = s.draftJob().with("again", "true").by("maya").start().is(0, "PAUSED")
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			s.once()
			require.Len(t, s.pull.Reviews(), 2)
		})
	}
}

// A draft that waits while the same commit is posted against another base does not know what was said there.
func TestP5_ADraftOfBeforeAReviewOfItsCommitIsNotPosted(t *testing.T) {
	s := across(t, scene{})
	base, _ := growing()
	s.repo.Commit("stable", "without what lies below", base)
	s.repo.Commit("main", "with it", base.With(githubtest.Tree{"below.go": goFile(0, badRange)}))
	s.pull.MergeBase()
	before := s.parked()
	s.pull.Retarget("stable")
	s.anew(githubtest.RunOptions{Actor: "lee"})
	later(s)
	after := s.draftJob().start().is(0, "PAUSED")
	s.decideJob(after.outputs["code"], "approve").start().is(0, "POSTED")
	s.pull.Retarget("main")
	s.decideJob(before.outputs["code"], "approve").start().is(3, "REFUSED").
		says("another review of this commit has already been posted", "or draft again if its base changed")
	require.Len(t, s.pull.Reviews(), 1)
}
