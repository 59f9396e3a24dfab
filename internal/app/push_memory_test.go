package app_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// unsure has a defect that the reviewer names in other words from when it is told to.
func unsure(now *atomic.Bool) llmtest.Script {
	return llmtest.Certain(func(r llmtest.Request) llmtest.Answer {
		for _, l := range r.Lines {
			if l.Op != '+' || !strings.Contains(l.Text, "tx.Rollback(ctx)") {
				continue
			}
			title := "The error of the rollback is dropped"
			if now.Load() {
				title = "Rollback silently drops its error"
			}
			return llmtest.Findings(llmtest.Finding{
				Side: "RIGHT", StartLine: l.New, Line: l.New, Quote: l.Text, Title: title, Body: "Because.",
				Category: "correctness", Severity: "major", Confidence: 0.9,
			})
		}
		return llmtest.Findings()
	})
}

// moved is the change with everything further down, so that every file is read again.
func moved(tree githubtest.Tree) githubtest.Tree {
	return tree.With(githubtest.Tree{"new.go": goFile(30, badCommit, badScan), "old.go": goFile(45, badFloat)})
}

// idOf is the id of a finding in a draft.
func (s *stage) idOf(drafted ended, title string) string {
	s.t.Helper()
	for _, f := range s.stateOf(drafted).Comments {
		if f.Title == title && f.ID != "" {
			return f.ID
		}
	}
	require.Fail(s.t, "no finding", title)
	return ""
}

func TestP2_WhatAnApproverDroppedStaysDropped(t *testing.T) {
	t.Parallel()
	for trust, by := range map[string]string{"": "dropped from an earlier draft",
		checkpoint.TrustSeal:    "dropped by maya from an earlier draft",
		checkpoint.TrustEncrypt: "dropped by maya from an earlier draft"} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			first := s.parked()
			s.approved("/drop " + s.idOf(first, titleOf(badCommit)) + " " + s.idOf(first, neverEmptied) +
				": as intended")
			s.postJob(first.digest()).start().is(0, "POSTED")
			for range 2 { // the second time through a review that did not drop it itself
				s.pushed(moved(s.pull.Tree()).With(githubtest.Tree{"more.go": goFile(len(s.pull.Reviews()), badRange)}))
				next := s.parked()
				_, held := s.told(next)
				for _, title := range []string{titleOf(badCommit), neverEmptied} {
					require.Equal(t, finding.DroppedBefore, held[title].Filtered, title)
					require.Equal(t, by, held[title].Note)
				}
				next.shows("An approver dropped it from an earlier draft", by)
				s.decideJob(next.outputs["code"], "approve").start().is(0, "POSTED")
				said, _ := s.times(titleOf(badCommit))
				require.Zero(t, said)
				s.pushed(s.pull.Tree().Without("more.go"))
				gone := s.draftJob().with("environment", "").start().is(0, "PAUSED").shows("Resolved since")
				require.Contains(t, gone.log, "#42 waits for a decision: nothing new, 1 resolved; 1 major, "+
					"1 minor of earlier reviews stand. The draft ")
				require.Equal(t, "0", gone.outputs["findings"])
				s.decideJob(gone.outputs["code"], "approve").start().is(0, "POSTED")
			}
		})
	}
}

func TestADropIsKnownInOtherWords(t *testing.T) {
	t.Parallel()
	for name, trust := range map[string]string{"digest": "", "seal": checkpoint.TrustSeal,
		"seal, and a rejection that came too late": checkpoint.TrustSeal} {
		t.Run("trust "+name, func(t *testing.T) {
			var now atomic.Bool
			base, _ := growing()
			s := across(t, scene{trust: trust, script: unsure(&now), base: base,
				head: base.With(githubtest.Tree{"new.go": goFile(3, "tx.Rollback(ctx)")})})
			first := s.parked()
			require.Equal(t, "1", first.outputs["findings"])
			s.approved("/drop F1")
			s.postJob(first.digest()).start().is(0, "POSTED")
			if strings.HasSuffix(name, "late") {
				z, err := under(t, trust, checkpointKey).PackRecord(s.abortOf(first))
				require.NoError(t, err)
				run := s.repo.AddRun(githubtest.RunOptions{Path: decidePath, Event: "workflow_dispatch", Actor: "eve"})
				run.AddArtifact("pr-review-decision-"+first.outputs["code"], z)
				run.Finish("failure")
			}
			now.Store(true)
			s.pushed(base.With(githubtest.Tree{"new.go": goFile(30, "tx.Rollback(ctx)")}))
			s.draftJob().start().is(0, "CLEAN") // a marker holds the place, and no words
		})
	}
}

func TestARejectedDraftHasDroppedNothing(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			first := s.parked()
			s.decideJob(first.outputs["code"], "abort").start().is(0, "ABORTED")
			s.pushed(moved(s.pull.Tree()))
			second, _ := s.approve("")
			s.complete(second, s.present()...)
			s.once()
		})
	}
}

func TestADropOutlivesARejectedDraftBetween(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			first := s.parked()
			s.approved("/drop " + s.idOf(first, titleOf(badCommit)))
			s.postJob(first.digest()).start().is(0, "POSTED")
			s.pushed(s.pull.Tree().With(githubtest.Tree{"more.go": goFile(1, badRange)}))
			s.decideJob(s.parked().outputs["code"], "abort").start().is(0, "ABORTED")
			s.pushed(moved(s.pull.Tree()))
			third := s.parked()
			kept, held := s.told(third)
			require.Equal(t, []string{titleOf(badRange)}, kept, "its draft was rejected, so nobody has judged it")
			require.Equal(t, finding.DroppedBefore, held[titleOf(badCommit)].Filtered)
		})
	}
}

// place is the line of a text in a file at the head.
func (s *stage) place(path, line string) int {
	s.t.Helper()
	before, _, found := strings.Cut(s.pull.Tree()[path], line)
	require.True(s.t, found)
	return strings.Count(before, "\n") + 1
}

// remark is a comment on a line of the change, and its effect.
type remark struct {
	who, line, text string
	held            bool
	shows           string
}

func TestWhatPeopleSaidOnTheLinesIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	const claim = "Doesn't this scan read past the last column?"
	for name, c := range map[string]remark{
		"a minor one's claim": {"maya", badScan, claim, true, "Somebody said it of the same lines"},
		"praise of it":        {"maya", badScan, "LGTM", false, ""},
		"an emoji":            {"maya", badScan, "👍", false, ""},
		"a major one's claim": {"maya", badCommit, "Who looks at the error?", false,
			"maya commented on line 7: “Who looks at the error?”"},
		"praise of a major": {"maya", badCommit, "LGTM", false, "maya commented on line 7: “LGTM”"},
		"by the author":     {"lee", badScan, claim, false, ""},
		"by a reader":       {"rob", badScan, claim, false, ""},
		"by a bot":          {"scan[bot]", badScan, claim, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{})
			s.pull.AddReview(c.who, "", githubtest.Comment{Path: "new.go", Line: s.place("new.go", c.line),
				Body: c.text})
			drafted := s.parked().shows(c.shows)
			kept, held := s.told(drafted)
			require.Equal(t, c.held, held[titleOf(c.line)].Filtered == finding.AlreadyCommented)
			require.Equal(t, c.held, len(kept) < len(s.present()))
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			for _, r := range s.pull.Reviews()[1:] {
				require.NotContains(t, fmt.Sprint(r), "maya commented", "it is for the approver")
			}
			s.pushed(moved(s.pull.Tree()))
			// GitHub moves the comment with its line
			s.draftJob().start().is(0, map[bool]string{true: "KEPT", false: "CLEAN"}[c.held])
		})
	}
}

func TestWhatAPersonSaidNeverMakesClean(t *testing.T) {
	t.Parallel()
	base, _ := growing()
	for name, c := range map[string]struct{ line, text, want, cli string }{
		"the claim of all there is": {badScan, "The scan reads past the last column.", "KEPT", "Kept:"},
		"praise":                    {badScan, "LGTM", "PAUSED", "Parked."},
		"a blocker's claim":         {badRange, titleOf(badRange), "PAUSED", "Parked."},
		"praise of a blocker":       {badRange, "🚀", "PAUSED", "Parked."},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: base, head: base.With(githubtest.Tree{"new.go": goFile(3, c.line)})})
			s.pull.AddReview("maya", "", githubtest.Comment{Path: "new.go", Line: s.place("new.go", c.line),
				Body: c.text})
			s.draftJob().start().is(0, c.want)
			e := s.cli(nil, "review", "octo/demo#42", "--no-input", "--store", t.TempDir(), "--quiet").ends(0)
			require.Contains(t, e.stdout, c.cli)
			require.Equal(t, c.want == "PAUSED", strings.Contains(e.stdout, titleOf(c.line)))
			require.Equal(t, c.line == badRange, strings.Contains(e.stdout, "maya commented on line 7: “"+c.text))
		})
	}
}

func TestAFileThatCouldNotBeReadResolvesNothing(t *testing.T) {
	var broken atomic.Bool
	s := across(t, scene{script: func(r llmtest.Request) llmtest.Answer {
		if broken.Load() && r.Path == "old.go" {
			return llmtest.Answer{Text: "I cannot help with that."}
		}
		return llmtest.Certain(critic)(r)
	}})
	s.approve("")
	broken.Store(true)
	s.pushed(s.pull.Tree().With(githubtest.Tree{"old.go": goFile(40, "x := req.Amount")}))
	second := s.parked()
	require.Equal(t, "0", second.outputs["findings"], "it is not clean: a person sees what was not read")
	require.NotContains(t, second.summary, "Resolved since")
	s.decideJob(second.outputs["code"], "approve").start().is(0, "POSTED")

	broken.Store(false)
	s.pushed(s.pull.Tree().With(githubtest.Tree{"more.txt": "x\n"}))
	third := s.parked().shows("Resolved since", titleOf(badFloat))
	s.decideJob(third.outputs["code"], "approve").start().is(0, "POSTED")
	require.Equal(t, 1, s.announced(titleOf(badFloat)))
}

func TestADefectThatComesBackIsSaidAgain(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			s.approve("")
			before := s.pull.Tree()
			s.pushed(before.With(githubtest.Tree{"old.go": goFile(40, "x := req.Amount")}))
			s.decideJob(s.parked().outputs["code"], "approve").start().is(0, "POSTED")
			s.pushed(before)
			s.complete(s.parked(), titleOf(badFloat))
		})
	}
}

// settled are the stories' files with settings on the base.
func settled(text string) scene {
	base, head := growing()
	file := githubtest.Tree{".github/pr-review.yml": text}
	return scene{base: base.With(file), head: head.With(file)}
}

// threads are which of the first review's threads are marked as resolved, by line.
func (s *stage) threads() map[string]bool {
	marked := map[string]bool{}
	for _, c := range s.pull.Reviews()[0].Comments {
		for _, line := range []string{badCommit, badScan, badFloat} {
			if strings.Contains(c.Body, titleOf(line)) {
				marked[line] = c.Resolved
			}
		}
	}
	return marked
}

func TestThreadsOfResolvedFindingsAreMarkedWhereNobodyAnswered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		contents string // permission of the deciding job
		after    bool   // the answer comes when the draft waits already
		says     string
	}{
		"answered before the draft": {"write", false, ""},
		"answered while it waits":   {"write", true, ""},
		"without the permission": {"read", false,
			"threads of resolved findings stay open: the token may not resolve threads"},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, settled("comments: { resolve: true }\n"))
			s.approve("")
			answer := func() {
				for _, c := range s.pull.Reviews()[0].Comments {
					if c.Path == "old.go" {
						s.pull.AddReview("lee", "", githubtest.Comment{Path: c.Path, Line: c.Line, ReplyTo: c.ID,
							Body: "Fixed in the next commit."})
					}
				}
			}
			if !tc.after {
				answer()
			}
			s.pushed(s.pull.Tree().With(githubtest.Tree{"new.go": goFile(3, "err = tx.Commit(ctx)", badScan),
				"old.go": goFile(40, "x := req.Amount")}))
			decide := s.decideJob(s.parked().outputs["code"], "approve")
			if tc.after {
				answer()
			}
			decide.may(map[string]string{"pull_requests": "write", "actions": "read",
				"contents": tc.contents}).start().is(0, "POSTED").says(tc.says)
			require.Equal(t, map[string]bool{badCommit: tc.contents == "write", badScan: false, badFloat: false},
				s.threads(), "one is still there, and in one somebody answered")
		})
	}
}

func TestP2_ADraftThatIsMadeAgainAfterAPushKnowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(s *stage, code string) *job{
		"revised": func(s *stage, code string) *job { return s.reviseJob(code, "F5 is milder") },
		"anew": func(s *stage, _ string) *job {
			s.anew(githubtest.RunOptions{})
			return s.draftJob().by("maya").with("again", "true")
		},
	} {
		for _, trust := range []string{"", checkpoint.TrustSeal} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				s := across(t, scene{trust: trust})
				first := s.parked()
				s.approved("/drop " + s.idOf(first, titleOf(badScan)))
				s.postJob(first.digest()).start().is(0, "POSTED")
				s.pushed(s.pull.Tree().With(githubtest.Tree{"new.go": goFile(3, "err = tx.Commit(ctx)", badRange,
					badScan)}))
				old := s.parked()
				newer := next(s, old.outputs["code"]).start().is(0, "PAUSED")
				require.NotEqual(t, old.outputs["code"], newer.outputs["code"])
				s.complete(newer, titleOf(badRange))
				_, held := s.told(newer)
				require.Equal(t, finding.DroppedBefore, held[titleOf(badScan)].Filtered)
				newer.shows("Resolved since", titleOf(badCommit))
				s.decideJob(newer.outputs["code"], "approve").start().is(0, "POSTED")
				require.Equal(t, 1, s.announced(titleOf(badCommit)))
				for _, line := range []string{badCommit, badFloat, badRange} {
					reviews, _ := s.times(titleOf(line))
					require.Equal(t, 1, reviews, line)
				}
			})
		}
	}
}

func TestP2_WhatTheCapMovedToTheBodyIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			sc := settled("comments: { max: 1 }\n")
			sc.trust = trust
			s := across(t, sc)
			first, _ := s.approve("")
			s.complete(first, s.present()...)
			require.Len(t, s.pull.Reviews()[0].Comments, 1)
			s.once()
			s.pushed(moved(s.pull.Tree()))
			s.complete(s.draftJob().start().is(0, "CLEAN"))
		})
	}
}

func TestP2_PushesOnTheCommandLine(t *testing.T) {
	s := across(t, scene{})
	store := []string{"--store", t.TempDir(), "--quiet"}
	run := func(want string, args ...string) said {
		e := s.cli(nil, append(append([]string{"review", "octo/demo#42"}, args...), store...)...).ends(0)
		require.Contains(t, e.stdout, want)
		return e
	}
	// the most severe, by its path the first
	run("POSTED https://github.com/octo/demo/pull/42#", "--approve", "--command", "/drop F1")
	dropped := titleOf(badCommit)
	said, _ := s.times(dropped)
	require.Zero(t, said)
	s.pull.Push(moved(s.pull.Tree()))
	run("CLEAN", "--no-input")
	s.pull.Push(s.pull.Tree().With(githubtest.Tree{"old.go": goFile(45, "x := req.Amount"),
		"more.go": goFile(2, badRange)}))
	run("POSTED https://github.com/octo/demo/pull/42#", "--approve")
	require.Len(t, s.pull.Reviews(), 2)
	require.Equal(t, 1, s.announced(titleOf(badFloat)))
	for _, line := range []string{badScan, badFloat, badRange} {
		reviews, comments := s.times(titleOf(line))
		require.Equal(t, []int{1, 1}, []int{reviews, comments}, line)
	}
	s.pull.Push(s.pull.Tree().With(githubtest.Tree{"other.txt": "x\n"}))
	run("CLEAN", "--no-input")
	said, _ = s.times(dropped)
	require.Zero(t, said)
}
