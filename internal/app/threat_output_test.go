package app_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llmtest"
)

// ownHTML is what the program itself writes as HTML.
var ownHTML = regexp.MustCompile(`^(?:<!-- pr-review:v1 [^\n]+ -->|</?details>|</?code>|<summary>[^<]*</summary>` +
	`|</summary>|<summary>)$`)

// acts matches, outside of code, what GitHub acts on in addition to Markdown.
var acts = regexp.MustCompile("(?m)(?:^|[^\\w`])@[A-Za-z]|(?i:\\b(?:fix(?:es)?|close[sd]?|resolve[sd]?) " +
	"+(?:[\\w.-]+/[\\w.-]+)?#[0-9])|(?:^|\\s)GH-[0-9]|^/(?:approve|merge|lgtm)|^\\[!IMPORTANT\\]")

var (
	escaped = regexp.MustCompile(`\\([[:punct:]])`)
	tags    = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)
	inCode  = regexp.MustCompile(`<code>.*?</code>`)
)

// live lists what on a page would act: pictures, links to anywhere but the
// repository, HTML that is not ours, suggestions where none may be, mentions,
// closing words and commands.
func live(page string, suggests bool) (bad []string) {
	source := []byte(page)
	var prose strings.Builder
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			bad = append(bad, "a picture of "+string(n.Destination))
		case *ast.Link:
			bad = append(bad, foreign(string(n.Destination))...)
		case *ast.AutoLink:
			bad = append(bad, foreign(string(n.URL(source)))...)
		case *ast.FencedCodeBlock:
			if string(n.Language(source)) == "suggestion" && !suggests {
				bad = append(bad, "a suggestion")
			}
		case *ast.RawHTML:
			bad = append(bad, notOurs(string(n.Segments.Value(source)))...)
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			bad = append(bad, notOurs(html)...)
			prose.WriteString("\n" + tags.ReplaceAllString(inCode.ReplaceAllString(html, "`"), ""))
		case *ast.Text:
			prose.WriteString(escaped.ReplaceAllString(string(n.Value(source)), "$1"))
			if n.SoftLineBreak() || n.HardLineBreak() {
				prose.WriteByte('\n')
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			prose.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
	return append(bad, acts.FindAllString(prose.String(), -1)...)
}

func foreign(address string) []string {
	if strings.HasPrefix(address, "https://github.com/octo/demo/") {
		return nil
	}
	return []string{"a link to " + address}
}

func notOurs(html string) (bad []string) {
	for _, tag := range tags.FindAllString(html, -1) {
		if !ownHTML.MatchString(tag) {
			bad = append(bad, "HTML "+tag)
		}
	}
	return bad
}

// TestT10_T11_T12_T13_T14_WhatIsWrittenDoesNothing has the attacks on pages, logs
// and outputs as names, title, description, branch and as what a model says,
// through both jobs. What each job leaves is checked for T13 and T14 where it ends.
func TestT10_T11_T12_T13_T14_WhatIsWrittenDoesNothing(t *testing.T) {
	head, says := baseTree().With(namedFiles(t)), map[string]string{}
	for name := range namedFiles(t) {
		says[name] = "::error::" + name
	}
	rows := attacks(t, func(a llmtest.Attack) bool { return a.Must == "not-rendered-live" })
	for _, a := range rows {
		head[a.path], says[a.path] = "package main\n", a.text
		if a.Channel == "model-output" {
			says[a.path] = bodyOf(t, a)
		}
	}
	s := setUp(t, scene{head: head, script: saying(says)})
	s.framed(head)
	drafted := s.parked()
	require.Len(t, drafted.outputs, 16)
	s.approved("")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	draft := s.read(drafted)
	for _, a := range rows {
		require.Len(t, draft.about(a.path, finding.Model), 1, a.ID)
	}
	for i, page := range append(pagesOf(s.posted()), drafted.summary, posted.summary) {
		require.Equal(t, guard.Visible(page), page)
		require.Empty(t, live(page, i > 0 && i <= len(s.posted().Comments)), "page %d: %s", i, page)
	}
	for name, value := range drafted.outputs {
		require.Regexp(t, `^[A-Za-z0-9._:/#-]*$`, value, name)
		require.NotContains(t, value, attackHost)
	}
	require.NotContains(t, drafted.outputs, "approved")
}

// inOurForm is an answer that breaks the schema as a row does, and in nothing
// else.
func inOurForm(answer string) string {
	return strings.NewReplacer(`"severity":"high"`, `"severity":"major"`, `"severity": "high"`, `"severity":"major"`,
		`"severity":"low"`, `"severity":"minor"`,
		`"path":"main.go",`, "", `"path": "main.go",`, "",
		`"body":`, `"side":"RIGHT","start_line":1,"quote":"","title":"From a broken answer","category":"correctness"`+
			`,"confidence":0.9,"suggestion":"","body":`,
	).Replace(answer)
}

// TestT29_T31_T37_AnswersThatBreakTheSchemaAreNotUsed has every such row as it
// is, and once in the form that is asked for but for what the row is about.
func TestT29_T31_T37_AnswersThatBreakTheSchemaAreNotUsed(t *testing.T) {
	t.Parallel()
	rows := attacks(t, func(a llmtest.Attack) bool {
		return a.Channel == "model-output" && (a.Must == "rejected-with-error" || a.Must == "no-tool-call")
	})
	head, scripts := headTree(), map[string]llmtest.Script{}
	for _, a := range rows {
		for path, answer := range map[string]string{a.path: a.text, "ours/" + a.path: inOurForm(a.text)} {
			head[path], scripts[path] = "package main\n", llmtest.Always(llmtest.Answer{Text: answer})
		}
	}
	require.Greater(t, len(scripts), 30)
	t.Run("beside files that were read", func(t *testing.T) {
		s := setUp(t, scene{head: head, script: llmtest.PerFile(scripts, critic)})
		drafted := s.parked().says("::warning::")
		require.Equal(t, "5", drafted.outputs["findings"], "of the other files")
		drafted.shows(fmt.Sprintf("%d failed", len(scripts)))
		s.approved("")
		s.postJob(drafted.digest()).start().is(0, "POSTED")
		draft, body := s.read(drafted), s.posted().Body
		for path := range scripts {
			require.Equal(t, finding.Failed, draft.reviews[path].State, path)
			require.Empty(t, draft.about(path, finding.Model), path)
			drafted.shows("`" + path + "`")
			require.Contains(t, body, path, "the review says what was not read")
		}
		require.NotContains(t, body+drafted.summary, "From a broken answer")
	})
	t.Run("alone", func(t *testing.T) {
		alone := baseTree()
		for path := range scripts {
			alone[path] = head[path]
		}
		s := setUp(t, scene{head: alone, script: llmtest.PerFile(scripts, critic)})
		s.draftJob().start().is(1, "FAILED").says("::error::no file could be reviewed")
		require.Empty(t, s.drafts())
		s.untouched()
	})
}
