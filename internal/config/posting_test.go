package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/testvolume"
)

func TestParseReadsCommentsAndEnvironments(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("comments: {max: 0, resolve: true}\nenvironments:\n  - {paths: [db/], "+
		"environment: review by data}\n"))
	require.NoError(t, err)
	require.Zero(t, c.Comments.Most())
	require.True(t, c.Comments.Resolve)
	require.Equal(t, []config.Environment{{Paths: []string{"db/"}, Name: "review by data"}}, c.Environments)
	require.Equal(t, 15, config.Default().Comments.Most())
}

func TestTheFirstEnvironmentThatFitsAnyPathHolds(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte(`environments:
  - {paths: [/infra/, "*.tf"], environment: ops}
  - {paths: ["**/*.sql"], environment: data}
  - {paths: ["**"], environment: all}
`))
	require.NoError(t, err)
	for _, row := range []struct{ paths, want string }{
		{"README.md", "all"}, {"a/b.sql", "data"}, {"README.md db/a.sql", "data"}, {"db/a.sql infra/x", "ops"},
		{"deep/main.tf", "ops"}, {"sub/infra/x", "all"}, {"", ""},
	} {
		require.Equal(t, row.want, c.EnvironmentFor(strings.Fields(row.paths)), row.paths)
	}
	require.Empty(t, config.Default().EnvironmentFor([]string{"a"}))
}

func commentMistakes() []mistake {
	return []mistake{
		{"comments", "comments: {max: 51}\n", "f.yml:1:17: expected a whole number from 0 to 50, got 51", false},
		{"half a comment", "comments: {max: 1.5}\n", "expected a whole number from 0 to 50, got 1.5", false},
		{"minus one comment", "comments: {max: -1}\n", "expected a whole number from 0 to 50, got -1", false},
		{"comments of text", "comments: 5\n", "f.yml:1:11: expected keys with values, got a number", false},
		{"resolve", "comments: {resolve: always}\n", "f.yml:1:21: expected true or false, got text", false},
		{"comment key", "comments: {maximum: 5}\n", "f.yml:1:12: unknown key \"maximum\"", false},
		{"a module without paths", "modules: [{name: a}]\n", "f.yml:1:11: a module needs name and paths", false},
		{"a module's key", "modules: [{name: a, path: [b]}]\n", "did you mean \"paths\"?", false},
		{"a module twice", "modules: [{name: a, paths: [a]}, {name: a, paths: [b]}]\n", "appears twice", true},
		{"a module's glob", "modules: [{name: a, paths: ['../a']}]\n", "is not a glob", false},
		{"files of a proposal", "implement: {max-files: 21}\n", "expected a whole number from 1 to 20, got 21", false},
		{"its pull request", "implement: {pull-request: ready}\n", "is not one of draft, link", false},
		{"environment", "environments:\n  - {paths: [a]}\n",
			"this needs paths, a list of globs, and environment, a name", false},
		{"environment without paths", "environments:\n  - {paths: [], environment: a}\n", "this needs paths", false},
		{"environment's key", "environments:\n  - {paths: [a], enviroment: b}\n",
			"f.yml:2:18: unknown key \"enviroment\"\n  did you mean \"environment\"?", false},
		{"environment's glob", "environments:\n  - {paths: ['a['], environment: b}\n",
			`f.yml:2:14: "a[" is not a glob: its [ is not closed`, true},
		{"environment's name", "environments:\n  - {paths: [a], environment: \"a;b\"}\n",
			`f.yml:2:31: "a;b" is not an environment's name`, false},
		{"hidden name", "environments:\n  - {paths: [a], environment: \"a\\u202eb\"}\n",
			`"a\u202eb" is not an environment's name`, true},
		{"long name", "environments:\n  - {paths: [a], environment: " + strings.Repeat("n", 256) + "}\n",
			"is not an environment's name", false},
		{"one environment", "environments: ops\n", "f.yml:1:15: expected a list, got text", false},
	}
}

func globMistakes() []mistake {
	var all []mistake
	for _, row := range []struct {
		glob, want string
		beyond     bool
	}{
		{``, `"" is not a glob: it is empty`, false},
		{`a[`, `"a[" is not a glob: its [ is not closed`, true},
		{`a[]`, `its [] names no character`, true},
		{`a[^]`, `its [] names no character`, true},
		{`src/{a,b`, `"src/{a,b" is not a glob: its { is not closed`, true},
		{`a}`, `its } closes nothing`, true},
		{`a\`, `\ stands only before one of`, true},
		{`src\main.go`, `folders are parted by /, and \ stands only before one of * ? [ ] { } ! , -`, true},
		{`!src/**`, `nothing is taken back with !`, false},
		{`./src/**`, `no path has ".", ".." or nothing between two slashes`, false},
		{`../x`, `no path has`, false},
		{`a//b`, `no path has`, false},
		{strings.Repeat("{a,b}", 10), `its braces have more than 1000 choices`, true},
		{strings.Repeat("a", 501), `it is longer than 500 bytes`, false},
	} {
		all = append(all, mistake{"glob " + row.glob, "ignore: ['" + row.glob + "']\n", row.want, row.beyond})
	}
	return all
}

func TestParseTakesEveryUsualGlob(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{"*.snap", "docs/**", "/top", "vendor/", "**/*.{ts,tsx}", "{a,b}/{c,d}", `\!x`,
		`a\[1\]`, "[a-z]*", "[!a]", ".github/**", "a..b", "...", "ä*", "{a,{b,c}}"} {
		_, err := config.Parse("f.yml", []byte("ignore: ['"+glob+"']\n"))
		require.NoError(t, err, glob)
	}
}

// Each pair of braces doubles the ways in which a glob is tried: 22 of them took half a second for one path.
func TestEveryGlobThatParseTakesIsMatchedSoon(t *testing.T) {
	t.Parallel()
	worst := strings.Repeat("{a,a}", 9) + "b"
	_, err := config.Parse("f.yml", []byte("ignore: ['"+worst+"']\n"))
	require.NoError(t, err)
	took := testvolume.Took(func() {
		for range 100 {
			require.False(t, pattern.Matches([]string{worst}, strings.Repeat("a", 9)+"c"))
		}
	})
	require.Less(t, took, 5*time.Second)
}
