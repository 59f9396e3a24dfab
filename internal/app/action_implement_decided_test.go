package app_test

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// TestATicketIsDraftedAnewAfterARejection dispatches a ticket again whose draft was rejected:
// under each trust the next draft can be decided, and the rejected one cannot.
func TestATicketIsDraftedAnewAfterARejection(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"digest", "seal", "encrypt"} {
		t.Run(trust, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			under := func(j *job) *job { return j.with("trust", trust, "checkpoint-key", checkpointKey) }
			at := func(minutes time.Duration) string {
				return time.Now().Add(minutes * time.Minute).UTC().Format(time.RFC3339Nano)
			}
			draft := func(now string) string {
				drafted := under(s.ticketDraft().with("environment", "")).set("NOW", now).start().is(0, "PAUSED")
				s.run.Finish("success")
				s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch",
					Actor: "lee"})
				return drafted.outputs["code"]
			}
			decide := func(code, verdict string) *job { return under(s.ticketDecision(code, "", verdict, "")) }
			first, beside := draft(at(0)), draft(at(0))
			decide(first, "abort").set("NOW", at(1)).start().is(0, "ABORTED")
			if trust != "digest" { // a revision does not get round what an approval is refused for
				decide(beside, "approve").start().is(3, "REFUSED").says("has already been rejected")
				under(s.ticketDraft().with("environment", "", "mode", "revise", "code", beside, "feedback", "Shorter.")).
					start().is(3, "REFUSED").says("has already been rejected")
			}
			second := draft(at(2))
			decide(first, "approve").start().is(3, "REFUSED").says("already been decided differently")
			decide(second, "approve").start().is(0, "POSTED")
			s.applied(roundBranch, roundFixed())
		})
	}
}

// TestAnApprovalThatATicketsDraftCannotTakeIsVoid approves with what no draft of files can
// take: it is named as void, and a second approval decides.
func TestAnApprovalThatATicketsDraftCannotTakeIsVoid(t *testing.T) {
	t.Parallel()
	for comment, why := range map[string]string{
		"/drop pay/*": "nothing is left to apply", "/edit F1: x": "dropped by their paths",
		"/drop nosuch.go": `"nosuch.go" is not a path of this draft`,
	} {
		t.Run(comment, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			drafted := s.ticketDraft().start().is(0, "PAUSED")
			s.approved(comment)
			s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says(why).shows("**Void**", "maya: ")
			s.unpushed()
			s.approved("/drop pay/half_test.go: later")
			s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED").shows("pay/half_test.go dropped: later")
			tree := roundFixed()
			delete(tree, "pay/half_test.go")
			s.applied(roundBranch, tree)
		})
	}
}

func TestATicketsCountsNameNoFile(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("summary", "counts").start().is(0, "PAUSED")
	s.approved("/drop pay/half_test.go: later")
	applied := s.ticketJob("apply", drafted.digest()).with("summary", "counts").start().is(0, "POSTED")
	applied.shows("- F2 dropped\n")
	require.NotContains(t, applied.summary, "half_test")
}

// TestATicketsSummarySaysWhatBecameOfIt reads the summaries of jobs that carry nothing out.
func TestATicketsSummarySaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	s.ticketJob("record", drafted.digest()).start().is(0, "PAUSED").shows("The draft for `gh-7` was not rejected")
	s.run.Wait(gateName)
	s.run.Approve(gateName, "lee", "")
	s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says("who asked for the draft decided").
		shows("```\nthe person who asked for the draft decided, nothing was posted\n  who     lee\n")
	s.approved("")
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = true })
	failed := s.ticketJob("apply", drafted.digest()).start().is(1, "FAILED")
	failed.shows("The change for `gh-7` could not be carried out", "\n  next    allow it at Settings")
	require.NotContains(t, failed.summary, "could be drafted")
}

// TestT19_Check4_OnlyADispatchDraftsATicket holds that a ticket's draft of another event, or of
// another branch, is told of before it is paid for, and refused.
func TestT19_Check4_OnlyADispatchDraftsATicket(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]githubtest.RunOptions{
		"pull_request":        {Event: "pull_request", HeadBranch: "topic"},
		"pull_request_target": {Event: "pull_request_target"},
		"schedule":            {Event: "schedule"},
		"another branch":      {Event: "workflow_dispatch", HeadBranch: "topic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			run.Path, run.Actor = implementPath, "lee"
			s.run = s.repo.AddRun(run)
			of := func(j *job) *job {
				j.event = run.Event
				return j.set("GITHUB_REF", "refs/heads/"+cmp.Or(run.HeadBranch, "main"))
			}
			drafted := of(s.ticketDraft()).start().is(0, "PAUSED").
				says("::warning::no draft of this run can be decided")
			s.approved("")
			of(s.ticketJob("apply", drafted.digest())).start().is(3, "REFUSED").says("a run that may not make drafts")
			s.unpushed()
		})
	}
}

func TestCheck4_ATicketsDraftOfAnotherFileIsToldOfIfADispatchDecides(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	const file = ".github/workflows/tickets.yml"
	s.run = s.repo.AddRun(githubtest.RunOptions{Path: file, Event: "workflow_dispatch", Actor: "lee"})
	draft := func() *job { return s.ticketDraft().set("GITHUB_WORKFLOW_REF", "octo/demo/"+file+"@refs/heads/main") }
	require.NotContains(t, draft().start().is(0, "PAUSED").log, "draft-workflow")
	draft().with("again", "true", "environment", "").start().is(0, "PAUSED").
		says("this run is of " + file + ", and a dispatch decides drafts of " + implementPath +
			": name the file with draft-workflow")
}

// TestATroubleOfATicketsJobNamesWhatToDoNext meets answers that no retry fixes.
func TestATroubleOfATicketsJobNamesWhatToDoNext(t *testing.T) {
	t.Parallel()
	const service = "/twirp/github.actions.results.api.v1.ArtifactService/"
	type fault = githubtest.Fault
	for name, c := range map[string]struct {
		method, path string
		fault        fault
		says         string
	}{
		"no answer":     {"GET", "/repos/octo/demo", fault{DropConnection: true}, "EOF"},
		"another form":  {"GET", "/repos/octo/demo/pulls", fault{Status: 200, Body: "{}"}, "the answer lacks fields"},
		"nothing in it": {"GET", "/repos/octo/demo", fault{Status: 200, Body: "{}"}, "the answer lacks fields"},
		"a ruleset":     {"POST", "/repos/octo/demo/git/refs", fault{Status: 422}, "answered 422"},
		"no right":      {"POST", service + "CreateArtifact", fault{Status: 403}, "answered 403"},
		"no reason":     {"POST", service + "FinalizeArtifact", fault{Status: 200, Body: "{}"}, "gave no reason"},
		"a web page": {"GET", "/repos/octo/demo", fault{Status: 200, Headers: map[string]string{
			"Content-Type": "text/html"}, Body: "<html>"}, "no proxy or other server answers"},
		"a branch that moves": {"POST", "/graphql", fault{Status: 200,
			Body: `{"data":null,"errors":[{"type":"STALE_DATA","message":"it did not"}]}`}, "the branch has moved"},
		"no run any more": {"GET", "/repos/octo/demo/actions/runs/*", fault{Status: 404}, "was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			drafted := s.ticketDraft().start().is(0, "PAUSED")
			s.approved("")
			s.hub.Fail(c.method, c.path, c.fault)
			applied := s.ticketJob("apply", drafted.digest()).start()
			require.NotZero(t, applied.code)
			applied.says(c.says, "\n  next  ")
			require.NotContains(t, applied.log, "unmarshal")
			s.hub.ClearFaults()
			s.run.Rerun() // an upload that did not end keeps its name in its attempt
			s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
		})
	}
}

// TestP4_ADraftWhoseNameIsTakenIsGoneOnWith loses the answer that reserves the draft's name, at a
// service that gives the name to nobody again. The next attempt stores the same draft without a
// question to the model.
func TestP4_ADraftWhoseNameIsTakenIsGoneOnWith(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	s.hub.Fail("POST", "/twirp/github.actions.results.api.v1.ArtifactService/CreateArtifact",
		githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	s.ticketDraft().start().is(1, "FAILED").says("the name is taken", "\n  next    re-run the failed jobs")
	paid := len(s.model.Requests())
	s.run.Rerun()
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	require.Len(t, s.model.Requests(), paid)
	s.approved("")
	s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
	s.applied(roundBranch, roundFixed())
}

// TestCommandsForATicketSuggestPaths refuses in the input commands what no draft of files can take.
func TestCommandsForATicketSuggestPaths(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	for _, text := range []string{"/keep pay/round.go", "/severity pay/round.go nit", "/edit pay/round.go: x", "/drop"} {
		e := s.ticketDecision(drafted.outputs["code"], "", "approve", text).start().is(3, "REFUSED")
		e.says("dropped by their paths", "did you mean /drop pay/half_test.go: REASON")
		require.NotContains(t, e.log, "finding")
	}
	s.unpushed()
}

// TestTextsOfATicketsJobsAreAboutTickets reads what is said where only a review could do it.
func TestTextsOfATicketsJobsAreAboutTickets(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	e := s.ticketDraft().with("fail-on", "nit", "instance", "docs", "gate-from", "minor").start().is(0, "PAUSED")
	require.NotContains(t, e.log, "what was posted before")
	s.approved("")
	s.ticketJob("apply", e.digest()).start().is(0, "POSTED")
	s.hub.Fail("POST", "/repos/octo/demo/issues/*/comments", githubtest.SecondaryLimit(403, time.Second))
	limited := s.ticketJob("comment-issue", e.digest()).start().is(1, "FAILED")
	limited.shows("No comment was left on `gh-7`")
	require.NotContains(t, limited.log, "issues: write")
	s.hub.ClearFaults()
	s.ticketJob("comment-issue", e.digest()).may(map[string]string{"issues": "read", "pull_requests": "read",
		"contents": "read"}).start().is(1, "FAILED").says("issues: write")
	keyless := s.ticketDraft().with("ticket", "#7", "api-key", "", "base-url", "")
	s.repo.Commit("main", "another base", roundTree().With(githubtest.Tree{"x": "y"}))
	e = keyless.start().is(2, "").says("rules write no code", "api-key")
	require.NotContains(t, e.log, "--base-url")
}

// TestT27_ATicketsPatchIsItsChange takes the patch out of the artifact: it makes of the base
// what the branch gets. One that shows another change is refused, and an earlier version's
// draft, which has none, is carried out.
func TestT27_ATicketsPatchIsItsChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(patch string) string
		says   string
	}{
		"as drafted": {func(patch string) string { return patch }, ""},
		"none":       {func(string) string { return "" }, ""},
		"another change": {func(p string) string {
			return strings.Replace(p, "+ 0.5", "+ 0.4", 1)
		}, "does not ask what"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			drafted := s.ticketDraft().start().is(0, "PAUSED")
			drafted.shows("`change.patch` in the artifact `pr-implement-gh-7-")
			o := s.opened(drafted)
			require.Equal(t, roundFixed(), patched(t, roundTree(), o.Patch))
			forged, err := checkpoint.Protection{}.Pack(o.Manifest, o.Snapshot,
				checkpoint.Shown{Review: o.Review, Patch: c.change(o.Patch)})
			require.NoError(t, err)
			require.Equal(t, name == "as drafted", forged.Digest == drafted.digest(), "the digest covers it")
			s.run.AddArtifact("pr-implement-gh-7-"+forged.Code, forged.Zip)
			s.approved("")
			decided := s.ticketJob("apply", forged.Digest).start()
			if c.says != "" {
				decided.is(3, "REFUSED").says(c.says)
				s.unpushed()
				return
			}
			decided.is(0, "POSTED")
			s.applied(roundBranch, roundFixed())
		})
	}
}

// patched is a tree with a patch applied by Git.
func patched(t *testing.T, before githubtest.Tree, patch string) githubtest.Tree {
	t.Helper()
	dir := t.TempDir()
	for path, text := range before {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(patch)
	out, err := apply.CombinedOutput()
	require.NoError(t, err, "%s", out)
	after := githubtest.Tree{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(filepath.Join(dir, path))
			after[path] = string(text)
		}
		return err
	}))
	return after
}

// TestATicketWhoseDraftCannotBeApprovedIsDraftedAgainByItsRun re-runs the drafting job of a draft that was not decided
// in time, and of one that waits for another environment than the job names by now.
func TestATicketWhoseDraftCannotBeApprovedIsDraftedAgainByItsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		environment string
		after       time.Duration
		same        bool
	}{
		"in time": {"", 24 * time.Hour, true}, "expired": {"", 72 * time.Hour, false},
		"another gate": {gateName, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			first := s.ticketDraft().with("environment", "", "expires", "48h").start().is(0, "PAUSED")
			s.run.Finish("failure")
			s.run.Rerun()
			now := time.Now().Add(c.after).UTC().Format(time.RFC3339)
			again := s.ticketDraft().with("environment", c.environment, "expires", "48h").set("NOW", now).start().
				is(0, "PAUSED")
			require.Equal(t, c.same, first.digest() == again.digest())
			if c.environment != "" {
				s.approved("")
				s.ticketJob("apply", again.digest()).start().is(0, "POSTED")
				return
			}
			s.run.Finish("success")
			s.ticketDecision(again.outputs["code"], "", "approve", "").set("NOW", now).start().is(0, "POSTED")
		})
	}
}

// TestATicketsDraftThatFollowsARejectedOneIsKeptByItsRun re-runs the drafting job twice, once after a rejection.
func TestATicketsDraftThatFollowsARejectedOneIsKeptByItsRun(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	draft := func(hours time.Duration) ended {
		s.run.Finish("failure")
		s.run.Rerun()
		now := time.Now().Add(hours * time.Hour).UTC().Format(time.RFC3339)
		return s.ticketDraft().with("environment", "").set("NOW", now).start().is(0, "PAUSED")
	}
	first := draft(0)
	s.ticketDecision(first.outputs["code"], "", "abort", "").start().is(0, "ABORTED")
	second := draft(1)
	require.NotEqual(t, first.digest(), second.digest())
	require.Equal(t, second.digest(), draft(2).digest())
	s.ticketDecision(second.outputs["code"], "", "abort", "").start().is(0, "ABORTED")
	require.NotEqual(t, second.digest(), draft(3).digest())
}
