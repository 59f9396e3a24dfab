package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// TestD5_AClaimToBeGeneratedSwitchesNothingOff has a model that finds nothing.
func TestD5_AClaimToBeGeneratedSwitchesNothingOff(t *testing.T) {
	t.Parallel()
	key := `key = "` + llmtest.Fakes("story")["github_pat"].Value + `"` + "\n"
	base := baseTree().With(githubtest.Tree{"third_party/a.py": "x = 1\n",
		"libs/core": "Subproject commit " + strings.Repeat("ab", 20) + "\n"})
	for name, c := range map[string]struct {
		head    githubtest.Tree
		asked   []string
		line    string
		partial string
	}{
		"header on an old file": {
			githubtest.Tree{"ops/run.sh": "# @generated\n" + base["ops/run.sh"] + key}, []string{"ops/run.sh"},
			"Hard-coded credential: a live one (github-pat)", "false",
		},
		"new file in vendor": {
			githubtest.Tree{"vendor/a.py": "run() # \u202e\n"}, []string{"vendor/a.py"}, "Hidden characters", "false",
		},
		"lockfile of the base": {githubtest.Tree{"go.sum": key}, nil,
			"<code>go.sum</code>, line 1: Hard-coded credential", "false"},
		"folder of the base": {githubtest.Tree{"third_party/b.py": key}, nil,
			"<code>third_party/b.py</code>, line 1: Hard-coded credential", "false"},
		"long line": {
			githubtest.Tree{"web/cart.ts": base["web/cart.ts"] + strings.Repeat("a=1;", 30_000) + "\n"},
			[]string{"web/cart.ts"},
			"Partly (64 KB of its changes were read; minified by its own word, not by the base's): `web/cart.ts`",
			"true",
		},
		"binary": {githubtest.Tree{"tools/run": "\x00" + key}, nil,
			"Skipped (binary by its own word, not by the base's): `tools/run`", "true"},
		"submodule": {githubtest.Tree{"libs/core": "Subproject commit " + strings.Repeat("cd", 20) + "\n"}, nil,
			"Skipped (another commit of a submodule, whose changes are not shown here): `libs/core`", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{base: base, head: base.With(c.head), script: silent})
			drafted := s.parked()
			require.Contains(t, drafted.summary, c.line)
			require.Equal(t, c.partial, drafted.outputs["partial"])
			asked := s.askedAbout()
			require.Len(t, asked, len(c.asked))
			for _, path := range c.asked {
				require.Equal(t, 1, asked[path])
			}
		})
	}
}
