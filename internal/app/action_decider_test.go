package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT26_Check12_WhoMayNotDecideByDispatch(t *testing.T) {
	as := func(login string) func(*job) {
		return func(j *job) { j.set("GITHUB_ACTOR", login).set("GITHUB_TRIGGERING_ACTOR", login) }
	}
	const write = "the decision is by somebody who may not write here"
	for name, tc := range map[string]struct {
		arm  func(*job)
		says []string
	}{
		"the author":               {as("lee"), []string{"the author of the pull request decided", "let somebody else decide, or set allow-author: true"}},
		"a bot":                    {as("machine"), []string{"a bot decided", "a person decides"}},
		"an app, which is no user": {as("helper[bot]"), []string{"a bot decided"}},
		"an account that is gone":  {as("gone"), []string{write}},
		"a reader":                 {as("rob"), []string{write, `permission "read"`, "write, maintain or admin"}},
		"triage":                   {as("tess"), []string{write}}, // GitHub tells of triage as read
		"a stranger":               {as("eve"), []string{write}},
		"somebody else's re-run": {func(j *job) { j.set("GITHUB_TRIGGERING_ACTOR", "sam") },
			[]string{"dispatched by one person and started again by another", `dispatched by "maya", started by "sam"`, "Run workflow, not Re-run"}},
		"of a branch (T39)": {func(j *job) { j.set("GITHUB_REF", "refs/heads/topic") },
			[]string{"the decision was dispatched from another branch than the default one", "found   refs/heads/topic", "without --ref"}},
		"of a tag called like the branch (T39)": {func(j *job) { j.set("GITHUB_REF", "refs/tags/main") }, []string{"from another branch than the default one"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.Permit("tess", "triage")
			s.hub.AddUser("eve", "User")
			s.hub.AddUser("machine", "Bot")
			s.repo.Permit("machine", "write")
			code := s.parked().outputs["code"]
			for _, decision := range []string{"approve", "abort"} {
				j := s.decideJob(code, decision)
				tc.arm(j)
				s.refused(j.start(), append(tc.says, "nothing was posted")...)
			}
			s.decideJob(code, "approve").start().is(0, "POSTED") // what was refused decided nothing
		})
	}
}

func TestT26_Check12_WhoMayNotDecideByApproval(t *testing.T) {
	for name, tc := range map[string]struct{ who, says string }{
		"the author": {"lee", "the author of the pull request decided"},
		"a bot":      {"helper[bot]", "a bot decided"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.run.Approve(gateName, tc.who, "")
			s.refused(s.postJob(drafted.digest()).start(), tc.says, "let somebody")
		})
	}
}

func TestCheck12_TheAuthorMayWhereThatIsAllowed(t *testing.T) {
	t.Run("route A", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.run.Approve(gateName, "lee", "")
		s.postJob(drafted.digest()).with("allow-author", "true").start().is(0, "POSTED")
		require.Contains(t, s.posted().Body, "approved by lee")
	})
	t.Run("route B", func(t *testing.T) {
		s := setUp(t, scene{})
		j := s.decideJob(s.parked().outputs["code"], "approve").with("allow-author", "true")
		j.set("GITHUB_ACTOR", "lee").set("GITHUB_TRIGGERING_ACTOR", "lee").start().is(0, "POSTED")
	})
	t.Run("and no bot with them", func(t *testing.T) {
		s := setUp(t, scene{author: "helper[bot]", base: baseTree().With(map[string]string{".github/pr-review.yml": "admission:\n  bots: review\n"})})
		s.repo.Permit("helper[bot]", "write")
		j := s.decideJob(s.parked().outputs["code"], "approve").with("allow-author", "true")
		s.refused(j.set("GITHUB_ACTOR", "helper[bot]").set("GITHUB_TRIGGERING_ACTOR", "helper[bot]").start(), "a bot decided")
	})
}
