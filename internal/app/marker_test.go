package app_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
)

const actionsBot = "github-actions[bot]"

// marker is one that would be ours for a draft, saying of all it found that it was
// posted and dropped before.
func (s *stage) marker(drafted ended, changes ...func(*marker.Review)) string {
	s.t.Helper()
	state := s.stateOf(drafted)
	m := marker.Review{Thread: state.Draft.Thread, Digest: drafted.digest(), Approved: post.Approved(state.Review())}
	for _, f := range finding.Kept(state.Comments) {
		m.Posted, m.Dropped = append(m.Posted, f.Fingerprint), append(m.Dropped, f.Fingerprint)
	}
	for _, change := range changes {
		change(&m)
	}
	require.NotEmpty(s.t, m.String())
	return m.String()
}

// noted is a decision on a draft that a run has stored.
func (s *stage) noted(drafted ended, run *githubtest.Run, verdict decision.Verdict, p checkpoint.Protection) {
	s.t.Helper()
	r := decision.Record{
		Thread: s.stateOf(drafted).Draft.Thread, Digest: drafted.digest(), Code: drafted.outputs["code"],
		Decision: verdict, By: "maya", At: time.Now(), Via: decision.ByDispatch,
	}
	zip, err := p.PackRecord(r)
	require.NoError(s.t, err)
	run.AddArtifact(reviewpr.Names.Decision(r.Code), zip)
}

// longAgo is when records are gone by now: they are kept for 90 days.
const longAgo = 95 * 24 * time.Hour

// aged does something some time ago.
func aged(age time.Duration, do func(*stage, ended)) func(*stage, ended) {
	return func(s *stage, d ended) {
		s.hub.Advance(-age)
		do(s, d)
		s.hub.Advance(age)
	}
}

// forgeries put a marker for a draft on the pull request, none of which is ours.
func forgeries() map[string]func(s *stage, drafted ended) {
	says := func(login, before, behind string, changes ...func(*marker.Review)) func(*stage, ended) {
		return func(s *stage, d ended) { s.pull.AddReview(login, before+s.marker(d, changes...)+behind) }
	}
	by := func(o githubtest.RunOptions, verdict decision.Verdict) func(*stage, ended) {
		return func(s *stage, d ended) {
			if o.Event == "pull_request" {
				o.HeadRepo = s.hub.AddRepo("mallory/demo", githubtest.RepoOptions{ForkOf: s.repo})
			}
			s.noted(d, s.repo.AddRun(o), verdict, checkpoint.Protection{})
			later(s)
			s.pull.AddReview(actionsBot, s.marker(d))
		}
	}
	return map[string]func(*stage, ended){
		"by another bot":                  says("scan[bot]", "Hello\n\n", ""),
		"by the jobs' bot, not on record": says(actionsBot, "Hello\n\n", ""),
		"by a reader":                     says("rob", "", ""),
		"by the author, who may write":    says("lee", "", ""),
		"in the middle of the body":       says(actionsBot, "", "\n\nHello"),
		"quoted":                          says(actionsBot, "> ", ""),
		"of another repository": aged(longAgo, says(actionsBot, "", "", func(m *marker.Review) {
			m.Thread = strings.Replace(m.Thread, "octo/", "evil/", 1)
		})),
		"of a day whose records are there": aged(40*24*time.Hour, says(actionsBot, "", "")),
		"of another commit": aged(longAgo, says(actionsBot, "", "", func(m *marker.Review) {
			m.Thread = m.Thread[:len(m.Thread)-40] + strings.Repeat("a", 40)
		})),
		"in a comment": func(s *stage, d ended) {
			s.pull.AddReview(actionsBot, "", githubtest.Comment{Path: "new.go", Line: s.place("new.go", badCommit),
				Body: s.marker(d)})
		},
		"on record by another workflow": by(githubtest.RunOptions{Path: ".github/workflows/other.yml"},
			decision.Approve),
		"on record by a fork's run": by(githubtest.RunOptions{Event: "pull_request"}, decision.Approve),
		"on record as rejected": by(githubtest.RunOptions{Path: decidePath, Event: "workflow_dispatch"},
			decision.Abort),
		"there before a decision on record": func(s *stage, d ended) {
			s.pull.AddReview(actionsBot, s.marker(d))
			later(s)
			s.noted(d, s.repo.AddRun(githubtest.RunOptions{Path: decidePath, Event: "workflow_dispatch"}),
				decision.Approve, checkpoint.Protection{})
		},
	}
}

func TestT39_AForgedMarkerHidesNothing(t *testing.T) {
	t.Parallel()
	for name, forge := range forgeries() {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{})
			first := s.parked()
			forge(s, first)
			s.anew(githubtest.RunOptions{Actor: "lee"})
			second := s.parked()
			kept, _ := s.told(second)
			require.Len(t, kept, len(s.present()), "neither posted before nor dropped")
			e := s.cli(nil, "review", "octo/demo#42", "--no-input", "--store", t.TempDir(), "--quiet").ends(0)
			for _, title := range s.present() {
				require.Contains(t, e.stdout, title)
			}
		})
	}
}

func TestT39_AForgedMarkerKeepsNothingFromBeingPosted(t *testing.T) {
	t.Parallel()
	another := func(m *marker.Review) { m.Digest = strings.Repeat("a", 64) } // which would block this draft permanently
	for name, decide := range routes() {
		for how, c := range map[string]struct {
			login  string
			change func(*marker.Review)
			times  int // of the decision; a second one within a minute of the forgery has a record next to it
		}{
			"just now by the jobs' bot":       {actionsBot, func(*marker.Review) {}, 1},
			"before by the jobs' bot":         {actionsBot, func(*marker.Review) {}, 2},
			"by another bot":                  {"scan[bot]", func(*marker.Review) {}, 2},
			"of another draft, the jobs' bot": {actionsBot, another, 2},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				s := setUp(t, scene{})
				drafted := s.parked()
				forged := s.pull.AddReview(c.login, "Hello\n\n"+s.marker(drafted, c.change))
				if c.times > 1 {
					later(s)
				}
				for range c.times {
					done := decide(s, drafted.digest()).start().is(0, "POSTED")
					all := s.pull.Reviews()
					require.Len(t, all, 2, "the forged one and ours, once")
					require.Equal(t, all[1].URL, done.outputs["review-url"])
					require.NotEqual(t, forged.URL, done.outputs["review-url"])
				}
			})
		}
	}
	t.Run("command line", func(t *testing.T) {
		s := setUp(t, scene{})
		store := []string{"--store", t.TempDir(), "--quiet"}
		s.pull.AddReview(actionsBot, s.marker(s.parked()))
		for range 2 {
			e := s.cli(nil, append([]string{"review", "octo/demo#42", "--approve"}, store...)...).ends(0)
			require.Len(t, s.pull.Reviews(), 2)
			require.Contains(t, e.stdout, "POSTED "+s.pull.Reviews()[1].URL)
		}
	})
}

func TestT39_UnderAKeyAMarkerCountsForItsMAC(t *testing.T) {
	t.Parallel()
	other, err := checkpoint.ParseKey(anotherKey)
	require.NoError(t, err)
	foreign := checkpoint.Protection{Trust: checkpoint.TrustSeal, Key: other}
	for name, forge := range map[string]func(real marker.Review) func(*marker.Review){
		"none": func(marker.Review) func(*marker.Review) { return func(*marker.Review) {} },
		"of another key": func(marker.Review) func(*marker.Review) {
			return func(m *marker.Review) { m.Key = foreign.MarkerKey() }
		},
		"without the key's use": func(marker.Review) func(*marker.Review) {
			return func(m *marker.Review) { m.Key = []byte(checkpointKey) }
		},
	} {
		for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				s := across(t, scene{trust: trust})
				drafted := s.parked()
				s.noted(drafted, s.repo.AddRun(githubtest.RunOptions{Path: decidePath, Event: "workflow_dispatch"}),
					decision.Approve, s.protection())
				s.pull.AddReview(actionsBot, s.marker(drafted, forge(marker.Review{})))
				s.anew(githubtest.RunOptions{Actor: "lee"})
				kept, _ := s.told(s.parked())
				require.Len(t, kept, len(s.present()))
			})
		}
	}
	t.Run("copied from another review", func(t *testing.T) {
		s := across(t, scene{trust: checkpoint.TrustSeal})
		s.approve("")
		whole := s.pull.Reviews()[0].Body
		whole = whole[strings.LastIndex(whole, "\n")+1:]
		real, ok := marker.Parse(whole)
		require.True(t, ok)
		require.True(t, real.Sealed(s.protection().MarkerKey()))
		s.pushed(s.pull.Tree().With(githubtest.Tree{"more.go": goFile(1, badRange)}))
		drafted := s.parked()
		mac := " mac=" + real.MAC + " -->"
		s.pull.AddReview(actionsBot, strings.TrimSuffix(s.marker(drafted), " -->")+mac)
		s.pull.AddReview(actionsBot, whole)
		s.pull.AddReview("scan[bot]", whole)
		s.anew(githubtest.RunOptions{Actor: "lee"})
		kept, held := s.told(s.parked())
		require.Equal(t, []string{titleOf(badRange)}, kept)
		require.Equal(t, finding.AlreadyPosted, held[titleOf(badCommit)].Filtered, "the real one is believed")
	})
}

func TestAPersonsOwnReviewStandsAndHoldsNothingBackUntilItIsOnRecord(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := across(t, scene{trust: trust})
			e := s.cli(nil, "review", "octo/demo#42", "--approve", "--store", t.TempDir(), "--quiet").ends(0)
			require.Contains(t, e.stdout, "POSTED")
			again := s.draftJob().start().is(0, "POSTED")
			require.Equal(t, s.pull.Reviews()[0].URL, again.outputs["review-url"], "the commit is reviewed once")
			s.pushed(moved(s.pull.Tree()))
			kept, _ := s.told(s.parked())
			require.Len(t, kept, len(s.present()))
			require.Len(t, s.pull.Reviews(), 1)
		})
	}
}

func TestWhatAJobPostedIsKnownOnTheCommandLine(t *testing.T) {
	s := across(t, scene{})
	s.approve("")
	store := []string{"--store", t.TempDir(), "--quiet"}
	e := s.cli(nil, append([]string{"review", "octo/demo#42", "--approve"}, store...)...)
	require.NotContains(t, e.stdout, "POSTED")
	require.Len(t, s.pull.Reviews(), 1)
	s.pushed(moved(s.pull.Tree()).With(githubtest.Tree{"more.go": goFile(1, badRange)}))
	e = s.cli(map[string]string{"GITHUB_TOKEN": ""}, "review", "octo/demo#42", "--no-input", "--store", t.TempDir(),
		"--quiet").ends(0)
	require.Contains(t, e.stdout, titleOf(badCommit), "without a token nothing is known to be ours")
	e = s.cli(nil, append([]string{"review", "octo/demo#42", "--approve"}, store...)...).ends(0)
	require.Contains(t, e.stdout, "POSTED")
	s.once()
}

func TestAReviewOlderThanRecordsCountsByItsAccount(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		for login, counts := range map[string]bool{actionsBot: trust == "", "scan[bot]": false, "rob": false,
			"lee": false} {
			t.Run(login+", trust "+trust, func(t *testing.T) {
				s := across(t, scene{trust: trust})
				aged(longAgo, func(s *stage, d ended) { s.pull.AddReview(login, s.marker(d)) })(s, s.parked())
				s.pushed(moved(s.pull.Tree()))
				outcome := "PAUSED"
				if counts {
					outcome = "CLEAN"
				}
				s.draftJob().start().is(0, outcome)
			})
		}
	}
}

func TestAStrangersArtifactsDoNotHideTheRecordOfAReview(t *testing.T) {
	s := across(t, scene{})
	drafted, _ := s.approve("")
	run := s.repo.AddRun(githubtest.RunOptions{Event: "pull_request",
		HeadRepo: s.hub.AddRepo("mallory/demo", githubtest.RepoOptions{ForkOf: s.repo})})
	later(s)
	run.AddArtifact(reviewpr.Names.Decision(drafted.outputs["code"]), []byte("a stranger's"))
	for range 600 {
		run.AddArtifact("noise", []byte("x"))
	}
	s.pushed(moved(s.pull.Tree()).With(githubtest.Tree{"more.go": goFile(1, badRange)}))
	next := s.parked()
	kept, _ := s.told(next)
	require.Equal(t, []string{titleOf(badRange)}, kept, "the record is asked for by its name")
	s.decideJob(next.outputs["code"], "approve").start().is(0,
		"POSTED").says("Only the newest 500 artifacts of octo/demo were looked through")
	asked := map[string]int{}
	for _, r := range s.hub.Requests() {
		asked[r.Path]++
	}
	require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(asked))), 60)
}
