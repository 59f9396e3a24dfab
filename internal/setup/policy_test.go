package setup_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
)

// A public repository's workflow starts by the policies that cover it. None is added where another is in the way.
func TestTheEventOfAPublicRepositoryNeedsAPolicy(t *testing.T) {
	policy := func(enforcement string, workflows []string, events ...string) map[string]any {
		p := write.EventPolicy("a", "", events...)
		p["enforcement"] = enforcement
		p["conditions"] = map[string]any{"workflow_path": map[string][]string{"include": workflows,
			"exclude": {".github/workflows/*-decide.yml"}}}
		return p
	}
	both, all := []string{"pull_request_target", "workflow_dispatch"}, []string{"~ALL"}
	other, glob := []string{"**/ci.yml"}, []string{".github/workflows/*.yml"}
	exceptOurs := policy("active", all, both...)
	exceptOurs["conditions"] = map[string]any{"workflow_path": map[string][]string{"include": {}, "exclude": glob}}
	for name, c := range map[string]struct {
		policies []map[string]any
		hidden   bool
		state    string
		found    string
		applied  string
	}{
		"none":                {nil, false, "no", "unless a policy allows it", "done"},
		"not enforced":        {[]map[string]any{policy("evaluate", all, both...)}, false, "no", "unless a policy", "done"},
		"of another workflow": {[]map[string]any{policy("active", other, both...)}, false, "no", "unless", "done"},
		"left out by a glob":  {[]map[string]any{exceptOurs}, false, "no", "unless a policy", "done"},
		"by a glob":           {[]map[string]any{policy("active", glob, both...)}, false, "ok", `"a" allows`, "there"},
		"another event":       {[]map[string]any{policy("active", all, "push")}, false, "no", `"a" does not allow`, "to do"},
		"one of the events":   {[]map[string]any{policy("active", all, both[0])}, false, "no", `"a" does not allow`, "to do"},
		"two that differ": {[]map[string]any{policy("active", all, "push"), policy("active", all, both...)}, false,
			"unseen", `and "a" does not`, "to do"},
		"not to be seen": {nil, true, "unseen", "unless a policy allows it", "to do"},
	} {
		t.Run(name, func(t *testing.T) {
			s := cloned(t, githubtest.RepoOptions{Files: githubtest.Tree{draftPath: shipped(t, draftPath)}})
			for _, p := range c.policies {
				s.repo.AddActionsPolicy(p)
			}
			if c.hidden {
				s.hub.Fail("GET", "/repos/acme/ledger/actions/policies", githubtest.Fault{Status: http.StatusNotFound})
			}
			found, _ := s.checked()
			event := found["event pull_request_target"]
			require.Equal(t, c.state, event.State, event.Found)
			require.Contains(t, event.Found, c.found)
			states, err := s.applied(s.command())
			require.NoError(t, err)
			require.Equal(t, c.applied, states[4])
			require.Equal(t, c.hidden, strings.Contains(s.out.String(), "this token may not see the policies"))
		})
	}
}

// Without a token a person says whether the repository is public, or init says what a public one needs.
func TestWithoutATokenAPublicRepositoryIsKnownByTheAnswer(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "actions/policies", "n\n": "", "": "whether it is public: if so"} {
		// GitHub shows it to nobody without a token
		s := cloned(t, githubtest.RepoOptions{Private: true})
		s.git("checkout", "-q", "-b", "trunk")
		s.environ = []string{"GITHUB_API_URL=" + s.hub.URL}
		c := s.command()
		c.Asks, c.Stdin = answer != "", strings.NewReader(answer+"n\n\n")
		require.NoError(t, s.run(c))
		said := strings.Join(strings.Fields(s.out.String()), " ")
		for _, all := range []string{"actions/policies", "whether it is public: if so"} {
			require.Equal(t, all == want, strings.Contains(said, all), "%q: %s", answer, said)
		}
		require.Contains(t, said, `-f name="$(gh api repos/acme/ledger --jq .default_branch)"`)
	}
}
