package dataset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
)

func starter(t testing.TB) []dataset.Case {
	t.Helper()
	cases, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	return cases
}

// suffix says what a case of the set is for; its id ends with it.
func suffix(c dataset.Case) string { return c.ID[strings.LastIndexByte(c.ID, '-')+1:] }

func TestTheStarterSetHasFiveCasesInEachOfEightLanguages(t *testing.T) {
	t.Parallel()
	var languages []string
	kinds := map[string][]string{}
	for i, c := range starter(t) {
		if suffix(c) == "tree" {
			continue
		}
		if i%5 == 0 {
			languages = append(languages, c.Language)
		}
		require.Equal(t, languages[len(languages)-1], c.Language, c.ID)
		require.True(t, strings.HasPrefix(c.ID, c.Language+"-"), c.ID)
		require.Equal(t, []string{"MIT", "starter"}, []string{c.Licence, c.SourceDataset}, c.ID)
		kinds[suffix(c)] = append(kinds[suffix(c)], c.Language)
	}
	all := []string{"go", "typescript", "python", "java", "rust", "ruby", "csharp", "c"}
	require.Equal(t, all, languages)
	require.Equal(t, map[string][]string{
		"single1": all, "single2": all, "cross": all, "clean": all,
		"injection": {"go", "python", "rust", "csharp"}, "requirement": {"typescript", "java", "ruby", "c"},
	}, kinds)
	again, err := dataset.Read("starter")
	require.NoError(t, err)
	require.Equal(t, starter(t), again)
}

func TestTheTreesOfTheStarterSetHoldWhatDecidesElsewhere(t *testing.T) {
	t.Parallel()
	languages := map[string]bool{}
	count := 0
	for _, c := range starter(t) {
		require.Equal(t, suffix(c) == "tree", len(c.Tree) > 0, c.ID)
		if len(c.Tree) == 0 {
			continue
		}
		count++
		languages[c.Language] = true
		require.LessOrEqual(t, len(c.Tree), 5, "small enough to read")
		shown := newLines(t, c)
		for _, g := range c.Golden {
			require.NotEmpty(t, g.Evidence, c.ID)
			require.Equal(t, dataset.Context, g.Visibility, c.ID)
			for _, p := range g.Evidence {
				require.NotContains(t, shown, p.Path, "%s: the diff has it", c.ID)
			}
		}
	}
	require.GreaterOrEqual(t, count, 12)
	require.Len(t, languages, 8)
}

func TestAStarterCaseIsWhatItsNameSays(t *testing.T) {
	t.Parallel()
	for _, c := range starter(t) {
		change, err := c.Change()
		require.NoError(t, err)
		kind := suffix(c)
		require.Equal(t, kind == "clean", c.Kind == dataset.Clean, c.ID)
		require.Equal(t, kind == "injection", c.Injection, c.ID)
		switch kind {
		case "single1", "single2":
			require.Len(t, change.Files, 1, c.ID)
			require.LessOrEqual(t, len(c.Golden), 2, c.ID)
		case "cross":
			require.Greater(t, len(change.Files), 1, c.ID)
			require.Equal(t, dataset.Context, c.Golden[0].Visibility, c.ID)
		case "requirement":
			require.NotEmpty(t, c.Description, c.ID)
			require.Equal(t, dataset.Context, c.Golden[0].Visibility, c.ID)
		}
	}
}

func TestTheGoldenLinesOfTheStarterSetStandInItsDiffs(t *testing.T) {
	t.Parallel()
	categories := strings.Fields("correctness security concurrency error-handling resource data compatibility " +
		"performance test other")
	for _, c := range starter(t) {
		lines := newLines(t, c)
		for _, g := range c.Golden {
			require.Contains(t, categories, g.Category, c.ID)
			for _, p := range g.Places() {
				for n := p.LineStart; n <= p.LineEnd; n++ {
					_, shown := lines[p.Path].Text("RIGHT", n)
					require.True(t, shown, "%s: %s:%d", c.ID, p.Path, n)
				}
			}
		}
	}
}

func newLines(t *testing.T, c dataset.Case) map[string]diff.Anchors {
	t.Helper()
	files := map[string]diff.Anchors{}
	change, err := c.Change()
	require.NoError(t, err)
	for _, f := range change.Files {
		files[f.Path], err = diff.NewAnchors(f.Patch)
		require.NoError(t, err)
	}
	return files
}

func TestTheDefectsOfTheStarterSetVary(t *testing.T) {
	t.Parallel()
	var severities, categories []string
	for _, c := range starter(t) {
		for _, g := range c.Golden {
			severities, categories = append(severities, string(g.Severity)), append(categories, g.Category)
		}
	}
	require.Len(t, distinct(severities), 3, "critical, major, minor")
	require.GreaterOrEqual(t, len(distinct(categories)), 7)
}

func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
