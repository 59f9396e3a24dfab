package guard_test

import (
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llmtest"
)

// reference matches, in text outside code, what GitHub acts on behind Markdown.
var reference = regexp.MustCompile(`(?i)(^|\W)@[a-z0-9]|#[0-9]|\bGH-[0-9]|\b[0-9a-f]{7,40}\b|https?://|www\.`)

var startsEscape = regexp.MustCompile(`\\([[:punct:]])`)

// violations lists what of a page is neither prose nor code.
func violations(page string) []string {
	source := []byte(page)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM,
		extension.Footnote)).Parser().Parse(text.NewReader(source))
	var bad []string
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			if lang := string(n.Language(source)); lang == "suggestion" || lang == "mermaid" {
				bad = append(bad, "fence "+lang)
			}
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if prev, ok := n.PreviousSibling().(*ast.Text); ok && !prev.SoftLineBreak() && !prev.HardLineBreak() {
				break // read with the one before
			}
			value := backtickRun(n, source)
			if m := reference.FindString(html.UnescapeString(startsEscape.ReplaceAllString(value, "$1"))); m != "" {
				bad = append(bad, "reference "+value)
			}
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.List, *ast.ListItem, *ast.Emphasis, *ast.String:
		default:
			bad = append(bad, n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		bad = append(bad, err.Error())
	}
	for _, line := range strings.Split(outsideFences(page), "\n") {
		if regexp.MustCompile(`^\s*(?:[-*+]\s+|\d+[.)]\s+)*/\w`).MatchString(line) {
			bad = append(bad, "command "+line)
		}
	}
	return bad
}

// backtickRun is the text from n on to the end of the line: Markdown cuts one text
// into several nodes where GitHub's filters see one.
func backtickRun(n *ast.Text, source []byte) string {
	value := string(n.Value(source))
	for !n.SoftLineBreak() && !n.HardLineBreak() {
		next, ok := n.NextSibling().(*ast.Text)
		if !ok {
			break
		}
		n = next
		value += string(n.Value(source))
	}
	return value
}

var fenced = regexp.MustCompile("(?ms)^(`{3,})[a-z+#]*\n.*?^`{3,}$")

func outsideFences(page string) string { return fenced.ReplaceAllString(page, "") }

// injections are the known attacks, and the bodies of findings in them.
func injections(tb testing.TB) []string {
	tb.Helper()
	var rows []string
	for _, row := range llmtest.Attacks(tb) {
		rows = append(rows, row.Payload)
		var answer struct{ Findings []struct{ Body string } }
		if json.Unmarshal([]byte(row.Payload), &answer) == nil && len(answer.Findings) > 0 {
			rows = append(rows, answer.Findings[0].Body)
		}
	}
	return rows
}

// samples are the committed attacks, split by lines of "%%".
func samples(tb testing.TB) []string {
	tb.Helper()
	data, err := os.ReadFile("testdata/attacks.txt")
	require.NoError(tb, err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n%%\n")
}

func TestD6_T10_T11_T12_MarkdownOfAttacksHoldsProseAndCodeAlone(t *testing.T) {
	t.Parallel()
	for _, attack := range append(samples(t), injections(t)...) {
		page := guard.Markdown(attack)
		require.Empty(t, violations(page), "%q\nbecame\n%s", attack, page)
		require.Equal(t, page, guard.Markdown(page), "a second pass changes it: %q", attack)
		title := guard.Inline(attack, 200)
		require.Empty(t, violations(title), "%q\nbecame\n%s", attack, title)
		require.NotContains(t, title, "\n")
	}
}

func TestMarkdownLeavesOrdinaryProseAlone(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/prose.md")
	require.NoError(t, err)
	prose := strings.TrimSpace(string(data))
	require.Equal(t, prose, guard.Markdown(prose))
	require.Empty(t, violations(prose))
}
