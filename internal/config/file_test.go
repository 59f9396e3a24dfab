package config_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/testvolume"
)

// over reads a file over defaults.
func over(t *testing.T, defaults, file string) config.Config {
	t.Helper()
	c, err := config.File{Path: "f.yml", Defaults: defaults}.Parse([]byte(file))
	require.NoError(t, err)
	return c
}

// alone reads a file with nothing below it.
func alone(t *testing.T, file string) config.Config {
	t.Helper()
	c, err := config.Parse("f.yml", []byte(file))
	require.NoError(t, err)
	return c
}

// Each line that config print shows is one setting, which the file replaces whole.
func TestTheFileStandsOverDefaultsLineByLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ defaults, file, as string }{
		"nothing over them": {"language: German\nignore: [a]\n", "", "language: German\nignore: [a]\n"},
		"another key":       {"language: German\n", "max-cost: 2\n", "language: German\nmax-cost: 2\n"},
		"the same key":      {"language: German\n", "language: French\n", "language: French\n"},
		"a list":            {"ignore: [a, b]\n", "ignore: [c]\n", "ignore: [c]\n"},
		"an empty list":     {"deciders: [rita]\n", "deciders: []\n", ""},
		"no list":           {"ignore: [a]\n", "ignore:\n", ""},
		"keys of a key": {"admission: {drafts: review, authors: [owner]}\n", "admission: {authors: all}\n",
			"admission: {drafts: review, authors: all}\n"},
		"a key that says nothing": {"admission: {drafts: review}\n", "admission:\n", "admission: {drafts: review}\n"},
		"off and on again": {"verify: false\nagent: {tools: false}\n", "verify: true\n",
			"agent: {tools: false}\n"},
		"prices of models": {"prices: {a: {input: 1, output: 1}, b: {input: 1, output: 1}}\n",
			"prices: {b: {input: 2, output: 2}}\n", "prices: {a: {input: 1, output: 1}, b: {input: 2, output: 2}}\n"},
		"a price as a whole": {"prices: {a: {input: 1, cached-input: 0.1, output: 1}}\n",
			"prices: {a: {input: 2, output: 2}}\n", "prices: {a: {input: 2, output: 2}}\n"},
		"headers as a whole": {"model-options: {headers: {A: x}, seed: 1}\n", "model-options: {headers: {B: y}}\n",
			"model-options: {headers: {B: y}, seed: 1}\n"},
		"an endpoint's model": {"embeddings: {model: m, key-env: K}\n", "embeddings: {dimensions: 7}\n",
			"embeddings: {model: m, key-env: K, dimensions: 7}\n"},
		"guidelines": {"guidelines: [{paths: [a], text: b}]\n", "guidelines: [{paths: [c], text: d}]\n",
			"guidelines: [{paths: [c], text: d}]\n"},
		"spaces around":  {"", "language: ' German '\n", "language: German\n"},
		"only a comment": {"# nothing\n", "language: French\n", "language: French\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := over(t, c.defaults, c.file), alone(t, c.as)
			require.Equal(t, want, got)
			require.Equal(t, want.Fingerprint(), got.Fingerprint(), "a draft does not tell where settings came from")
		})
	}
}

// T5: a repository cannot take a locked key back, in whatever way it writes it.
func TestT5_ALockedKeyHoldsAgainstTheFile(t *testing.T) {
	t.Parallel()
	const defaults = "deciders: [rita]\nadmission: {authors: [owner]}\nmax-cost: 1\n" +
		"prices: {m: {input: 9, output: 9}}\n" +
		"locked: [deciders, admission.authors, prices, report, model-options.headers, context.sources]\n"
	for name, file := range map[string]string{
		"plain":       "deciders: [eve]\n",
		"empty":       "deciders: []\n",
		"null":        "deciders:\n",
		"quoted":      "'deciders': [eve]\n",
		"escaped":     "\"d\\u0065ciders\": [eve]\n",
		"flow":        "{deciders: [eve], admission: {authors: all}}\n",
		"nested":      "admission:\n  authors: all\n",
		"wrong value": "deciders: 7\n",
		"a price":     "prices: {m: {input: 0, output: 0}, n: {input: 0, output: 0}}\n",
		"below it":    "report: {from: blocker, categories: [style]}\n",
		"without text": "report: {tests: true}\nmodel-options: {headers: {X: y}}\n" +
			"context: {sources: [{issues: github}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := over(t, defaults, file)
			require.NotEmpty(t, c.Overruled)
			c.Overruled = nil
			require.Equal(t, over(t, defaults, ""), c)
		})
	}
	for name, file := range map[string]string{
		"twice":             "deciders: [eve]\ndeciders: [eve]\n",
		"merged":            "<<: {deciders: [eve]}\n",
		"another document":  "language: German\n---\ndeciders: [eve]\n",
		"locks of its own":  "locked: []\n",
		"by a mark":         "? deciders\n: [eve]\n",
		"anchored":          "ignore: &deciders [a]\nadmission: *deciders\n",
		"in capital letter": "Deciders: [eve]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.File{Path: "f.yml", Defaults: defaults}.Parse([]byte(file))
			require.ErrorContains(t, err, "f.yml:")
		})
	}
	c := over(t, defaults, "language: German\nadmission:\n  drafts: review\n  authors: all\nmax-cost: 5\n")
	require.Equal(t, []string{"owner"}, c.Admission.Authors)
	require.Equal(t, config.Review, c.Admission.Drafts, "what is beside a locked key is the repository's")
	require.EqualValues(t, 5_000_000, c.MaxCost)
	require.Equal(t, []string{"f.yml:4: admission.authors has no effect here, since the defaults lock it"}, c.Overruled)
}

func TestALockWithoutAValueKeepsTheProductsDefault(t *testing.T) {
	t.Parallel()
	c := over(t, "locked: [handover, admission]\n", "handover: review\nadmission: {authors: all, label: x}\n")
	require.Len(t, c.Overruled, 2)
	require.True(t, c.Locks("handover") && c.Locks("admission.authors") && !c.Locks("admissions"))
	c.Overruled, c.Locked = nil, nil
	require.Equal(t, config.Default(), c)
}

// What embeds and what reranks has no price for output; which model that is, file and defaults
// say together, so half a price is judged once both were read.
func TestHalfAPriceIsJudgedAtTheEnd(t *testing.T) {
	t.Parallel()
	const half = "prices: {m: {input: 1}}\n"
	for name, c := range map[string]struct {
		defaults, file, wrong string
		priced                bool
	}{
		"the file embeds by it":    {half, "embeddings: {model: m}\n", "", true},
		"the defaults embed by it": {"embeddings: {model: m}\n", half, "", true},
		"the file has another":     {half + "embeddings: {model: m}\n", "embeddings: {model: n}\n", "", false},
		"the file has another and reviews": {half + "rerank: {model: m}\n",
			"rerank: {model: n}\nmodels: {review: m}\n", "", false},
		"the file has the whole price": {half, "prices: {m: {input: 1, output: 2}}\n", "", true},
		"the file has half of a whole": {"prices: {m: {input: 1, output: 2}}\n", half,
			`f.yml:1:10: the price of "m" needs`, false},
		"nobody embeds by it":             {half, "", `defaults:1:10: the price of "m" needs output`, false},
		"the file may not say who embeds": {"locked: [embeddings]\n", half + "embeddings: {model: m}\n", "", false},
		"the file may not and reviews by m": {"locked: [rerank]\n",
			half + "rerank: {model: m}\nmodels: {review: m}\n", "", false},
		"the defaults say who embeds and price another": {half + "locked: [embeddings]\n", "embeddings: {model: m}\n",
			`defaults:1:10: the price of "m" needs output`, false},
		"the file misspells who embeds": {half, "embeddings: {modle: m}\n", `f.yml:1:14: unknown key "modle"`, false},
		"the file cannot be read":       {half, "embeddings: {model: m\n", "f.yml:", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.File{Path: "f.yml", Defaults: c.defaults}.Parse([]byte(c.file))
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			_, priced := got.Prices["m"]
			require.Equal(t, c.priced, priced, "a price without output holds no cap")
		})
	}
}

func TestDefaultsAreHeldAgainstTheSameRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ defaults, want string }{
		"unknown key": {"admission:\n  draft: skip\n", "defaults:2:3: unknown key \"draft\"\n  did you " +
			"mean \"drafts\"?"},
		"value": {"ignore: [a]\nmax-cost: x\n", "defaults:2:11: expected an amount in USD"},
		"unknown lock": {"locked: [decider]\n", "defaults:1:10: \"decider\" is not the name of a key, such as " +
			"deciders or admission.authors\n  did you mean \"deciders\"?"},
		"nested lock":        {"locked:\n  - admission.author\n", "did you mean \"admission.authors\"?"},
		"lock of locks":      {"locked: [locked]\n", `"locked" is not the name of a key`},
		"lock within a list": {"locked: [guidelines.paths]\n", `"guidelines.paths" is not the name of a key`},
		"lock of one price":  {"locked: [prices.m]\n", `"prices.m" is not the name of a key`},
		"lock that is text":  {"locked: deciders\n", "defaults:1:9: expected a list, got text"},
		"lock of nothing":    {"locked: [~]\n", "defaults:1:10: expected text, got nothing"},
		"not a mapping":      {"- language\n", "defaults:1:1: expected keys with values, got a list"},
		"text":               {"German", "defaults:1:1: expected keys with values, got text"},
		"no YAML":            {"a: [\n", "defaults:1:4: this is not valid YAML"},
		"duplicates": {"language: German\nlanguage: French\n", "defaults:2:1: the key \"language\" appears " +
			"twice"},
		"locked twice":  {"locked: []\nlocked: []\n", "defaults:2:1: the key \"locked\" appears twice"},
		"two documents": {"language: German\n---\nverify: true\n", "defaults:3:7: a second document"},
		"aliases of aliases": {"a: &a [x, x]\nb: &b [*a, *a]\nignore: [*b, *b]\n",
			"defaults:3:10: expected text, got an alias"},
		"merge key": {"admission:\n  <<: {bots: skip}\n", "defaults:2:3: keys are not merged with <<"},
		"no UTF-8":  {"\xff", "defaults:1:1: this is not UTF-8"},
		"brackets":  {strings.Repeat("[", 60_000), "defaults:1:21: this is nested too deep"},
		"huge":      {strings.Repeat("#", config.MaxSize+1), "defaults:1:1: the file has 65537 bytes"},
		"many locks": {"locked:\n" + strings.Repeat("  - x\n", 10_000), "defaults:52:5: from here on there are 9950 " +
			"more mistakes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			took := testvolume.Took(func() {
				_, err = config.File{Path: "f.yml", Defaults: c.defaults}.Parse([]byte("language: German\n"))
			})
			require.ErrorContains(t, err, c.want)
			_, typed := errors.AsType[*config.Error](err)
			require.True(t, typed)
			require.Less(t, took, 2*time.Second)
		})
	}
}

// Every line of config print can be locked, and what config knows of no line can not.
func TestEveryKeyCanBeLocked(t *testing.T) {
	t.Parallel()
	for _, v := range config.Default().Values() {
		_, err := config.File{Path: "f.yml", Defaults: fmt.Sprintf("locked: [%s]\n", v.Key)}.Parse(nil)
		require.NoError(t, err, v.Key)
	}
	page := over(t, "", "")
	require.Equal(t, config.Default(), page)
}

func TestReadNamesTheFileOfEachKey(t *testing.T) {
	t.Parallel()
	_, lines, err := config.File{Path: "f.yml", Defaults: "# ours\nlanguage: German\nadmission: {drafts: review}\n" +
		"locked: [verify]\n"}.Read([]byte("language: French\nverify: false\nadmission:\n  bots: review\n"))
	require.NoError(t, err)
	delete(lines, "locked")
	require.Equal(t, config.Lines{"language": "f.yml:1", "admission": "f.yml:3", "admission.drafts": "defaults:3",
		"admission.bots": "f.yml:4"}, lines)
}

func FuzzDefaults(f *testing.F) {
	f.Add("locked: [deciders]\ndeciders: [rita]\n", "deciders: [eve]\n")
	f.Add("locked: [admission]\n", "admission: {authors: all}\n{")
	f.Add("prices: {m: {input: 1, output: 1}}\nlocked: [prices]\n", "\"pr\\u0069ces\": {m: {input: 0, output: 0}}\n")
	f.Fuzz(func(t *testing.T, defaults, file string) {
		c, err := config.File{Path: "f.yml", Defaults: defaults + "\nlocked: [deciders]\n"}.Parse([]byte(file))
		if err != nil {
			return
		}
		below, err := config.File{Path: "f.yml", Defaults: defaults + "\nlocked: [deciders]\n"}.Parse(nil)
		require.NoError(t, err)
		require.True(t, slices.Equal(below.Deciders, c.Deciders), "a locked key was changed")
	})
}
