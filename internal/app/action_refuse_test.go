package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

func TestCheck12_ReachingThePostingJobProvesNothing(t *testing.T) {
	t.Parallel()
	t.Run("the environment was made without rules", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
		s.repo.AddEnvironment("review")
		s.postJob(drafted.digest()).with("environment", "review").start().is(3, "REFUSED").
			says("nobody has approved this draft, nothing was posted",
				`the environment "review" let this job start without an approval`,
				"add required reviewers to it under Settings, Environments").
			shows("The decision on #42 was refused, nothing was posted")
		s.untouched()
	})
	t.Run("another environment was approved", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.run.Approve("production", "maya", "")
		s.postJob(drafted.digest()).start().is(3, "REFUSED").says("nobody has approved this draft")
		s.untouched()
	})
	t.Run("it still waits", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.run.Decide(gateName, "pending", "maya", "")
		s.postJob(drafted.digest()).start().is(3, "REFUSED")
		s.untouched()
	})
	t.Run("the workflow says approve itself", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.postJob("").with("code", drafted.outputs["code"], "decision", "approve").start().is(3,
			"REFUSED").says("nobody has approved")
		s.postJob("").with("code", drafted.outputs["code"], "decision", "approve", "environment", "").start().is(2,
			"").says("the input environment is missing")
		s.untouched()
	})
	t.Run("two approvals differ", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.approved("/drop F1")
		s.run.Approve(gateName, "sam", "/drop F2")
		s.postJob(drafted.digest()).start().is(3, "REFUSED").says("two approvals of this draft say different things")
		s.untouched()
	})
}

func TestCheck1_DraftThatIsNotThere(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(16 * 24 * time.Hour).Format(time.RFC3339)
	for name, tc := range map[string]struct {
		arm     func(*stage, ended) *job
		outcome string
		says    string
	}{
		"wrong code": {func(s *stage, _ ended) *job {
			return s.decideJob("0123456789abcdef", "approve")
		}, "REFUSED", "no draft of this name was found"},
		"other pull request": {func(s *stage, d ended) *job {
			s.repo.AddPull(githubtest.PullOptions{Number: 43, HeadFiles: headTree()})
			return s.decideJob(d.outputs["code"], "approve").with("draft", "43-"+d.outputs["code"])
		}, "REFUSED", "no draft of this name was found"},
		"expired artifact": {func(s *stage, d ended) *job {
			s.draftArtifact(d)
			expire(s, d)
			return s.decideJob(d.outputs["code"], "approve")
		},
			"EXPIRED", "its artifact is gone"},
		"expired on route A": {func(s *stage, d ended) *job {
			expire(s, d)
			s.approved("")
			return s.postJob(d.digest())
		},
			"EXPIRED", "its artifact is gone"},
		"expired and listed no more": {func(s *stage, d ended) *job {
			expire(s, d)
			s.hub.HidesExpired = true
			return s.decideJob(d.outputs["code"], "approve")
		}, "REFUSED", "if they are right, it has expired"},
		"expired and listed no more, of a run that is known": {func(s *stage, d ended) *job {
			expire(s, d)
			s.hub.HidesExpired = true
			return s.decideJob(d.outputs["code"], "approve").with("run-id", d.outputs["run-id"]).set("NOW", later)
		}, "EXPIRED", "its artifact is gone"},
		"expired and listed no more, on route A": {func(s *stage, d ended) *job {
			expire(s, d)
			s.hub.HidesExpired = true
			s.approved("")
			return s.postJob(d.digest()).set("NOW", later)
		}, "EXPIRED", "its artifact is gone"},
		"gone at the download": {func(s *stage, d ended) *job {
			s.hub.Fail("GET", "/repos/octo/demo/actions/artifacts/*/zip", githubtest.Fault{Status: 410})
			return s.decideJob(d.outputs["code"], "approve")
		}, "EXPIRED", "its artifact is gone"},
		"of another repository": {func(s *stage, d ended) *job {
			s.hub.Fail("GET", "/repos/octo/demo/actions/artifacts",
				githubtest.Fault{Status: 200, Times: 1, Body: listing(s, d, s.repo.ID+1)})
			return s.decideJob(d.outputs["code"], "approve")
		}, "REFUSED", "the draft was made by another repository"},
		"of a run that is not told": {func(s *stage, d ended) *job {
			s.hub.Fail("GET", "/repos/octo/demo/actions/artifacts", untold(s, d))
			return s.decideJob(d.outputs["code"], "approve")
		}, "REFUSED", "without its run nothing says who made it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			tc.arm(s, drafted).start().is(3, tc.outcome).says(tc.says, "next")
			s.untouched()
		})
	}
}

// untold is a list with the draft's artifact that leaves out which run stored it, as
// GitHub's description allows.
func untold(s *stage, drafted ended) githubtest.Fault {
	list, _, _ := strings.Cut(listing(s, drafted, 0), `"workflow_run"`)
	return githubtest.Fault{Status: 200, Times: 1, Body: list + `"workflow_run":null}]}`}
}

func TestCheck4_ARunsOwnListTellsTheRun(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	own := fmt.Sprintf("/repos/octo/demo/actions/runs/%d/artifacts", s.run.ID)
	s.hub.Fail("POST", "**/ListArtifacts", githubtest.Fault{Status: 404})
	s.hub.Fail("GET", own, untold(s, drafted))
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	s.posted()
	require.True(t, slices.ContainsFunc(s.hub.Requests(), func(r githubtest.Request) bool { return r.Path == own }))
}

// A record whose run is not told cannot be one of a stranger's run, which is always told.
func TestCheck13_ARecordWhoseRunIsNotToldCounts(t *testing.T) {
	s := setUp(t, scene{})
	code := s.parked().outputs["code"]
	abort := s.decideJob(code, "abort")
	abort.start().is(0, "ABORTED")
	abort.run.Untell()
	s.refused(s.decideJob(code, "approve").start(), "already been decided differently", "abort by maya")
}

// expire ends the life of a draft's artifact, by the server's clock.
func expire(s *stage, drafted ended) {
	s.hub.Advance(time.Until(s.draftArtifact(drafted).ExpiresAt) + time.Hour)
}

// listing is a list of artifacts that holds the draft's, of a repository.
func listing(s *stage, drafted ended, repoID int64) string {
	a := s.draftArtifact(drafted)
	return fmt.Sprintf(`{"total_count":1,"artifacts":[{"id":%d,"node_id":"A","name":%q,"size_in_bytes":%d,"url":"x",
		"archive_download_url":"x","expired":false,
		"created_at":null,"expires_at":null,"updated_at":null,"digest":%q,"workflow_run":{"id":%d,"repository_id":%d,
		"head_repository_id":%d,"head_branch":"main","head_sha":"x"}}]}`,
		a.ID, a.Name, a.Size, a.Digest, s.run.ID, repoID, repoID)
}

func TestCheck2_EditedArtifact(t *testing.T) {
	t.Parallel()
	t.Run("route A, in the same run (T20)", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.approved("")
		s.draftArtifact(drafted).Replace(append(s.draftArtifact(drafted).Zip(), 0))
		s.postJob(drafted.digest()).start().is(3, "REFUSED").says("the artifact is not the draft that was shown")
		s.untouched()
	})
	t.Run("route B", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		z := s.draftArtifact(drafted).Zip()
		z[len(z)/2] ^= 1
		s.draftArtifact(drafted).Replace(z)
		s.decideJob(drafted.outputs["code"], "approve").start().is(3,
			"REFUSED").says("the artifact is not the draft that was shown")
		s.untouched()
	})
	t.Run("deleted and uploaded anew in the same run", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		z := s.draftArtifact(drafted).Zip()
		z[len(z)/2] ^= 1
		s.run.AddArtifact(drafted.outputs["artifact-name"], z) // the newest of its name is taken
		s.approved("")
		s.postJob(drafted.digest()).start().is(3, "REFUSED").says("the artifact is not the draft that was shown",
			"shown", "found")
		s.untouched()
	})
}

func TestCheck1_AnArtifactWithoutAByte(t *testing.T) {
	t.Parallel()
	swap := func(s *stage, drafted ended) { s.draftArtifact(drafted).Replace(nil) }
	for name, c := range map[string]struct {
		empty func(*stage, ended)
		says  string
		job   func(*stage, ended) *job
	}{
		"route A, stored so": {
			func(s *stage, drafted ended) { s.run.AddArtifact(drafted.outputs["artifact-name"], nil) },
			"a size that no draft has", func(s *stage, drafted ended) *job { return s.postJob(drafted.digest()) },
		},
		"route A, swapped": {
			swap, "a size that no draft has", func(s *stage, drafted ended) *job { return s.postJob(drafted.digest()) },
		},
		"route B, swapped": {
			swap, "not the draft that was shown",
			func(s *stage, drafted ended) *job { return s.decideJob(drafted.outputs["code"], "approve") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.approved("")
			c.empty(s, drafted)
			c.job(s, drafted).start().is(3, "REFUSED").says(c.says, "start a new draft")
			s.untouched()
		})
	}
}

func TestCheck3_TruncatedCheckpoint(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	for _, keep := range []int{1, 100, len(s.draftArtifact(drafted).Zip()) - 1} {
		z := s.draftArtifact(drafted).Zip()[:keep]
		code := checkpoint.Code(checkpoint.Digest(z))
		s.run.AddArtifact("pr-review-42-"+code, z)
		s.decideJob(code, "approve").start().is(3, "REFUSED").says("the checkpoint cannot be read")
	}
	s.untouched()
}

// forged is a sound checkpoint of the draft with another manifest.
func (s *stage) forged(drafted ended, change func(*checkpoint.Manifest)) checkpoint.Draft {
	s.t.Helper()
	o := s.opened(drafted)
	change(&o.Manifest)
	packed, err := checkpoint.Protection{}.Pack(o.Manifest, o.Snapshot, o.Shown)
	require.NoError(s.t, err)
	return packed
}

func TestT19_Check4_DraftsOfOtherRuns(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*stage) githubtest.RunOptions{
		"a fork's run": func(s *stage) githubtest.RunOptions {
			return githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork}
		},
		"another workflow": func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{Path: ".github/workflows/ci.yml"}
		},
		"another event": func(*stage) githubtest.RunOptions { return githubtest.RunOptions{Event: "push"} },
		"a dispatch of a branch": func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{Event: "workflow_dispatch", HeadBranch: "topic"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{fork: true, author: "sam"})
			drafted := s.parked()
			options := run(s)
			options.HeadSHA = s.pull.HeadSHA()
			other := s.repo.AddRun(options)
			forged := s.forged(drafted, func(m *checkpoint.Manifest) { m.RunID = other.ID })
			other.AddArtifact("pr-review-42-"+forged.Code, forged.Zip)
			s.decideJob(forged.Code, "approve").start().is(3,
				"REFUSED").says("the draft was made by a run that may not make drafts", "found", "wanted")
			s.untouched()

			// The same bytes under the same name, newer than ours: ours is taken.
			copied := s.repo.AddRun(options)
			copied.AddArtifact(drafted.outputs["artifact-name"], s.draftArtifact(drafted).Zip())
			s.decideJob(drafted.outputs["code"], "approve").with("run-id", fmt.Sprint(copied.ID)).start().is(3,
				"REFUSED").
				says("the draft was made by a run that may not make drafts")
			s.untouched()
			s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
		})
	}
}

func TestT19_Check4_CopyInAnotherRunOfTheSameWorkflow(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	other := s.repo.AddRun(githubtest.RunOptions{})
	other.AddArtifact(drafted.outputs["artifact-name"], s.draftArtifact(drafted).Zip())
	s.decideJob(drafted.outputs["code"], "approve").with("run-id", fmt.Sprint(other.ID)).start().is(3, "REFUSED").
		says("the draft names another run than the one that stored it", fmt.Sprint("run ", s.run.ID))
	s.untouched()
	s.decideJob(drafted.outputs["code"], "approve").with("run-id", fmt.Sprint(s.run.ID)).start().is(0, "POSTED")
}

func TestCheck6And7_DraftsOfAnotherFormatOrPullRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*checkpoint.Manifest)
		says   string
	}{
		"graph version": {func(m *checkpoint.Manifest) {
			m.Graph.Version = 99
		}, "the draft comes from a graph that this version does not know"},
		"number": {func(m *checkpoint.Manifest) { m.Subject.Number = 7 }, "the draft is of another pull request"},
		"repository": {func(m *checkpoint.Manifest) {
			m.Subject.RepositoryID++
		}, "the draft is of another pull request"},
		"thread": {func(m *checkpoint.Manifest) {
			m.Thread = "octo/demo#7:" + m.Subject.Head
		}, "the draft is of another pull request"},
		"instance": {func(m *checkpoint.Manifest) {
			m.Subject.Instance = "docs"
		}, "the draft is of another pull request"},
		"gate": {func(m *checkpoint.Manifest) { m.GateID = strings.Repeat("0", 64) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			forged := s.forged(s.parked(), tc.change)
			s.run.AddArtifact("pr-review-42-"+forged.Code, forged.Zip)
			e := s.decideJob(forged.Code, "approve").start().says(tc.says)
			require.NotZero(t, e.code)
			if tc.says != "" {
				e.is(3, "REFUSED")
			}
			s.untouched()
		})
	}
}

func TestCheck10_ExpiredDraft(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.draftJob().with("expires", "1h").start().is(0, "PAUSED")
	s.approved("")
	m := s.opened(drafted).Manifest
	require.Equal(t, time.Hour, m.ExpiresAt.Sub(m.CreatedAt))
	late := s.postJob(drafted.digest()).set("NOW", m.ExpiresAt.Add(time.Second).Format(time.RFC3339))
	late.start().is(3, "EXPIRED").says("the draft was not decided in time",
		"start a new draft").shows("The draft for #42 has expired")
	s.untouched()
	s.postJob(drafted.digest()).set("NOW", m.ExpiresAt.Format(time.RFC3339)).start().is(0, "POSTED")
}
