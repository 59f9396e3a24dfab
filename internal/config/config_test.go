package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte(`
ignore: ["docs/**", "*.snap"]
admission:
  drafts: review
  bots: review
  authors: [OWNER, member]
  label: please
  skip-label: nope
  on-demand: true
`))
	require.NoError(t, err)
	require.Equal(t, config.Config{
		Ignore: []string{"docs/**", "*.snap"},
		Admission: config.Admission{
			Drafts: config.Review, Bots: config.Review, Authors: []string{"owner", "member"},
			Label: "please", SkipLabel: "nope", OnDemand: true,
		},
		Instructions: config.Default().Instructions,
	}, c)
}

func TestParseKeepsDefaultsForWhatIsNotSet(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "null": "admission:\n", "all": "admission:\n  drafts: skip\n"} {
		c, err := config.Parse("f.yml", []byte(text))
		require.NoError(t, err, name)
		require.Equal(t, config.Default(), c, name)
	}
}

func TestParseTakesOneAssociationWithoutAList(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("admission:\n  authors: all\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"all"}, c.Admission.Authors)
}

func TestParseNamesThePlaceAndTheNearestKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"unknown", "ignores: []\n", "f.yml:1:1: unknown key \"ignores\"\n  did you mean \"ignore\"?"},
		{"nested", "admission:\n  draft: skip\n", "f.yml:2:3: unknown key \"draft\"\n  did you mean \"drafts\"?"},
		{"far", "zzzzzz: 1\n", "f.yml:1:1: unknown key \"zzzzzz\""},
		{"policy", "admission:\n  bots: maybe\n", `f.yml:2:9: "maybe" is none of skip, review`},
		{"boolean", "admission:\n  on-demand: 1\n", "f.yml:2:14: expected true or false, got a number"},
		{"list", "ignore: docs\n", "f.yml:1:9: expected a list, got text"},
		{"glob", "ignore: ['a[']\n", `f.yml:1:10: "a[" is not a glob`},
		{"root", "- a\n", "f.yml:1:1: expected keys with values, got a list"},
		{"author", "admission:\n  authors: [owners]\n", "did you mean \"owner\"?"},
		{"two documents", "ignore: []\n---\nignore: []\n", "a second document"},
		{"syntax", "ignore: [\n", "f.yml:1:9: this is not valid YAML"},
		{"duplicate", "ignore: []\nignore: []\n", "f.yml:2:1: this is not valid YAML"},
		{"alias", "ignore: &a [x]\nadmission: *a\n", "expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yml", []byte(c.text))
			require.ErrorContains(t, err, c.want)
			var typed *config.Error
			require.True(t, errors.As(err, &typed))
		})
	}
}

func TestParseReportsEveryMistake(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte("a1: 1\nb1: 2\n"))
	require.ErrorContains(t, err, "f.yml:1:1")
	require.ErrorContains(t, err, "f.yml:2:1")
}

func TestParseRefusesAHugeFile(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte(strings.Repeat("#", config.MaxSize+1)))
	require.ErrorContains(t, err, "bytes")
}

func TestTheReadmesExampleNamesEveryKey(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../testdata/pr-review.yml")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../.github/SETTINGS.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "```yaml\n"+string(example)+"```")
	c, err := config.Parse("pr-review.yml", example)
	require.NoError(t, err)
	require.NotEmpty(t, c.Ignore)
	want := config.Default().Admission
	want.Authors = []string{"owner", "member"}
	require.Equal(t, want, c.Admission, "apart from authors the example shows the defaults")
}

func TestFingerprintFollowsTheSettings(t *testing.T) {
	t.Parallel()
	changed := config.Default()
	changed.Ignore = []string{"x"}
	require.NotEqual(t, config.Default().Fingerprint(), changed.Fingerprint())
	require.Equal(t, config.Default().Fingerprint(), config.Default().Fingerprint())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "ignore: [a]\n", "admission:\n  authors: all\n", "? [a]\n: {b: c}\n", "a: &x *x\n", "\"", "%YAML 9\n---\n", "- - - -\n", modelSettings} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Parse("f.yml", text)
		if err != nil {
			return
		}
		require.NotEmpty(t, c.Admission.Drafts)
		kept, err := json.Marshal(c, json.Deterministic(true))
		require.NoError(t, err)
		var again config.Config
		require.NoError(t, json.Unmarshal(kept, &again))
		require.Equal(t, c.Fingerprint(), again.Fingerprint(), "a draft keeps its settings")
	})
}
