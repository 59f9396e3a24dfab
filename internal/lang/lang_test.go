package lang_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/lang"
)

func TestAFileIsOfALanguageByItsName(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a/b.go": "go", "x.TSX": "typescript", "x.mjs": "javascript", "App.vue": "vue", "x.hpp": "cpp", "x.h": "c",
		"Rakefile": "ruby", "lib/a.ex": "elixir", "mix.exs": "elixir", "build.sbt": "scala", "docs/a.mdx": "markdown",
		"build/Dockerfile.dev": "dockerfile", "x.dockerfile": "dockerfile", ".github/workflows/ci.yml": "yaml",
		".env": "ini",
		"":     "", "Makefile": "", "go": "", "a.go/b": "", "x.weird": "",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, lang.Of(file).Name)
		})
	}
	require.Equal(t, lang.Prose, lang.Of("README.md").Kind)
	require.Equal(t, lang.Settings, lang.Of("a.toml").Kind)
}

func TestMarkdownWordsAreThoseThatOnlyColour(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"go": true, "tsx": true, "c++": true, "diff": true, "zig": true, "properties": true,
		"suggestion": false, "mermaid": false, "math": false, "": false, " ": false, "svelte": false,
		"go golang": false,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, lang.MarkdownWord(word))
		})
	}
}

func TestTestsAreKnownByTheirPath(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"a_test.go": true, "a.spec.ts": true, "tests/a.py": true, "conftest.py": true, "CartTest.java": true,
		"spec/a.rb": true, "run.bats": true, "app/shop/tests.py": true, "crates/db/src/tests.rs": true,
		"src/latest.rs": false, "Modules/Shop/CartTest.php": true, "Shop/CartTests.swift": true,
		"Shop.Tests/Issues/Issue7.cs": true, "src/integrationTest/java/A.java": true, "__testfixtures__/a.ts": true,
		"latest/a.go":                     false,
		"src/main/java/testing/Cart.java": false, "latest.java": false, "attest.go": false, "a/contests/b.go": false,
		"testament.md": false,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, lang.IsTest(file))
		})
	}
}

func TestCommentsAndStringsAreBlankedByteForByte(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"go":       {"a.go", "a('\"', `b\nc`) // d", "a(   ,   \n  )     "},
		"lifetime": {"a.rs", "f<'a>(x: &'a T) /* b */", "f<'a>(x: &'a T)        "},
		"template": {"a.ts", "`a ${b}` + 'c'", "`a ${b}` +    "},
		"python":   {"a.py", "x = '#' #'\n'''a\nb'''", "x =       \n    \n    "},
		"sql":      {"a.sql", "a -- b", "a     "},
		"unknown":  {"a.md", "# 'a'", "# 'a'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, lang.Of(c.file).Blank(c.text))
		})
	}
}
