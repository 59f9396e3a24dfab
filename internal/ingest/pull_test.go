package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/pull"
)

var ref = pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 42}

// api is a repository with one pull request. Content is found under
// commit:path, faults under what is read.
type api struct {
	pull      pull.Pull
	files     []diff.File
	content   map[string]string
	faults    map[string]error
	protected map[string]bool

	mu    sync.Mutex
	reads []string
}

func (a *api) read(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads = append(a.reads, what)
	return a.faults[what]
}

func (a *api) Pull(context.Context, pull.Ref) (pull.Pull, error) { return a.pull, a.read("pull") }

func (a *api) Files(context.Context, pull.Pull) ([]diff.File, bool, error) {
	return append([]diff.File(nil), a.files...), true, a.read("files")
}

func (a *api) MergeBase(context.Context, pull.Pull) (string, error) {
	return "fork", a.read("merge base")
}

func (a *api) Content(_ context.Context, _, _, path, commit string, limit int64) ([]byte, error) {
	name := commit + ":" + path
	if err := a.read(name); err != nil {
		return nil, err
	}
	text, ok := a.content[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("reading %s: %w", name, github.ErrNotFound)
	case int64(len(text)) > limit:
		return nil, github.ErrTooLarge
	}
	return []byte(text), nil
}

func (a *api) Folder(_ context.Context, _, _, path, commit string) (names []string, err error) {
	for name := range a.content {
		if rest, in := strings.CutPrefix(name, commit+":"+path+"/"); in {
			names = append(names, rest)
		}
	}
	return names, a.read("folder " + path)
}

func (a *api) Protected(_ context.Context, _, _, branch string) (bool, error) {
	return a.protected[branch], a.read("protection of " + branch)
}

func (a *api) AllEntries(_ context.Context, _, _, commit string) (map[string]diff.Entry, error) {
	if err := a.read("entries of " + commit); err != nil {
		return nil, err
	}
	all := map[string]diff.Entry{}
	for name := range a.content {
		if path, in := strings.CutPrefix(name, commit+":"); in {
			all[path] = diff.Entry{Mode: "100644"}
		}
	}
	return all, nil
}

func repository(files ...diff.File) *api {
	return &api{
		pull: pull.Pull{Ref: ref, RepoID: 7, State: "open", BaseRef: "main", BaseSHA: "base", HeadSHA: "head",
			DefaultBranch: "main", ChangedFiles: len(files)},
		files: files, content: map[string]string{}, faults: map[string]error{}, protected: map[string]bool{},
	}
}

func read(t *testing.T, a *api) ingest.Change {
	t.Helper()
	c, err := ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.NoError(t, err)
	return c
}

func TestAPullRequestIsOneChangeInPathOrder(t *testing.T) {
	t.Parallel()
	a := repository(diff.File{Path: "b", Patch: "@@ -1 +1 @@\n-1\n+2"},
		diff.File{Path: "a", Patch: "@@ -1 +1 @@\n-1\n+2"})
	a.pull.ChangedFiles = 5
	c, err := ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Instance: "docs",
		Config: config.File{Path: config.DefaultPath}})
	require.NoError(t, err)
	require.Equal(t, []string{"#42", "o/r#42@docs:head", "head"}, []string{c.Name, c.Thread, c.Head})
	require.Equal(t, "a", c.Files[0].Path)
	require.Equal(t, 3, c.Unlisted, "P6: what GitHub does not list is counted")
	require.Equal(t, config.Default(), c.Config)
	require.NotContains(t, a.reads, "merge base", "nothing has to be diffed")
}

func TestT16_SettingsComeFromTheBaseAndNeverFromTheHead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base      string
		protected bool
		fault     error
		want      string
	}{
		"the default branch":          {"main", false, nil, "base"},
		"a protected branch":          {"release", true, nil, "base"},
		"a branch anybody pushes to":  {"feature", false, nil, "main"},
		"a branch that is gone":       {"feature", true, github.ErrNotFound, "main"},
		"a token that may not see it": {"feature", true, github.ErrNoAccess, "main"},
	} {
		a := repository(diff.File{Path: "a", Patch: "x"})
		a.pull.BaseRef = c.base
		a.protected[c.base] = c.protected && c.fault == nil
		a.faults["protection of "+c.base] = c.fault
		for _, commit := range []string{"base", "head", "main"} {
			a.content[commit+":"+config.DefaultPath] = "ignore: [" + commit + "]\n"
			a.content[commit+":.gitattributes"] = commit + " linguist-generated\n"
		}
		got := read(t, a)
		require.Equal(t, []string{c.want}, got.Config.Ignore, name)
		require.Equal(t, c.want+" linguist-generated\n", string(got.Attributes), name)
		require.NotContains(t, a.reads, "head:"+config.DefaultPath, name)
	}
}

// guides returns the paths of what guides a change's review.
func guides(c ingest.Change) (paths []string) {
	for _, d := range c.Guidance {
		paths = append(paths, d.Path)
	}
	return paths
}

func TestT16_AgentsFilesOfFoldersGuideTheFilesBelow(t *testing.T) {
	t.Parallel()
	all := []string{"AGENTS.md", "a/AGENTS.md", "web/AGENTS.md", "web/REVIEW.md", "web/ui/AGENTS.md",
		"web/ui/x/AGENTS.md"}
	changed := []diff.File{{Path: "b", Patch: "x"}, {Path: "web/ui/b.ts", Patch: "x"},
		{Path: "web/c/d/e.ts", Patch: "x"}, {Path: "/abs/b", Patch: "x"}, {Path: "../a/b", Patch: "x"}}
	for name, tc := range map[string]struct {
		base, settings string
		fault          error
		want           []string
	}{
		"the nearest first":     {"main", "", nil, []string{"web/ui/AGENTS.md", "web/AGENTS.md", "AGENTS.md"}},
		"of the default branch": {"feature", "", nil, []string{"web/ui/AGENTS.md", "web/AGENTS.md", "AGENTS.md"}},
		"too many to be listed": {"main", "", github.ErrTooLarge, []string{"AGENTS.md"}},
		"listed in the settings": {"main", "instructions: [AGENTS.md, web/AGENTS.md]\n", nil,
			[]string{"web/ui/AGENTS.md", "AGENTS.md", "web/AGENTS.md"}},
		"none wanted": {"main", "instructions: [web/REVIEW.md]\n", nil, []string{"web/REVIEW.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := repository(changed...)
			a.pull.BaseRef = tc.base
			at := map[string]string{"main": "base", "feature": "main"}[tc.base]
			a.faults["entries of "+at] = tc.fault
			for _, path := range all {
				a.content[at+":"+path] = "x\n"
				a.content["head:"+path], a.content["head:b/"+path] = "y\n", "y\n"
			}
			if tc.settings != "" {
				a.content[at+":"+config.DefaultPath] = tc.settings
			}
			require.Equal(t, tc.want, guides(read(t, a)))
			require.NotContains(t, a.reads, at+":web/c/AGENTS.md", "what is not there is not asked for")
		})
	}
	a := repository(changed[0])
	read(t, a)
	require.NotContains(t, a.reads, "entries of base", "there is no folder")
	a = repository(changed...)
	a.faults["entries of base"] = github.ErrNoAccess
	_, err := ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.ErrorIs(t, err, github.ErrNoAccess)

	r := newTree(t)
	var files []string
	for _, path := range append(all, "web/ui/b.ts") {
		files = append(files, path, "x\n")
	}
	r.commit(files...)
	r.commit("web/ui/b.ts", "y\n", "web/ui/AGENTS.md", "y\n", "new/AGENTS.md", "y\n")
	c := r.change("HEAD~..HEAD")
	require.Equal(t, []string{"web/ui/AGENTS.md", "web/AGENTS.md", "AGENTS.md"}, guides(c))
	require.Equal(t, "x\n", c.Guidance[0].Text, "the base's")
}

func TestT16_FoldersInstructionsPushOutNoneOfTheSettings(t *testing.T) {
	t.Parallel()
	var changed []diff.File
	for i := range 70 {
		changed = append(changed, diff.File{Path: fmt.Sprintf("f%02d/a", i), Patch: "x"})
	}
	for _, text := range []string{"x\n", ""} {
		a := repository(changed...)
		a.content["base:AGENTS.md"], a.content["base:CONTRIBUTING.md"] = "x\n", "x\n"
		for _, f := range changed {
			a.content["base:"+f.Path[:3]+"/AGENTS.md"] = text
		}
		all := guides(read(t, a))
		require.Equal(t, []string{"AGENTS.md", "CONTRIBUTING.md"}, all[len(all)-2:])
		require.Less(t, len(a.reads), 70, "what is empty counts too")
	}
}

func TestSettingsThatCannotBeReadEndTheRun(t *testing.T) {
	t.Parallel()
	a := repository()
	a.content["base:"+config.DefaultPath] = "ignores: []\n"
	_, err := ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.ErrorContains(t, err, config.DefaultPath+":1:1")
	broken := errors.New("502")
	for _, what := range []string{"pull", "files", "base:" + config.DefaultPath, "base:.gitattributes"} {
		a := repository()
		a.faults[what] = broken
		_, err := ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
		require.ErrorIs(t, err, broken, what)
	}
	a = repository()
	a.pull.BaseRef, a.faults["protection of release"] = "release", broken
	_, err = ingest.Pull(t.Context(), a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.ErrorIs(t, err, broken)
}

func TestFilesWithoutAPatchAreDiffedFromTheirBlobs(t *testing.T) {
	t.Parallel()
	a := repository(
		diff.File{Path: "added", Status: diff.Added, Additions: 2, Blob: "b1"},
		diff.File{Path: "changed", Status: diff.Modified, Additions: 1, Deletions: 1, Blob: "b2"},
		diff.File{Path: "new", OldPath: "old", Status: diff.Renamed, Additions: 1, Blob: "b3"},
		diff.File{Path: "blob", Status: diff.Modified, Additions: 9, Blob: "b4"},
		diff.File{Path: "deleted", Status: diff.Removed, Deletions: 3, Blob: "b5"},
		diff.File{Path: "image.png", Status: diff.Added, Binary: true, Blob: "b6"},
		diff.File{Path: "huge", Status: diff.Modified, Additions: config.DefaultMaxLines + 1, Blob: "b7"},
		diff.File{Path: "moved", OldPath: "from", Status: diff.Renamed, Blob: "b8"},
		diff.File{Path: "whole", Status: diff.Modified, Additions: 1, Patch: "@@ as GitHub gave it"},
	)
	a.content = map[string]string{
		"head:added": "1\n2\n", "fork:changed": "1\n", "head:changed": "one\n", "fork:old": "1\n", "head:new": "1\n2\n",
		"fork:blob": "x\x00", "head:blob": "text\n",
	}
	got := map[string]diff.File{}
	for _, f := range read(t, a).Files {
		got[f.Path] = f
		require.Empty(t, f.Problem, f.Path)
	}
	require.Equal(t, "@@ -0,0 +1,2 @@\n+1\n+2", got["added"].Patch)
	require.Equal(t, "@@ -1 +1 @@\n-1\n+one", got["changed"].Patch)
	require.Equal(t, "@@ -1 +1,2 @@\n 1\n+2", got["new"].Patch)
	require.True(t, got["blob"].Binary)
	require.Empty(t, got["image.png"].Patch)
	for _, path := range []string{"deleted", "huge", "moved"} {
		require.Empty(t, got[path].Patch, path)
		require.NotContains(t, a.reads, "head:"+path)
	}
	require.Equal(t, "@@ as GitHub gave it", got["whole"].Patch)
}

func TestP6_AFileThatCannotBeReadCostsThatFileAlone(t *testing.T) {
	t.Parallel()
	missing := func(path string) diff.File { return diff.File{Path: path, Status: diff.Modified, Additions: 1} }
	a := repository(missing("gone"), missing("good"), missing("large"), missing("broken"))
	for _, path := range []string{"good", "large", "broken", "gone"} {
		a.content["fork:"+path], a.content["head:"+path] = "1\n", "2\n"
	}
	delete(a.content, "fork:gone")
	a.faults["head:large"], a.faults["head:broken"] = github.ErrTooLarge, errors.New("502")
	problems := map[string]string{}
	for _, f := range read(t, a).Files {
		problems[f.Path] = f.Problem
		require.Equal(t, f.Problem == "", f.Patch != "", f.Path)
	}
	require.Empty(t, problems["good"])
	require.Contains(t, problems["gone"], "neither a diff nor the content")
	require.Contains(t, problems["large"], "too large")
	require.Contains(t, problems["broken"], "could not be read")
}

func TestP6_AMissingMergeBaseCostsTheFilesThatNeedIt(t *testing.T) {
	t.Parallel()
	a := repository(diff.File{Path: "a", Status: diff.Modified, Additions: 1},
		diff.File{Path: "b", Status: diff.Modified, Additions: 1, Patch: "@@ -1 +1 @@\n-1\n+2"})
	a.faults["merge base"] = fmt.Errorf("comparing: %w", github.ErrNotFound)
	c := read(t, a)
	require.NotEmpty(t, c.Files[0].Problem)
	require.Empty(t, c.Files[1].Problem)
}

func TestAnEndedRunIsNoProblemOfAFile(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := repository(diff.File{Path: "a", Status: diff.Modified, Additions: 1})
	_, err := ingest.Pull(ctx, a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.ErrorIs(t, err, context.Canceled)
	a.faults["merge base"] = context.Canceled
	_, err = ingest.Pull(ctx, a, ref, ingest.PullOptions{Config: config.File{Path: config.DefaultPath}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestCheck9_TheDigestIsHadWithoutReadingContent(t *testing.T) {
	t.Parallel()
	a := repository(diff.File{Path: "b", Status: diff.Modified, Additions: 1, Blob: "b1"},
		diff.File{Path: "a", Patch: "@@ -1 +1 @@\n-1\n+2"})
	a.content["fork:b"], a.content["head:b"] = "1\n", "2\n"
	drafted := read(t, a)
	a.reads = nil
	now, err := ingest.Current(t.Context(), a, ref)
	require.NoError(t, err)
	require.Equal(t, []string{"pull", "files"}, a.reads)
	require.Equal(t, drafted.Digest(), now.Digest())
	require.Equal(t, "head", now.Head)
	require.Equal(t, "open", now.Pull.State)
	a.files[0].Blob = "b2"
	now, err = ingest.Current(t.Context(), a, ref)
	require.NoError(t, err)
	require.NotEqual(t, drafted.Digest(), now.Digest())
	for _, what := range []string{"pull", "files"} {
		a.faults = map[string]error{what: github.ErrNoAccess}
		_, err = ingest.Current(t.Context(), a, ref)
		require.ErrorIs(t, err, github.ErrNoAccess)
	}
}
