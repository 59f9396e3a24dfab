package implement

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
)

// TestModulesAreListedWithoutWhatNobodyChanges is of a repository with one folder of tests, which
// belongs to each module: it is listed once, as tests are that belong to one.
func TestModulesAreListedWithoutWhatNobodyChanges(t *testing.T) {
	t.Parallel()
	paths := []string{"docs/logo.png", "docs/user.rst", "src/poetry.lock", "src/session.py", "tests/test_session.py"}
	modules := scope.Derive(paths, func(string) []byte { return nil })
	modules[0].Description = "the manual"
	want := `module docs: the manual
  docs/: user.rst
module src
  src/: session.py
tests of these modules
  tests/: test_session.py
`
	require.Equal(t, want, moduleList(modules, paths, ""))
	modules[1].Tests = []string{"src/tests/**"}
	require.Equal(t, want, moduleList(modules, paths, ""))
}

// TestAModuleListsAllOfItsFiles also has more files than a prompt takes: then what has the ticket's words is listed
// first, and code before the rest.
func TestAModuleListsAllOfItsFiles(t *testing.T) {
	t.Parallel()
	modules := []config.Module{{Name: "core", Paths: []string{"core/**"}}}
	paths := []string{"core/a/one.go"}
	for n := range 400 {
		paths = append(paths, fmt.Sprintf("core/a/testdata/case-%03d.txt", n))
	}
	paths = append(paths, "core/a/two.go", "core/sync/last.go")
	text := moduleList(modules, paths, "")
	require.Contains(t, text, "module core\n  core/a/: one.go, two.go\n  core/a/testdata/: case-000.txt, ")
	require.Contains(t, text, ", case-399.txt\n  core/sync/: last.go\n")
	for n := range 4000 {
		paths = append(paths, fmt.Sprintf("core/a/testdata/more-%04d.txt", n))
	}
	text = moduleList(modules, paths, "")
	require.LessOrEqual(t, len(text), maxListed)
	require.Greater(t, len(text), maxListed/2)
	require.Contains(t, text, "  core/sync/: last.go\n")
	require.Regexp(t, "\n  … and \\d+ more files\ntests of these modules\n$", text)
	text = moduleList(modules, append(paths, "core/z/SseTransport.txt"), "The SSE transport hangs on an error")
	require.Contains(t, text, "  core/z/: SseTransport.txt\n")
}

func TestATicketIsToldWithItsCriteria(t *testing.T) {
	t.Parallel()
	one := ticket.FromMarkdown("PAY-1", "# Debits\n\nToo many.\n\n## Acceptance criteria\n\n- A debit\n  is kept\n"+
		"- No debit is lost\n")
	require.Equal(t, "PAY-1 \nDebits\n\n"+one.Description+"\n\nAcceptance criteria:\n1. A debit\nis kept\n"+
		"2. No debit is lost\n", ticketText(one))
}

// TestALargeTestIsShownInPart has one that is nearest to the likely file.
func TestALargeTestIsShownInPart(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/session.py": "class Session: pass\n", "tests/__init__.py": "", "tests/test_other.py": "import sys\n",
		"tests/test_session.py": strings.Repeat("def test_one(): pass\n", 3000),
	}
	b := brief(files, "src/session.py")
	blocks, err := b.exampleBlocks(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "test", blocks[0].label)
	head, rest, _ := strings.Cut(blocks[0].text, "\n")
	require.Equal(t, fmt.Sprintf("tests/test_session.py, the first %d lines", strings.Count(rest, "\n")), head)
	require.InDelta(t, maxHead, len(rest), 30)
	require.Len(t, blocks, len(files)-1, "all tests and what stands beside them")
}

// TestTestsAreThoseNearestToTheLikelyFiles compares the words of paths; where a test is likely to change, it is shown
// anyway, and no other is.
func TestTestsAreThoseNearestToTheLikelyFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, p := range []string{"core/sync/mpsc/bounded.rs", "core/tests/fd_test.rs", "core/tests/rename_test.rs",
		"core/tests/sync_mpsc.rs", "core/tests/sync_once.rs", "core/tests/a_test.rs", "core/e2e/cli.rs"} {
		files[p] = "fn one() {}\n"
	}
	b := brief(files, "core/sync/mpsc/bounded.rs")
	b.Draft.Scope.Likely = append(b.Draft.Scope.Likely, "core/tests/a_new_test.rs")
	blocks, err := b.exampleBlocks(t.Context(), []string{"core/sync/mpsc/bounded.rs"})
	require.NoError(t, err)
	require.Equal(t, []string{"core/tests/sync_mpsc.rs", "core/tests/sync_once.rs", "core/tests/a_test.rs",
		"core/tests/fd_test.rs", "core/e2e/cli.rs"}, pathsIn(blocks))
	b.Draft.Scope.Likely = append(b.Draft.Scope.Likely, "core/tests/sync_once.rs", "core/tests/sync_mpsc.rs")
	for kind, want := range map[string][]string{change.Story: {"core/e2e/cli.rs"}, change.Bug: nil} {
		b.Draft.Class.Type = kind
		blocks, err = b.exampleBlocks(t.Context(), []string{"core/tests/sync_mpsc.rs"})
		require.NoError(t, err)
		require.Equal(t, want, pathsIn(blocks))
	}
}

// TestSourcesAreShownWholeOrByPieces shows whole what is small or likely to change, but of a test that only the search
// found its piece; without the mark at a file's beginning.
func TestSourcesAreShownWholeOrByPieces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("int x;\n", 3000)
	b := brief(map[string]string{"core/Likely.cs": "\ufeff" + long, "core/Small.cs": "\ufeffint y;\n",
		"core/Large.cs": long, "test/LikelyTests.cs": long, "test/FoundTests.cs": "int y;\nint z;\n"},
		"core/Likely.cs", "test/LikelyTests.cs")
	b.Draft.Chunks = []change.Chunk{{Path: "core/Large.cs", StartLine: 1, EndLine: 1, Text: "\ufeffint x;\n"},
		{Path: "core/Small.cs", StartLine: 1, EndLine: 1, Text: "\ufeffint y;\n"},
		{Path: "test/FoundTests.cs", StartLine: 2, EndLine: 2, Text: "int z;\n"}}
	likely, test := block{"file", "core/Likely.cs\n" + long}, block{"file", "test/LikelyTests.cs\n" + long}
	small, piece := block{"file", "core/Small.cs\nint y;\n"}, block{"piece", "core/Large.cs, lines 1 to 1\nint x;\n"}
	found := block{"piece", "test/FoundTests.cs, lines 2 to 2\nint z;\n"}
	blocks, shown, err := b.sourceBlocks(t.Context())
	require.NoError(t, err)
	require.Equal(t, []block{likely, test, small, piece, found}, blocks[3:])
	require.Equal(t, []string{"core/Likely.cs", "test/LikelyTests.cs", "core/Small.cs"}, shown)
}

// TestQuestionsBeginAlike is what lets a server charge less for the files: those of a step that is asked again, and of
// the next step, begin with the same bytes.
func TestQuestionsBeginAlike(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x = 1\n", 3000)
	b := brief(map[string]string{"core/a.py": "a = 1\n" + long, "test/test_a.py": long}, "test/test_a.py", "core/a.py")
	fix := `{"root_cause":"","changes":[{"path":"core/a.py","edits":[{"search":"a = 1\n","replace":"a = 2\n"}]}]}`
	a := &asked{answers: []string{"prose", fix, `{"tests":[]}`}}
	m := a.model()
	_, files, _, err := m.Code(t.Context(), b)
	require.NoError(t, err)
	b.Draft.Changes = files
	_, _, err = m.Tests(t.Context(), b)
	require.NoError(t, err)
	source, _, found := strings.Cut(a.prompts[0], "\n# The task\n")
	require.True(t, found)
	require.Contains(t, source, "core/a.py\na = 1\n"+long)
	for i, p := range a.prompts {
		require.True(t, strings.HasPrefix(p, source), "question %d", i+1)
		require.Equal(t, 1, strings.Count(p, "\n# The task\n"))
	}
	require.Contains(t, a.prompts[2], "test/test_a.py\n"+long)
}

// TestOfAFileThatDoesNotFitTheBeginningIsShown has more in the likely files than one question holds.
func TestOfAFileThatDoesNotFitTheBeginningIsShown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("int x;\n", maxFiles/7*3/4)
	b := brief(map[string]string{"core/Likely.cs": long, "core/OneLine.cs": strings.Repeat("x", maxFiles),
		"test/LikelyTests.cs": long}, "core/Likely.cs", "core/OneLine.cs", "test/LikelyTests.cs")
	blocks, shown, err := b.sourceBlocks(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"core/Likely.cs"}, shown)
	require.Len(t, blocks, 5, "nothing of a line that does not fit")
	require.Regexp(t, `^test/LikelyTests\.cs, the first \d+ lines\nint x;\n`, blocks[4].text)
}

// TestOfALargeChangeLogTheBeginningIsShown is of one with all that ever changed; a small one is shown whole.
func TestOfALargeChangeLogTheBeginningIsShown(t *testing.T) {
	t.Parallel()
	long := "Version 3.0.5\n" + strings.Repeat("-   A change.\n", 5000)
	b := brief(map[string]string{"CHANGES.rst": long, "core/news.py": long, "docs/HISTORY.md": "One.\n"}, "CHANGES.rst",
		"core/news.py", "docs/HISTORY.md")
	blocks, shown, err := b.sourceBlocks(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"core/news.py", "docs/HISTORY.md"}, shown)
	require.Regexp(t, `^CHANGES\.rst, the first \d+ lines\nVersion 3\.0\.5\n`, blocks[3].text)
	require.InDelta(t, maxHead, len(blocks[3].text), 60)
}

// TestInstructionsForTheLikelyFilesAreShown has those of one module and none of the other.
func TestInstructionsForTheLikelyFilesAreShown(t *testing.T) {
	t.Parallel()
	b := brief(map[string]string{"core/a.py": "a = 1\n", "AGENTS.md": "Be brief.\n", "core/AGENTS.md": "Count in cents.\n",
		"web/AGENTS.md": "Of the web.\n", "docs/style.md": strings.Repeat("Long.\n", maxGuides),
		"new/AGENTS.md": "Be new.\n"}, "core/a.py", "new/b.py")
	b.Base.Instructions = config.Config{Instructions: []string{"AGENTS.md", "docs/style.md", "gone.md"}}.InstructionsFor
	blocks, _, err := b.sourceBlocks(t.Context())
	require.NoError(t, err)
	var guides []block
	for _, one := range blocks {
		if one.label == "instructions" {
			guides = append(guides, one)
		}
	}
	require.Len(t, guides, 4)
	require.Equal(t, "new/AGENTS.md\nBe new.\n", guides[0].text, "also for a file that is not there yet")
	require.Equal(t, "core/AGENTS.md\nCount in cents.\n", guides[1].text, "the nearest first")
	require.Equal(t, "AGENTS.md\nBe brief.\n", guides[2].text)
	require.Regexp(t, `^docs/style\.md, the first \d+ lines\n`, guides[3].text)
}

// brief returns a brief for files that are all of one module, with those that the model expects to change.
func brief(files map[string]string, likely ...string) Brief {
	rules := &scope.Rules{Modules: []config.Module{{Name: "all", Paths: []string{"**"}}},
		Entries: map[string]diff.Entry{}}
	for p := range files {
		rules.Entries[p] = diff.Entry{Mode: "100644", Blob: "b"}
	}
	whole := func(context.Context, string, string) (errors, unmatched bool) { return false, false }
	return Brief{Base: Base{Tree: tree.Files(files), Rules: rules, Broken: whole},
		Draft: change.Draft{Scope: change.Scope{Likely: likely}}}
}

func pathsIn(blocks []block) (paths []string) {
	for _, b := range blocks {
		path, _, _ := strings.Cut(b.text, "\n")
		paths = append(paths, path)
	}
	return paths
}

// asked is a model that keeps the prompts and gives fixed answers.
type asked struct {
	answers, prompts []string
}

func (a *asked) Identity() string { return "fixed" }

func (a *asked) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	a.prompts = append(a.prompts, r.User)
	return llm.Answer{Text: a.answers[len(a.prompts)-1]}, nil
}

func (a *asked) model() *Model {
	return &Model{Chat: a, Redact: &secret.Redactor{}, Once: func(ctx context.Context, _ string,
		do func(context.Context) (Recorded, error)) (Recorded, error) {
		return do(ctx)
	}}
}

// TestARefusedAnswerIsShownWithItsReasons leaves out of the next one a file that stays as it is.
func TestARefusedAnswerIsShownWithItsReasons(t *testing.T) {
	t.Parallel()
	b := brief(map[string]string{"core/a.py": "def a():\n    pass\n", "core/b.py": "b = 1\n"}, "core/a.py")
	edit := func(path, search, replace string) string {
		text, err := json.Marshal(Proposed{Path: path, Edits: []change.Edit{{Search: search, Replace: replace}}})
		require.NoError(t, err)
		return string(text)
	}
	answer := func(files ...string) string { return `{"root_cause":"","changes":[` + strings.Join(files, ",") + "]}" }
	first := answer(edit("core/a.py", "def a():\n  pass\n", "x = 1\n"))
	a := &asked{answers: []string{first, answer(edit("core/a.py", "    pass\n", "    return 1\n"),
		edit("core/b.py", "b = 1\n", "b = 1\n"))}}
	_, files, _, err := a.model().Code(t.Context(), b)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, "def a():\n    return 1\n", files[0].Content)
	require.NotContains(t, a.prompts[0], " answer>>>")
	require.Regexp(t, "(?s) answer>>>\n"+regexp.QuoteMeta(first)+"\n.* refused>>>\n"+
		`"core/a.py": edit 1: what it looks for is not there: "def a\(\):\\n  pass\\n"`, a.prompts[1])

	nothing := answer(edit("core/b.py", "b = 1\n", "b = 1\n"))
	_, _, _, err = (&asked{answers: []string{nothing, nothing}}).model().Code(t.Context(), b)
	require.EqualError(t, err, "the model's answer (code) could not be used: it changes nothing")
}

// TestWhatAFileHasInsteadIsToldWithoutCredentials quotes a line of the file that no model was shown as it is.
func TestWhatAFileHasInsteadIsToldWithoutCredentials(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "x7Qm2Lk9Vb4Zt8Rc1Nd6Hs3Jf5Gw0Py2Ua7E"
	b := brief(map[string]string{"core/a.py": "if a:\n\tlogin(\"" + secret + "\")\n"}, "core/a.py")
	answer := `{"root_cause":"","changes":[{"path":"core/a.py","edits":[{"search":"if a:\n    login(","replace":"x"}]}]}`
	m := (&asked{answers: []string{answer, answer}}).model()
	_, _, _, err := m.Code(t.Context(), b)
	require.ErrorContains(t, err, `"core/a.py": edit 1: what it looks for is not there: "if a:\n    login(", `+
		`but this, with other white space: "if a:\n\tlogin(\"<redacted`)
	require.NotContains(t, err.Error(), secret)
}

// TestTheTestsOfAnEarlierProposalAreShownWithFeedback is of a draft that its approver sent back.
func TestTheTestsOfAnEarlierProposalAreShownWithFeedback(t *testing.T) {
	t.Parallel()
	b := brief(map[string]string{"core/a.py": "a = 1\n"}, "core/a.py")
	b.Draft.Tests = []change.File{change.Of("core/test_a.py", "", "", "", "def test_a(): pass\n")}
	a := &asked{answers: []string{`{"tests":[]}`, `{"tests":[]}`}}
	_, _, err := a.model().Tests(t.Context(), b)
	require.NoError(t, err)
	require.NotContains(t, a.prompts[0], "test_a")
	b.Rounds = []string{"name it test_one"}
	_, _, err = a.model().Tests(t.Context(), b)
	require.NoError(t, err)
	require.Regexp(t, `(?s) earlier test>>>\n.*\+def test_a\(\): pass\n`, a.prompts[1])
}

// TestATextIsRefusedIfParserAndBracketsAgree has a parser that finds an error in each "!", and
// brackets that do not match in each "(".
func TestATextIsRefusedIfParserAndBracketsAgree(t *testing.T) {
	t.Parallel()
	const sure, unsure = "it does not parse afterwards", "it may not parse afterwards"
	for name, c := range map[string]struct{ before, after, why string }{
		"whole":                    {"a", "b", ""},
		"both":                     {"a", "!(", sure},
		"both, a new file":         {"", "!(", sure},
		"both, as before":          {"!(", "!(b", ""},
		"both, the parser before":  {"!", "!(", sure},
		"both, brackets before":    {"(", "!(", sure},
		"the parser":               {"a", "!", unsure},
		"the parser, a new file":   {"", "!", unsure},
		"the parser, as before":    {"!", "!b", ""},
		"brackets":                 {"a", "(", unsure},
		"brackets, as before":      {"(", "(b", ""},
		"the other than before":    {"(", "!", unsure},
		"one of the two as before": {"!(", "!", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"core/b.py": "b = 1\n"}
			if c.before != "" {
				files["core/a.py"] = c.before
			}
			b := brief(files, "core/a.py")
			b.Base.Broken = func(_ context.Context, _, text string) (errors, unmatched bool) {
				return strings.Contains(text, "!"), strings.Contains(text, "(")
			}
			all := []Proposed{{Path: "core/a.py", NewContent: &c.after}}
			_, refused, err := b.Base.Apply(t.Context(), all, nil, false)
			require.NoError(t, err)
			require.Equal(t, c.why == "", len(refused) == 0)
			require.Contains(t, strings.Join(refused, ""), c.why)
			made, refused, err := b.Base.Apply(t.Context(), all, nil, true)
			require.NoError(t, err)
			require.Equal(t, c.why == sure, len(made) == 0, "a doubt is admitted: %s", refused)
			require.Equal(t, c.why == unsure, len(made) > 0 && made[0].Doubt)
		})
	}
}

func TestALineThatStandsForOthersIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	for line, refused := range map[string]bool{"// ... existing code ...": true, "# … rest of the class": true,
		"... (unchanged)": true, "{/* ... other rows ... */}": true, "# ...": false, "f(...existing)": false,
		"...rest,": false, "# ... as in b.py": false, "// ... same as above": false} {
		b := brief(map[string]string{"core/a.py": "a = 1\n\t// ... same as above\n"}, "core/a.py")
		after := "def a():\n    " + line + "\n"
		all := []Proposed{{Path: "core/a.py", NewContent: &after}}
		_, why, err := b.Base.Apply(t.Context(), all, nil, false)
		require.NoError(t, err)
		require.Equal(t, refused, strings.Contains(strings.Join(why, ""), "stand for lines"), "%s: %s", line, why)
		made, _, err := b.Base.Apply(t.Context(), all, nil, true)
		require.NoError(t, err)
		require.Len(t, made, 1, line)
	}
}

// A prompt shows a no-break space as a space, a form feed as <U+000C>, and <s>, which may end a model's turn, as <\s>.
func TestAFileThatIsShownInAnotherFormIsNotReplacedWhole(t *testing.T) {
	t.Parallel()
	after := "new\n"
	for before, refused := range map[string]bool{"1\u00a0000\n": true, "a\fb\n": true, "<s>a</s>": true,
		"\ufeffa\r\nb\r\n": false, "a": false, "a\n\n": false, "": false,
		"\U0001f469\u200d\U0001f467\n": false} {
		b := brief(map[string]string{"a.txt": before})
		_, why, err := b.Base.Apply(t.Context(), []Proposed{{Path: "a.txt", NewContent: &after}}, nil, true)
		require.NoError(t, err)
		require.Equal(t, refused, len(why) > 0, "%q", before)
	}
}
