package implement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/tree"
)

// TestModulesAreListedWithoutWhatNobodyChanges is of a repository with one folder of tests, which
// belongs to each module: it is listed once.
func TestModulesAreListedWithoutWhatNobodyChanges(t *testing.T) {
	t.Parallel()
	paths := []string{"docs/logo.png", "docs/user.rst", "src/poetry.lock", "src/session.py", "tests/test_session.py"}
	modules := scope.Derive(paths, func(string) []byte { return nil })
	require.Equal(t, `module docs: no description
  docs/user.rst
module src: no description
  src/session.py
tests of every module:
  tests/test_session.py
`, listed(modules, paths))
	modules[1].Tests = []string{"src/tests/**"}
	require.Equal(t, 1, strings.Count(listed(modules, paths), "  tests/test_session.py\n"))
	require.NotContains(t, listed(modules, paths), "every module")
}

// TestALargeTestThatIsLikelyToChangeIsShownInPart puts it before helpers of tests, and before
// tests whose names are closer to the other files.
func TestALargeTestThatIsLikelyToChangeIsShownInPart(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/session.py": "class Session: pass\n", "tests/__init__.py": "", "tests/compat.py": "import sys\n",
		"tests/test_session_age.py": "def test_age(): pass\n",
		"tests/test_all.py":         strings.Repeat("def test_one(): pass\n", 3000),
	}
	rules := &scope.Rules{Modules: []config.Module{{Name: "src", Paths: []string{"src/**"}, Tests: []string{"tests/**"}}},
		Entries: map[string]diff.Entry{}}
	for p := range files {
		rules.Entries[p] = diff.Entry{Mode: "100644"}
	}
	b := Brief{Base: Base{Tree: tree.Files(files), Rules: rules}, Draft: change.Draft{
		Scope: change.Scope{Likely: []string{"src/session.py", "tests/test_all.py"}}}}
	blocks, err := b.examples(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "test", blocks[0].label)
	head, rest, _ := strings.Cut(blocks[0].text, "\n")
	require.Equal(t, fmt.Sprintf("tests/test_all.py, the first %d lines of 3000", strings.Count(rest, "\n")), head)
	require.InDelta(t, maxExample, len(rest), 30)
	require.True(t, strings.HasPrefix(blocks[1].text, "tests/test_session_age.py\n"), blocks[1].text)
	require.Len(t, blocks, len(files)-1, "all tests and what stands beside them")
}
