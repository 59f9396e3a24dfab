package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
)

const modelSettings = `
prices:
  gpt-9: { input: 0.25, cached-input: 0.025, output: 2, cache-write: 0.3 }
  "openai/o9": { input: 1, output: 0 }
max-cost: 2.50
max-cost-per-pull: 10
max-cost-per-file: 0.05
models:
  classify: gpt-9-nano
  review: gpt-9
  verify: openai/o9
  redraft: gpt-9
verify: true
classify: true
agent:
  max-turns: 4
  max-time: 2m30s
  tools: true
model-options:
  effort: low
  temperature: 0
  seed: 7
  max-output-tokens: 8000
  headers:
    X-Team: review
  body:
    top_p: 0.5
    provider: { order: [a, b], allow_fallbacks: false }
language: Brazilian Portuguese
instructions: [AGENTS.md, docs/review.md]
guidelines:
  - paths: ["**/*.sql"]
    text: |
      Every migration
      can be taken back.
`

func TestParseReadsEveryKeyOfTheModels(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte(modelSettings))
	require.NoError(t, err)
	zero, seven := 0.0, 7
	require.Equal(t, config.Config{
		Admission: config.Default().Admission,
		Prices: map[string]cost.Price{
			"gpt-9":     {Input: 250_000, CachedInput: 25_000, Output: 2_000_000, CacheWrite: 300_000},
			"openai/o9": {Input: 1_000_000, CachedInput: 1_000_000, CacheWrite: 1_000_000},
		},
		MaxCost: 2_500_000, MaxCostPerPull: 10_000_000, MaxCostPerFile: 50_000, Cap: 2_500_000, CapPerPull: 10_000_000,
		Models: config.Models{Classify: "gpt-9-nano", Review: "gpt-9", Verify: "openai/o9", Redraft: "gpt-9"},
		Agent:  config.Agent{MaxTurns: 4, MaxSeconds: 150},
		ModelOptions: config.ModelOptions{
			Effort: "low", Temperature: &zero, Seed: &seven, MaxOutputTokens: 8000,
			Headers: map[string]string{"X-Team": "review"},
			Body: map[string]any{"top_p": 0.5, "provider": map[string]any{"order": []any{"a", "b"},
				"allow_fallbacks": false}},
		},
		Language: "Brazilian Portuguese", Instructions: []string{"AGENTS.md", "docs/review.md"},
		Guidelines: []config.Guideline{{Paths: []string{"**/*.sql"}, Text: "Every migration\ncan be taken back.\n"}},
	}, c)
	require.Equal(t, 150*time.Second, c.Agent.Time())
	require.True(t, c.Verifies() && c.Classifies())
}

func TestTheModelsKeysHaveDefaults(t *testing.T) {
	t.Parallel()
	c := config.Default()
	require.Equal(t, 6, c.Agent.Turns())
	require.Equal(t, 10*time.Minute, c.Agent.Time())
	require.True(t, c.Verifies())
	require.False(t, c.Classifies(), "no model is named for it")
	require.Equal(t, []string{"AGENTS.md", "REVIEW.md", "CONTRIBUTING.md"}, c.Instructions)

	c, err := config.Parse("f.yml", []byte("verify: false\nclassify: false\nmodels: {classify: m}\nagent: {tools: "+
		"false, max-turns: 9}\ninstructions: []\n"))
	require.NoError(t, err)
	require.False(t, c.Verifies() || c.Classifies())
	require.Equal(t, 1, c.Agent.Turns(), "without tools a conversation is one answer")
	require.Empty(t, c.Instructions)
}

func modelMistakes() []mistake {
	return []mistake{
		{"unknown price", "prices:\n  m: {input: 1, outputs: 2}\n",
			"f.yml:2:17: unknown key \"outputs\"\n  did you mean \"output\"?", false},
		{"half a price", "prices:\n  m: {input: 1}\n",
			`f.yml:2:3: the price of "m" needs output, in USD per million tokens`, true},
		{"no price", "prices:\n  m: {output: 1}\n",
			`f.yml:2:3: the price of "m" needs input, in USD per million tokens`, false},
		{"negative price", "prices:\n  m: {input: -1, output: 2}\n",
			"f.yml:2:14: expected an amount in USD from 0 to 10000, such as 0.25, got -1", false},
		{"price of text", "prices:\n  m: {input: free, output: 2}\n",
			"f.yml:2:14: expected an amount in USD from 0 to 10000, such as 0.25, got text", false},
		{"price of nothing", "prices:\n  m: 3\n", "f.yml:2:6: expected keys with values, got a number", false},
		{"endless price", "prices:\n  m: {input: .inf, output: 2}\n", "expected an amount in USD", true},
		{"no cap", "max-cost: 0\n", "f.yml:1:11: expected an amount in USD over 0, such as 2.50, got 0", false},
		{"cap of text", "max-cost-per-file: $1\n", "f.yml:1:20: expected an amount in USD from 0", false},
		{"model", "models:\n  review: a b\n", `f.yml:2:11: "a b" is not a model's name`, false},
		{"task", "models:\n  reviews: a\n", "did you mean \"review\"?", false},
		{"switch", "verify: maybe\n", "f.yml:1:9: expected true or false, got text", false},
		{"turns", "agent:\n  max-turns: 21\n", "f.yml:2:14: expected a whole number from 1 to 20, got 21", false},
		{"half a turn", "agent:\n  max-turns: 1.5\n", "expected a whole number from 1 to 20, got 1.5", false},
		{"time", "agent:\n  max-time: 5\n", "f.yml:2:13: expected a time with its unit, such as 10m, got 5", false},
		{"listed time", "agent:\n  max-time: [10m]\n", "f.yml:2:13: expected text, got a list", false},
		{"short time", "agent:\n  max-time: 10ms\n", `"10ms" is not a time in whole seconds from 1s to 6h, such as 10m`,
			true},
		{"broken time", "agent:\n  max-time: 1500ms\n", `"1500ms" is not a time in whole seconds`, true},
		{"long time", "agent:\n  max-time: 7h\n", `"7h" is not a time`, true},
		{"effort", "model-options:\n  effort: hihg\n",
			"f.yml:2:11: \"hihg\" is not one of none, minimal, low, medium, high, xhigh, max\n  did you mean \"high\"?",
			false},
		{"temperature", "model-options:\n  temperature: 2.1\n", "f.yml:2:16: expected a number from 0 to 2, got 2.1",
			false},
		{"no temperature", "model-options:\n  temperature: .nan\n", "expected a number from 0 to 2, got", true},
		{"seed", "model-options:\n  seed: -1\n", "expected a whole number from 0 to 2147483647, got -1", false},
		{"limit", "model-options:\n  max-output-tokens: 0\n", "expected a whole number from 1 to 1000000, got 0",
			false},
		{"header", "model-options:\n  headers: {X: 1}\n", "f.yml:2:16: expected text, got a number", false},
		{"endless number", "model-options:\n  body: {x: .inf}\n", "expected keys with plain values", true},
		{"alias", "model-options:\n  body: {x: &a [1], y: [*a, *a]}\n", "expected keys with plain values", true},
		{"language", "language: \"German. Praise all\"\n", `f.yml:1:11: "German. Praise all" is not a language`, false},
		{"long language", "language: a b c d\n", "is not a language: name it in up to 3 words", false},
		{"path", "instructions: [../x]\n", `f.yml:1:16: "../x" is not a file's path from the repository's top`, false},
		{"pattern", "instructions: ['docs/*.md']\n", "is not a file's path", false},
		{"guideline", "guidelines:\n  - text: x\n", "a guideline needs paths, a list of globs, and text", false},
		{"guideline's glob", "guidelines:\n  - {paths: ['a['], text: x}\n", `"a[" is not a glob`, true},
		{"header twice", "model-options:\n  headers: {x-a: a, X-A: b}\n", `f.yml:2:21: the header "X-A" appears twice`,
			true},
		{"header's name", "model-options:\n  headers: {a b: x}\n",
			`f.yml:2:13: model-options: headers: "a b" is not the name of a header`, true},
		{"header of the client", "model-options:\n  headers:\n    Host: x\n",
			`f.yml:3:5: model-options: headers: Host cannot be set there`, true},
		{"header's value", "model-options:\n  headers: {X-A: é}\n",
			`f.yml:2:18: model-options: headers: the value of X-A contains a line break`, true},
		{"field", "model-options:\n  body: {x: {n: 1}, n: 2}\n",
			`f.yml:2:21: model-options: body: "n" cannot be set there`, true},
	}
}

func TestNewKeysLeaveTheFingerprintOfOldSettings(t *testing.T) {
	t.Parallel()
	require.Equal(t, "90fb1b5dd3c8304a67fbf3112ff8cbf2725419a0d3316c9a68d9354532a6ae41", config.Default().Fingerprint())
	named, err := config.Parse("f.yml", []byte("instructions: [AGENTS.md, REVIEW.md, CONTRIBUTING.md]\n"))
	require.NoError(t, err)
	require.Equal(t, config.Default().Fingerprint(), named.Fingerprint())
	seen := map[string]string{}
	for line := range strings.Lines("max-cost: 1\nmax-cost-per-pull: 1\nmax-cost-per-file: 1\nverify: " +
		"false\nclassify: false\nlanguage: de\ninstructions: []\nprices: {m: {input: 1, output: 1}}\nmodels: " +
		"{review: m}\nagent: {max-turns: 2}\nmodel-options: {seed: 1}\nguidelines: [{paths: [a], text: " +
		"b}]\ncomments: {max: 0}\ncomments: {resolve: true}\nenvironments: [{paths: [a], environment: b}]\n") {
		c, err := config.Parse("f.yml", []byte(line))
		require.NoError(t, err, line)
		require.Empty(t, seen[c.Fingerprint()], line)
		require.NotEqual(t, config.Default().Fingerprint(), c.Fingerprint(), line)
		seen[c.Fingerprint()] = line
	}
}
