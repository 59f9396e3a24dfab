package stats

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/pr-review-action/internal/config"
	"github.com/stretchr/testify/require"
)

func threeEntries() []Entry {
	return []Entry{
		{Key: "ignore", Item: "gen/**",
			Why: []string{"12 of 12 were dropped:", "  acme/api#1 F2, rita: it is generated"}},
		{Key: "guidelines",
			Item: config.Guideline{Paths: []string{"testdata/**"}, Text: "Report no \"slow\" tests: # here"},
			Why:  []string{"why"}},
		{Key: "report.without", Item: "golangci-lint lll", Why: []string{"lines"}},
	}
}

// TestAFileIsExtendedAndElseAsItWas has each file as it is before and after, and the lines
// that are not new stand as they were.
func TestAFileIsExtendedAndElseAsItWas(t *testing.T) {
	t.Parallel()
	const all = "ignore:\n  # 12 of 12 were dropped:\n  #   acme/api#1 F2, rita: it is generated\n  - \"gen/**\"\n" +
		"guidelines:\n  # why\n  - paths: [\"testdata/**\"]\n    text: \"Report no \\\"slow\\\" tests: # here\"\n" +
		"report:\n  without:\n    # lines\n    - \"golangci-lint lll\"\n"
	for name, c := range map[string]struct{ before, after string }{
		"none":             {"", all},
		"comments":         {"# ours\n", "# ours\n" + all},
		"without the keys": {"max-lines: 7 # few", "max-lines: 7 # few\n" + all},
		"block lists": {"ignore:\n  - a # first\n  - b\n\n# what to look for\nguidelines:\n- paths: [x]\n" +
			"  text: |\n    one\n    # two\nreport:\n  style: true\n  without:\n  - errcheck\n\n# end\n",
			"ignore:\n  # 12 of 12 were dropped:\n  #   acme/api#1 F2, rita: it is generated\n  - \"gen/**\"\n" +
				"  - a # first\n  - b\n\n# what to look for\nguidelines:\n# why\n- paths: [\"testdata/**\"]\n" +
				"  text: \"Report no \\\"slow\\\" tests: # here\"\n- paths: [x]\n  text: |\n    one\n    # two\n" +
				"report:\n  style: true\n  without:\n  # lines\n  - \"golangci-lint lll\"\n  - errcheck\n\n# end\n"},
		"flow lists": {"ignore: [\"a\", 'b' ] # kept\nguidelines: []\nreport: { style: true, without: [x,] }\n",
			"# 12 of 12 were dropped:\n#   acme/api#1 F2, rita: it is generated\n" +
				"ignore: [\"gen/**\", \"a\", 'b' ] # kept\n" +
				"# why\n" +
				"guidelines: [{\"paths\": [\"testdata/**\"], \"text\": \"Report no \\\"slow\\\" tests: # here\"}]\n" +
				"# lines\nreport: { style: true, without: [\"golangci-lint lll\", x,] }\n"},
		"empty keys": {"ignore:\nreport: { style: true }\nguidelines: # soon\n",
			"ignore:\n  # 12 of 12 were dropped:\n  #   acme/api#1 F2, rita: it is generated\n  - \"gen/**\"\n" +
				"# lines\nreport: { without: [\"golangci-lint lll\"], style: true }\nguidelines: # soon\n  # why\n" +
				"  - paths: [\"testdata/**\"]\n    text: \"Report no \\\"slow\\\" tests: # here\"\n"},
		"a mapping with other keys": {"report:\n    style: true\n\nmax-lines: 7\nignore: []\nguidelines: []\n", "# " +
			"12 of 12 were dropped:\n#   acme/api#1 F2, rita: it is generated\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Extend(config.File{Path: "f.yml"}, []byte(c.before), threeEntries())
			require.NoError(t, err)
			if name == "a mapping with other keys" {
				require.Contains(t, string(got), "report:\n    without:\n      # lines\n      - "+
					"\"golangci-lint lll\"\n    style: true\n\nmax")
				return
			}
			require.Equal(t, c.after, string(got))
		})
	}
}

// A list of the file's own replaces that of the defaults, so it begins with theirs in it; one
// that the file has already says by itself what holds.
func TestAListOfTheDefaultsIsKeptWhereTheFileGetsItsOwn(t *testing.T) {
	t.Parallel()
	const defaults = "ignore: [\"*.snap\", vendor/]\nguidelines: [{paths: [a], text: \"b: c\"}]\n" +
		"report: {without: [lll], style: true}\n"
	for name, c := range map[string]struct {
		text   string
		ignore []string
		rules  []string
	}{
		"no file": {"", []string{"gen/**", "*.snap", "vendor/"}, []string{"golangci-lint lll", "lll"}},
		"in brackets": {"report: {tests: true}\n", []string{"gen/**", "*.snap", "vendor/"},
			[]string{"golangci-lint lll", "lll"}},
		"lists of its own": {"ignore: [x]\nreport:\n  without:\n  - y\n", []string{"gen/**", "x"},
			[]string{"golangci-lint lll", "y"}},
		"lists without items": {"ignore:\nreport: {without: []}\n", []string{"gen/**"}, []string{"golangci-lint lll"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := config.File{Path: "f.yml", Defaults: defaults}
			text, err := Extend(f, []byte(c.text), threeEntries())
			require.NoError(t, err)
			got, err := f.Parse(text)
			require.NoError(t, err)
			require.Equal(t, c.ignore, got.Ignore)
			require.Equal(t, c.rules, got.Report.Without)
			require.True(t, got.Report.Style)
			require.Equal(t, "b: c", got.Guidelines[1].Text)
		})
	}
}

func TestTheDocumentedFileIsExtended(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "pr-review.yml"))
	require.NoError(t, err)
	got, err := Extend(config.File{Path: "f.yml"}, text, append(threeEntries(), threeEntries()...))
	require.NoError(t, err)
	c, err := config.Parse("f.yml", got)
	require.NoError(t, err)
	require.Equal(t, "gen/**", c.Ignore[0])
	require.Len(t, c.Report.Without, 3)
}

// TestAFileThatCannotBeExtendedIsLeftAlone: what comes of it is held against what it should
// mean, and a file with a mistake is not touched.
func TestAFileThatCannotBeExtendedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"one mapping in braces": "{ max-lines: 7 }\n", "an end of the document": "max-lines: 7\n...\n",
		"a mistake": "ignored: []\n", "no YAML": "\tx", "two documents": "max-lines: 7\n---\nmax-lines: 8\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Extend(config.File{Path: "f.yml"}, []byte(bad), threeEntries())
			require.Error(t, err)
		})
	}
}

func FuzzExtend(f *testing.F) {
	for _, seed := range []string{"", "ignore: [a]\n", "{ignore: [a]}\n", "ignore: [\n  a,\n]\n",
		"ignore:\n- a\nreport:\n  from: nit\n",
		"guidelines:\n  - {paths: [a], text: b}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := config.Parse("f.yml", []byte(text))
		if err != nil {
			return
		}
		got, err := Extend(config.File{Path: "f.yml"}, []byte(text), threeEntries())
		if err != nil {
			return
		}
		after, err := config.Parse("f.yml", got)
		require.NoError(t, err)
		require.Len(t, after.Ignore, len(before.Ignore)+1)
		require.Len(t, after.Guidelines, len(before.Guidelines)+1)
		require.Len(t, after.Report.Without, len(before.Report.Without)+1)
	})
}
