package setup_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// What is printed does in a shell what --apply does.
func TestThePrintedCommandsAreThoseOfGH(t *testing.T) {
	s, bin := cloned(t, githubtest.RepoOptions{}), t.TempDir()
	log := filepath.Join(bin, "log")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"),
		[]byte("#!/bin/sh\ncase \"$*\" in *--jq*) echo 4711; exit;; esac\n"+
			"for a; do printf '[%s]' \"$a\"; done >>"+log+"\n"+
			"case \"$*\" in *--input*) cat >>"+log+"; esac; echo >>"+log+"\n"), 0o700))
	c := s.command()
	c.Reviewers = []string{"ada", "acme/maintainers"}
	require.NoError(t, s.run(c))
	for line := range strings.Lines(s.out.String()) {
		require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 84, "only an address is longer than 80")
	}
	_, shell, ok := strings.Cut(s.out.String(), "does it, or:\n")
	require.True(t, ok)
	shell, _, ok = strings.Cut(shell, "\nThen commit")
	require.True(t, ok)
	cmd := exec.Command("sh", "-eu", "-c", shell)
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, `[api][-X][PUT][repos/acme/ledger/environments/ai-review]`+
		`[-F][reviewers[][type]=User][-F][reviewers[][id]=4711][-F][reviewers[][type]=Team][-F][reviewers[][id]=4711]
[api][-X][PUT][repos/acme/ledger/environments/ai-review-model]`+
		`[-F][deployment_branch_policy[protected_branches]=false][-F][deployment_branch_policy[custom_branch_policies]=true]
[api][repos/acme/ledger/environments/ai-review-model/deployment-branch-policies][-f][name=main]
[secret][set][OPENAI_API_KEY][--env][ai-review-model][--repo][acme/ledger]
[label][create][ai-review][--repo][acme/ledger][--description][Asks for a review by pr-review-action]
[api][repos/acme/ledger/actions/policies][--input][-]`+
		`{"conditions":{"workflow_path":{"exclude":[],"include":[".github/workflows/pr-review.yml"]}},`+
		`"enforcement":"active",`+
		`"name":"pr-review","rules":[{"parameters":{"allowed_events":["pull_request_target","workflow_dispatch"]},`+
		`"type":"restrict_action_events"}]}
`, string(said))
}
