package config_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/testvolume"
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
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "null": "admission:\n",
		"all": "admission:\n  drafts: skip\n"} {
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

// mistake is a file that Parse refuses. Where beyond is set, a schema cannot say so.
type mistake struct {
	name, text, want string
	beyond           bool
}

func mistakes() []mistake {
	return []mistake{
		{"unknown", "ignores: []\n", "f.yml:1:1: unknown key \"ignores\"\n  did you mean \"ignore\"?", false},
		{"nested", "admission:\n  draft: skip\n", "f.yml:2:3: unknown key \"draft\"\n  did you mean \"drafts\"?",
			false},
		{"far", "zzzzzz: 1\n", "f.yml:1:1: unknown key \"zzzzzz\"; SETTINGS.md lists the known ones", false},
		{"policy", "admission:\n  bots: maybe\n", `f.yml:2:9: "maybe" is not one of skip, review`, false},
		{"nearly a policy", "admission:\n  bots: reviews\n", `did you mean "review"?`, false},
		{"boolean", "admission:\n  on-demand: 1\n", "f.yml:2:14: expected true or false, got a number", false},
		{"severity", "report:\n  from: mino\n", "f.yml:2:9: \"mino\" is not one of nit, minor, major, blocker\n  " +
			"did you " +
			"mean \"minor\"?", false},
		{"category", "report:\n  categories: [security, corectness]\n", "did you mean \"correctness\"?", false},
		{"one category", "report:\n  categories: security\n", "f.yml:2:15: expected a list, got text", false},
		{"list", "ignore: docs\n", "f.yml:1:9: expected a list, got text", false},
		{"root", "- a\n", "f.yml:1:1: expected keys with values, got a list", false},
		{"author", "admission:\n  authors: [owners]\n", "did you mean \"owner\"?", false},
		{"two documents", "ignore: []\n---\nignore: []\n", "a second document", true},
		{"directive", "%YAML 1.2\n---\nignore: []\n", "got a directive, since it begins with %", true},
		{"syntax", "ignore: [\n", "f.yml:1:9: this is not valid YAML", false},
		{"tab", "admission:\n\tbots: skip\n", "f.yml:2:1: this is not valid YAML: found a tab, and only spaces indent",
			false},
		{"duplicate", "ignore: []\nignore: []\n", `f.yml:2:1: the key "ignore" appears twice, first in line 1`, false},
		{"quoted duplicate", "admission:\n  bots: skip\n  'bots': skip\n",
			`f.yml:3:3: the key "bots" appears twice, first in line 2`, false},
		{"alias", "ignore: &a [x]\nadmission: *a\n",
			"f.yml:1:9: expected a list, got an anchor, since it begins with &", false},
		{"star", "ignore:\n  - *.snap\n", "f.yml:2:5: expected text, got an alias, since it begins with *: put " +
			"such text in quotes", false},
		{"tag", "ignore:\n  - !x\n", "f.yml:2:5: expected text, got a tag, since it begins with !", false},
		{"merge", "admission:\n  <<: {bots: skip}\n", "f.yml:2:3: keys are not merged with <<; write them out", true},
		{"merged price", "prices:\n  <<: {input: 1, output: 1}\n", "f.yml:2:3: keys are not merged with <<", false},
		{"question mark", "? ignore\n: [a]\n", "f.yml:1:1: a key takes no question mark", true},
		{"aliases of aliases", "a: &a [x, x]\nb: &b [*a, *a]\nignore: [*b, *b]\n",
			"f.yml:3:10: expected text, got an alias", false},
		{"UTF-16", "\xff\xfei\x00", "f.yml:1:1: this is not UTF-8", true},
		{"broken UTF-8", "ignore:\n  - é\xff\n", "f.yml:1:1: this is not UTF-8", true},
		{"NUL", "ignore: [\"a\x00\"]\n", "f.yml:1:1: this is not UTF-8 text", true},
		{"CR LF", "admission:\r\n  draft: skip\r\n", "f.yml:2:3: unknown key \"draft\"", false},
		{"long key", strings.Repeat("k", 5000) + ": 1\n", `f.yml:1:1: unknown key "` + strings.Repeat("k", 60) + `"`,
			false},
	}
}

func TestParseNamesThePlaceAndTheNearestKey(t *testing.T) {
	t.Parallel()
	for _, m := range slices.Concat(mistakes(), modelMistakes(), globMistakes(), commentMistakes(), contextMistakes()) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("f.yml", []byte(m.text))
			require.ErrorContains(t, err, m.want)
			_, typed := errors.AsType[*config.Error](err)
			require.True(t, typed)
		})
	}
}

func TestAMisspelledPriceIsNotAlsoMissing(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte("prices:\n  m: {inptu: 1, output: 1}\n"))
	require.EqualError(t, err, "f.yml:2:7: unknown key \"inptu\"\n  did you mean \"input\"?")
}

func TestParseReportsEveryMistakeInTheFilesOrder(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte("prices:\n  m: {input: x}\nb1: 2\nignore: []\nignore: []\n"))
	require.EqualError(t, err, `f.yml:2:3: the price of "m" needs output, in USD per million tokens
f.yml:2:14: expected an amount in USD from 0 to 10000, such as 0.25, got text
f.yml:3:1: unknown key "b1"; SETTINGS.md lists the known ones
f.yml:5:1: the key "ignore" appears twice, first in line 4`)
}

func TestParseReportsNoEndlessListOfMistakes(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte("ignore:\n"+strings.Repeat("  - '['\n", 1000)))
	require.Len(t, strings.Split(err.Error(), "\n"), 51)
	require.ErrorContains(t, err, "\nf.yml:52:5: from here on there are 950 more mistakes")
}

func TestParseRefusesAHugeFile(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f.yml", []byte(strings.Repeat("#", config.MaxSize+1)))
	require.ErrorContains(t, err, "bytes")
	_, err = config.Parse("f.yml", []byte("\ufeff"+strings.Repeat("#", config.MaxSize-2)))
	require.ErrorContains(t, err, "bytes", "who read so much may have read a part")
}

// The parser's time grows with the square of the brackets' depth: 60,000 of them took 12 seconds.
func TestParseRefusesDeepNestingBeforeItIsParsed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("[", 60_000), "ignore: " + strings.Repeat("{a: ", 15_000),
		"ignore: " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000)} {
		var err error
		took := testvolume.Took(func() { _, err = config.Parse("f.yml", []byte(text)) })
		require.ErrorContains(t, err, "this is nested too deep; brackets are nested at most 20 times")
		require.Less(t, took, 2*time.Second)
	}
	_, err := config.Parse("f.yml", []byte("ignore: ['"+strings.Repeat("[a]", 40)+"'] # "+strings.Repeat("[", 40)+"\n"))
	require.NoError(t, err, "brackets in text and comments are not nested")
}

func TestParseReadsPastAByteOrderMark(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("\ufeffignore: [a]\r\nverify: false\r\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, c.Ignore)
	require.True(t, c.NoVerify)
}

func TestTheSettingsPageShowsEveryKey(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../testdata/pr-review.yml")
	require.NoError(t, err)
	page, err := os.ReadFile("../../.github/SETTINGS.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "```yaml\n"+string(example)+"```",
		".github/SETTINGS.md shows testdata/pr-review.yml as it is")
	require.Equal(t, 1, strings.Count(string(page), "\nmax-cost-per-file:"), "every key is documented once")
	c, lines, err := config.File{Path: "pr-review.yml"}.Read(example)
	require.NoError(t, err)
	require.ElementsMatch(t, known("prices.my-model"), slices.Collect(maps.Keys(lines)),
		"A: keys that config reads; B: keys in testdata/pr-review.yml")
	require.NotEmpty(t, c.Ignore)
	want := config.Default().Admission
	want.Authors = []string{"owner", "member"}
	require.Equal(t, want, c.Admission, "apart from authors the example shows the defaults")
}

// known are all keys that Parse knows, with their full names; that of a price's model is given.
func known(price string) []string {
	names := []string{price}
	for under, keys := range config.Known() {
		if under = strings.ReplaceAll(under, ".*", ""); under == "prices" {
			under = price
		}
		for _, key := range keys {
			names = append(names, strings.TrimPrefix(under+"."+key, "."))
		}
	}
	return names
}

func TestFingerprintFollowsTheSettings(t *testing.T) {
	t.Parallel()
	changed := config.Default()
	changed.Ignore = []string{"x"}
	require.NotEqual(t, config.Default().Fingerprint(), changed.Fingerprint())
	require.Equal(t, config.Default().Fingerprint(), config.Default().Fingerprint())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "ignore: [a]\n", "admission:\n  authors: all\n", "? [a]\n: {b: c}\n",
		"a: &x *x\n", "\"", "%YAML 9\n---\n", "- - - -\n", "\ufeff{\n",
		"comments: {max: 3}\nenvironments: [{paths: [a], environment: b}]\n", modelSettings} {
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
		_, err = json.Marshal(c.Values(), json.Deterministic(true))
		require.NoError(t, err)
	})
}

func TestInstructionsAreLookedForInFoldersThatPeopleMake(t *testing.T) {
	t.Parallel()
	c := config.Config{Instructions: []string{"AGENTS.md"}}
	deep := strings.Repeat("a/", 30)
	require.Len(t, c.InstructionsFor([]string{deep + "b"}), 31)
	for _, path := range []string{strings.Repeat("a/", 2000) + "b", "a\nb/c", "a\rb/c"} {
		require.Less(t, len(c.InstructionsFor([]string{path})), 2, "%.9q", path)
	}
}
