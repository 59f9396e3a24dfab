package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

const (
	schemaFile = "../../.github/pr-review.schema.json"
	schemaURL  = "https://raw.githubusercontent.com/org/pr-review-action/v1/.github/pr-review.schema.json"
)

// schema is the published one, compiled under its own address.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	require.False(t, bytes.Contains(text, []byte(`\p{`)), "Python's validators refuse a schema with it")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(schemaURL, doc))
	s, err := c.Compile(schemaURL)
	require.NoError(t, err)
	require.Equal(t, 2020, s.DraftVersion)
	require.Equal(t, schemaURL+"#", s.Location, "$id is where it is published")
	return s
}

func TestTheSchemaKnowsTheKeysThatParseKnows(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	collect(t, schema(t), "", found)
	require.Equal(t, config.Known(), found, "expected: keys that config reads; actual: keys of the schema")
}

// collect gathers the keys of every mapping that has its own keys, by their
// names as config.Known has them. Each must refuse others and say what it holds.
func collect(t *testing.T, s *jsonschema.Schema, under string, found map[string][]string) {
	t.Helper()
	if s.Ref != nil {
		s = s.Ref
	}
	if len(s.Properties) > 0 {
		require.Equal(t, false, s.AdditionalProperties, "%q takes unknown keys", under)
	}
	for name, property := range s.Properties {
		found[under] = append(found[under], name)
		path := strings.TrimPrefix(under+"."+name, ".")
		p := property
		if p.Ref != nil {
			p = p.Ref
		}
		require.True(t, p.Types != nil || p.Enum != nil || p.AnyOf != nil, "%s has no type", path)
		collect(t, p, path, found)
	}
	slices.Sort(found[under])
	if items, ok := s.Items2020, s.Items2020 != nil; ok && items.Ref == nil {
		collect(t, items, under+".*", found)
	}
	if values, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && values.Ref == nil {
		collect(t, values, under+".*", found)
	}
	if len(found[under]) == 0 {
		delete(found, under)
	}
}

func TestTheSchemaNamesTheDefaults(t *testing.T) {
	t.Parallel()
	s, told := schema(t), 0
	for _, v := range config.Default().Values() {
		p := s
		for _, name := range strings.Split(v.Key, ".") {
			p = p.Properties[name]
			require.NotNil(t, p, "%s is a key, and the schema does not have it", v.Key)
		}
		if p.Default == nil {
			continue
		}
		told++
		want, err := json.Marshal(*p.Default)
		require.NoError(t, err)
		got, err := json.Marshal(v.Value)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), v.Key)
	}
	require.Greater(t, told, 30, "keys whose default the schema says")
}

func TestSchemaAndParseRefuseTheSameFiles(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, m := range slices.Concat(mistakes(), modelMistakes(), globMistakes(), commentMistakes(), contextMistakes(),
		retrievalMistakes()) {
		if m.beyond {
			continue
		}
		var doc any
		err := yaml.Unmarshal([]byte(m.text), &doc)
		if err == nil {
			err = s.Validate(doc)
		}
		require.Error(t, err, m.name)
	}
}

func TestSchemaAndParseTakeTheSameFiles(t *testing.T) {
	t.Parallel()
	s := schema(t)
	example, err := os.ReadFile("../../testdata/pr-review.yml")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(example), "# yaml-language-server: $schema="+schemaURL+"\n"))
	for _, text := range []string{
		"", "# nothing\n", string(example), modelSettings,
		"admission:\nmodels:\nagent:\nmodel-options:\nprices:\ncomments:\nignore:\n" +
			"instructions:\nguidelines:\nenvironments:\n",
		"admission: {drafts: review, bots: review, authors: all, label: '', skip-label: x y, on-demand: true}\n",
		"admission: {authors: [OWNER, first_timer]}\n",
		"comments: {max: 0}\n", "comments: {max: 50, resolve: false}\n",
		"environments: [{paths: ['*'], environment: x}, {paths: [a/, b], environment: y}]\n",
		"environments: [{paths: ['*'], environment: production (EU) / data}]\n",
		"max-cost: 10000\nmax-cost-per-pull: 0.01\n", "agent: {max-turns: 1, max-time: 1h30m, tools: false}\n",
		"agent: {max-turns: 20, max-time: 1s}\n",
		"model-options: {effort: none, temperature: 2, seed: 0, max-output-tokens: 1000000, headers: {}, body: {a: " +
			"[1, {b: x}], c: true, d: 1.5}}\n",
		"prices: {m: {input: 0, output: 10000}}\n", "language: Português do Brasil\n", "language: zh-Hant\n",
		"instructions: []\n", "instructions: [docs/a.b/c.md, .x]\n",
		"guidelines: [{paths: [a], text: b}]\n", "ignore: ['.github/**', a..b, '[!a]', '\\!x']\n",
		"models: {review: 'a/b:c@d'}\n", "embeddings:\nrerank:\nindex:\n",
		"embeddings: {model: m}\nprices: {m: {input: 1}, r: {per-1000: 2}}\n",
		"rerank: {model: m, base-url: 'http://127.0.0.1:8089', key-env: _k1}\n",
		"index: {store: 'postgres://me@db.example:5432/index?sslmode=verify-full', password-env: DB_PASSWORD}\n",
		"index: {store: file, ignore: ['a/**'], max-files: 7}\n",
		"context:\n", "context: {projects: [], labels: [], sources: []}\n",
		"context: {sources: [{issues: github}, {jira: 'http://127.0.0.1:8080/jira/', token-env: T}]}\n",
		"context: {sources: [{mcp: {command: [x], ticket: {tool: a, argument: b}}}]}\n",
		"modules: []\nprotected:\nimplement:\n", "modules: [{name: a, paths: [a/], tests: [], rules: [x]}]\n",
		"implement: {max-files: 1, max-lines: 800, max-bytes: 1, pull-request: link}\n",
		"context: {sources: [{mcp: {command: [x], ticket: {tool: a, arguments: {path: '/issue/{id}'}}}}]}\n",
		"context: {sources: [{mcp: {preset: sooperset, url: 'https://a.b', ticket: {arguments: {fields: x}}}}]}\n",
	} {
		var doc any
		require.NoError(t, yaml.Unmarshal([]byte(text), &doc), text)
		_, err := config.Parse("f.yml", []byte(text))
		require.NoError(t, err, text)
		require.NoError(t, s.Validate(doc), text)
	}
}
