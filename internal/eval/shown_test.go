package eval_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
)

// trees are the cases of the starter set that bring a tree.
func trees(t *testing.T) (all []dataset.Case) {
	t.Helper()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	for _, c := range starter {
		if len(c.Tree) > 0 {
			all = append(all, c)
		}
	}
	return all
}

func TestWhatIsElsewhereIsFoundWithPacksOrToolsAndNotWithout(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), eval.Reviewer{})
	o.Cases = trees(t)
	o.Reviewer = eval.Looking(o.Cases)
	report, err := eval.RunShown(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, len(o.Cases), report.Shown["both"].Elsewhere.Golden)
	require.Equal(t, len(o.Cases), report.Shown["both"].Elsewhere.Hit)
	require.GreaterOrEqual(t, 10*report.Shown["tools"].Elsewhere.Hit, 9*len(o.Cases))
	require.GreaterOrEqual(t, 10*report.Shown["packs"].Elsewhere.Hit, 9*len(o.Cases))
	require.LessOrEqual(t, 5*report.Shown["neither"].Elsewhere.Hit, len(o.Cases))
	require.Equal(t, report.Counts, report.Shown["both"].Counts)
	require.Contains(t, report.Markdown(), "### By what was shown")
	again, err := eval.RunShown(t.Context(), o)
	require.NoError(t, err)
	report.Seconds = again.Seconds
	require.Equal(t, report, again, "the same answers, the same object")
	page, err := eval.Page(t.Context(), o.Dir, o.Cases[0].ID)
	require.NoError(t, err)
	require.Contains(t, page, "what the tools gave")
	require.Contains(t, page, "Calls `find_references` with")
}

// repo makes a clone with two commits, and a case between them whose evidence stands
// in another file.
func repo(t *testing.T, dir string, flags ...string) dataset.Case {
	t.Helper()
	work := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", work, "-c", "user.name=a", "-c",
			"user.email=a@example.com"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
	}
	git("init", "-q")
	put("a.go", "package a\n\nfunc Limit() int { return 3 }\n")
	put("b.go", "package a\n\nvar table [3]int\n\nfunc last() int { return table[Limit()-1] }\n")
	git("add", ".")
	git("commit", "-qm", "a")
	base := strings.TrimSpace(git("rev-parse", "HEAD"))
	put("a.go", "package a\n\nfunc Limit() int { return 9 }\n")
	git("commit", "-qam", "b")
	if len(flags) > 0 || dir != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
		git(append(append([]string{"clone", "-q"}, flags...), work, dir)...)
	}
	return dataset.Case{ID: "r", Language: "go", Kind: dataset.Bug, Title: "t", Repo: "octo/demo", Base: base,
		Head: strings.TrimSpace(git("rev-parse", "HEAD")), Diff: git("diff", "HEAD~1"),
		Golden: []dataset.Golden{{Path: "a.go", LineStart: 3, LineEnd: 3, Severity: "major",
			Visibility: dataset.Context, Issue: "The table holds three.",
			Evidence: []dataset.Place{{Path: "b.go", LineStart: 5, LineEnd: 5}}}}}
}

func TestACaseOfACloneIsLookedAroundIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string
		flags []string
	}{
		"a work tree": {"octo/demo", nil}, "bare": {"octo+demo", []string{"--bare"}},
		"bare, in a folder of its owner": {"octo/demo", []string{"--bare"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, t.TempDir(), eval.Reviewer{})
			o.Repos = t.TempDir()
			o.Cases = []dataset.Case{repo(t, filepath.Join(o.Repos, c.at), c.flags...)}
			require.NoError(t, eval.InRepos(t.Context(), o.Repos)(o.Cases[0]))
			o.Reviewer = eval.Looking(o.Cases)
			report, err := eval.RunShown(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, score.Part{Hit: 1, Golden: 1}, report.Shown["tools"].Elsewhere)
			require.Equal(t, score.Part{Golden: 1}, report.Shown["neither"].Elsewhere)
		})
	}
}

func TestACaseOfACloneWithoutItsCommitIsToldOf(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), scripted())
	o.Repos = t.TempDir()
	o.Cases = o.Cases[:1]
	o.Cases[0].Repo, o.Cases[0].Base = "octo/demo", strings.Repeat("1", 40)
	var told string
	o.Warn = func(err error) { told = err.Error() }
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, told, "names no base or head, so its diff is all that is read of octo/demo")
}

func TestWhatIsWrongWithAClonesCaseIsToldBeforeTheRun(t *testing.T) {
	t.Parallel()
	repos := t.TempDir()
	good := repo(t, filepath.Join(repos, "octo+demo"))
	for want, change := range map[string]func(*dataset.Case){
		"there is no clone of octo/other in ":    func(c *dataset.Case) { c.Repo = "octo/other" },
		"is not owner/name":                      func(c *dataset.Case) { c.Repo = "../demo" },
		"listing the files of":                   func(c *dataset.Case) { c.Head = strings.Repeat("0", 40) },
		"is not a commit's full hash":            func(c *dataset.Case) { c.Base = "HEAD" },
		`golden[0].evidence: "gone.go"`:          func(c *dataset.Case) { c.Golden[0].Evidence[0].Path = "gone.go" },
		`golden[0].evidence: "b.go" has 6 lines`: func(c *dataset.Case) { c.Golden[0].Evidence[0].LineEnd = 7 },
		`path "../b.go" leaves the tree`:         func(c *dataset.Case) { c.Golden[0].Evidence[0].Path = "../b.go" },
	} {
		t.Run(want, func(t *testing.T) {
			c := good
			c.Golden = []dataset.Golden{good.Golden[0]}
			c.Golden[0].Evidence = []dataset.Place{good.Golden[0].Evidence[0]}
			change(&c)
			require.ErrorContains(t, eval.InRepos(t.Context(), repos)(c), want)
		})
	}
	require.NoError(t, eval.InRepos(t.Context(), "")(good), "without --repos the diff is all there is")
}
