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
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
)

// TestModulesAreListedWithoutWhatNobodyChanges is of a repository with one folder of tests, which
// belongs to each module: it is listed once.
func TestModulesAreListedWithoutWhatNobodyChanges(t *testing.T) {
	t.Parallel()
	paths := []string{"docs/logo.png", "docs/user.rst", "src/poetry.lock", "src/session.py", "tests/test_session.py"}
	modules := scope.Derive(paths, func(string) []byte { return nil })
	modules[0].Description = "the manual"
	require.Equal(t, `module docs: the manual
  docs/: user.rst
module src
  src/: session.py
tests of every module
  tests/: test_session.py
`, listed(modules, paths))
	modules[1].Tests = []string{"src/tests/**"}
	require.Equal(t, 1, strings.Count(listed(modules, paths), "  tests/: test_session.py\n"))
	require.NotContains(t, listed(modules, paths), "every module")
}

// TestAModuleListsAllOfItsFiles also has more files than a prompt takes: then code is listed first.
func TestAModuleListsAllOfItsFiles(t *testing.T) {
	t.Parallel()
	modules := []config.Module{{Name: "core", Paths: []string{"core/**"}}}
	paths := []string{"core/a/one.go"}
	for n := range 400 {
		paths = append(paths, fmt.Sprintf("core/a/testdata/case-%03d.txt", n))
	}
	paths = append(paths, "core/a/two.go", "core/sync/last.go")
	text := listed(modules, paths)
	require.Contains(t, text, "module core\n  core/a/: one.go, two.go\n  core/a/testdata/: case-000.txt, case-001.txt, ")
	require.Contains(t, text, ", case-399.txt\n  core/sync/: last.go\n")
	for n := range 4000 {
		paths = append(paths, fmt.Sprintf("core/a/testdata/more-%04d.txt", n))
	}
	text = listed(modules, paths)
	require.LessOrEqual(t, len(text), maxListed)
	require.Greater(t, len(text), maxListed/2)
	require.Contains(t, text, "  core/sync/: last.go\n")
	require.Regexp(t, "\n  … and \\d+ more files\n$", text)
}

// TestCriteriaThatTheDescriptionHasAreToldOnce also has one from a field of its own.
func TestCriteriaThatTheDescriptionHasAreToldOnce(t *testing.T) {
	t.Parallel()
	one := ticket.FromMarkdown("PAY-1", "# Debits\n\nToo many.\n\n## Acceptance criteria\n\n- A debit\n  is kept\n- No debit is lost\n")
	require.Len(t, one.Criteria, 2)
	require.Equal(t, "PAY-1 \nDebits\n\n"+one.Description+"\n", told(one))
	one.Criteria = append(one.Criteria, ticket.Criterion{N: 3, Text: "Debits are listed"})
	require.Contains(t, told(one), "\n\nAcceptance criteria:\n1. A debit\nis kept\n2. No debit is lost\n3. Debits are listed\n")
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
