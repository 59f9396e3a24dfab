package guard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
)

func TestT7_VisibleShowsHiddenCharacters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"bidi":       {"a\u202eb\u2066c", "a<U+202E>b<U+2066>c"},
		"zero width": {"a\u200bb\ufeffc\u2060", "a<U+200B>b<U+FEFF>c<U+2060>"},
		"tags":       {"a\U000e0068\U000e0069", "a<U+E0068><U+E0069>"},
		"controls":   {"\x1b[2K\x00\x7f\u0085\r", "<U+001B>[2K<U+0000><U+007F><U+0085><U+000D>"},
		"fillers and variations": {"\u115f\u3164\u034f\u00ada\ufe0f\U000e0100\u180e\u180f\ufff0\ufff9\U000e0000\U000e0fff",
			"<U+115F><U+3164><U+034F><U+00AD>a<U+FE0F><U+E0100><U+180E><U+180F><U+FFF0><U+FFF9><U+E0000><U+E0FFF>"},
		"joiner between Latin":      {"a\u200db\u200cc", "a<U+200D>b<U+200C>c"},
		"joiner twice":              {"می\u200c\u200cخ", "می<U+200C><U+200C>خ"},
		"flag with another message": {"🏴\U000e0068\U000e0069\U000e007f", "🏴<U+E0068><U+E0069><U+E007F>"},
		"flag tags of no flag": {"a\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
			"a<U+E0067><U+E0062><U+E0065><U+E006E><U+E0067><U+E007F>"},
		"between letters that join": {"ب\u200bب\U000e0041ب", "ب<U+200B>ب<U+E0041>ب"},
		"between pictures":          {"👍\u200b👍\U000e0041👍", "👍<U+200B>👍<U+E0041>👍"},
		"joiner of one picture":     {"👍\u200da\u200d👍", "👍<U+200D>a<U+200D>👍"},
		"selector of a digit":       {"1\ufe0f2\ufe0e", "1<U+FE0F>2<U+FE0E>"},
		"selector of a letter":      {"a\ufe0f\u20e3 \U00020000\ufe0f", "a<U+FE0F>\u20e3 \U00020000<U+FE0F>"},
		"in ASCII alone":            {"a\x7fb", "a<U+007F>b"},
		"blanks that are letters":   {"a\u2800b\U0001d159", "a<U+2800>b<U+1D159>"},
		"selector twice":            {"❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"},
		"broken UTF-8":              {"a\xff\xc3(", "a\ufffd\ufffd("},
		"line ends":                 {"a\r\nb\tc\n", "a\nb\tc\n"},
		"no-break space":            {"a\u00a0:\u202fb", "a : b"},
		"line separators":           {"a\u2028b\u2029", "a<U+2028>b<U+2029>"},
	} {
		require.Equal(t, c[1], guard.Visible(c[0]), name)
		require.Equal(t, c[1], guard.Visible(c[1]), "%s, again", name)
	}
}

func TestT7_VisibleLeavesScriptsAndEmojiAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"naïve Größe 日本語 Ελλάδα Привет", "می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී",
		"👨\u200d👩\u200d👧\u200d👦 👍🏽 🏳️\u200d🌈 ❤️ 1️⃣ *️⃣ #️⃣ ☎︎ 🇩🇪 ↔️ ⤴️ ⬅️", "\u0600١",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "e\u0301",
	} {
		require.Equal(t, s, guard.Visible(s))
	}
}

func TestT13_LinesHoldNoWorkflowCommand(t *testing.T) {
	t.Parallel()
	for _, attack := range append(samples(t), injections(t)...) {
		require.NotContains(t, guard.Line(attack, 0), "\n")
		for _, line := range strings.Split(guard.Line(attack, 80)+"\n"+guard.Text(attack), "\n") {
			require.NotRegexp(t, `^\s*::|##\[`, line)
			require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x{7f}-\x{9f}]`, line)
		}
	}
}

func TestLineIsCutAtRunes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "größ…", guard.Line("größer", 4))
	require.Equal(t, "größer", guard.Line("größer", 6))
	require.Equal(t, "a b c", guard.Line("a\nb\tc\n", 0))
	require.Equal(t, `\::warning::x`, guard.Line("::warning::x", 0))
	require.Equal(t, `  \::stop`, guard.Text("  ::stop"))
	require.Equal(t, "std::string", guard.Line("std::string", 0))
	require.Equal(t, `x ##\[group]`, guard.Line("x ##[group]", 0))
}

func TestCodeAndFencesOutlastTheirText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "`a b`", guard.Code("a\nb"))
	require.Equal(t, "`` ` ``", guard.Code("`"))
	require.Equal(t, "``a`b``", guard.Code("a`b"))
	require.Equal(t, "`` `<img> ``", guard.Code("`<img>"), "T10: else three marks open, and two do not close")
	require.Equal(t, "`` <img>` ``", guard.Code("<img>`"))
	require.Equal(t, "` a`", guard.Code(" a"))
	require.Equal(t, "`a `", guard.Code("a "))
	require.Equal(t, "`  a  `", guard.Code(" a "))
	require.Equal(t, "` `", guard.Code(" "))
	require.NotContains(t, guard.Fence("a\u202eb", ""), "\u202e", "T7")
	require.Equal(t, "` `", guard.Code(""))
	require.Equal(t, "```go\nx\n```\n", guard.Fence("x", "go"))
	require.Equal(t, "````\n```suggestion\n````\n", guard.Fence("```suggestion\n", "suggestion"))
	require.Equal(t, "````suggestion\n```\n````\n", guard.Suggestion("```"))
	require.Equal(t, "```suggestion\n```\n", guard.Suggestion(""))
	require.Equal(t, "```suggestion\n\ta\n\n\tb\n```\n", guard.Suggestion("\ta\n\n\tb"))
}

func TestMarkdownByExample(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ask @torvalds, see #12.":           "ask `@torvalds`, see `#12`.",
		"List<String> is <b>bold</b>":       `List\<String> is \<b>bold\</b>`,
		"<A> <Z> <a> <z> <1>":               `\<A> \<Z> \<a> \<z> <1>`,
		`ends with \`:                       `ends with \\`,
		"ends with `x` \\":                  "ends with `x` \\\\",
		`@org ends with \`:                  "`@org` ends with \\\\",
		"mail`@x.example` and a`@x`":        "mail `@x.example` and a`@x`",
		"é`@x.example`":                     "é`@x.example`",
		"  \tcode\n     more\n\tyet":        "```\ncode\n```\n```\n more\nyet\n```",
		"[a](https://x.example/)":           "[a\\](`https://x.example/`)",
		"# Title":                           `\# Title`,
		"> quoted":                          `\> quoted`,
		"/merge":                            "`/merge`",
		"- ```go\n  x := 1\n  ```\nbehind":  "```go\nx := 1\n```\nbehind",
		"```mermaid\na\n```":                "```\na\n```",
		"```go\nopen":                       "```go\nopen\n```",
		"code:\n\n    if a {\n    }\n\nend": "code:\n\n```\nif a {\n}\n```\n\nend",
		"a lone ` tick":                     "a lone \\` tick",
		"costs $1 or $2":                    `costs \$1 or \$2`,
		"- [ ] todo":                        `- \[ ] todo`,
		"[^a @octocat]":                     "\\[^a `@octocat`]",
		"&#64;torvalds &commat;x":           "`&#64;`torvalds `&commat;`x",
		"see 1a2b3c4":                       "see `1a2b3c4`",
		`C:\www.x.example`:                  "C:\\\\`www.x.example`",
	} {
		require.Equal(t, want, guard.Markdown(in), in)
	}
	require.Equal(t, `\- a title with `+"`code`", guard.Inline("- a title\nwith `code`", 80))
	require.Equal(t, `1\. a`, guard.Inline("1. a", 0))
}

func TestCutBytesLeavesNoHalfCharacter(t *testing.T) {
	t.Parallel()
	for max, want := range []string{"", "a", "a", "aé", "aéz", "aéz"} {
		require.Equal(t, want, guard.CutBytes("aéz", max), "%d bytes", max)
	}
	require.Equal(t, "ab", guard.CutBytes("a\xffb", 9))
}
