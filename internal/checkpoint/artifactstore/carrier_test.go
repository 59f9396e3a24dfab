package artifactstore_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/transport"
)

// world is a run of a fake GitHub, and what its jobs speak to it with.
type world struct {
	*githubtest.Server
	t    *testing.T
	repo *githubtest.Repo
	run  *githubtest.Run
}

func newWorld(t *testing.T, event string, options ...githubtest.Options) world {
	t.Helper()
	s := githubtest.New(t, options...)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	return world{s, t, repo, repo.AddRun(githubtest.RunOptions{Event: event})}
}

func (w world) runtime() artifactstore.Runtime {
	w.t.Helper()
	hc := transport.New(transport.Options{Retry: artifact.Retry, Tries: 2,
		Sleep: func(context.Context, time.Duration) error {
			return nil
		}})
	w.t.Cleanup(hc.CloseIdleConnections)
	c, err := artifact.New(artifact.Options{ResultsURL: w.ResultsURL, Token: w.RuntimeToken(w.run, "draft"), HTTP: hc})
	require.NoError(w.t, err)
	return artifactstore.Runtime{Client: c, Prefix: "pr-review-42-", Days: 3, RunID: w.run.ID, RepositoryID: w.repo.ID}
}

func (w world) cache() artifactstore.Cache {
	return artifactstore.Cache{Client: w.runtime().Client, Prefix: "pr-review-42-101-"}
}

func (w world) rest(run int64) artifactstore.REST {
	w.t.Helper()
	hc := transport.New(transport.Options{})
	w.t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: w.URL, Token: w.AppToken(w.repo, map[string]string{"actions": "read"}),
		HTTP: hc})
	require.NoError(w.t, err)
	return artifactstore.REST{API: c, Owner: "o", Repo: "r",
		Artifacts: github.Artifacts{Prefix: "pr-review-42-", Run: run, Pages: 2}}
}

func TestEveryCarrierGivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "workflow_dispatch")
	for name, c := range map[string]artifactstore.Carrier{
		"runtime": w.runtime(), "cache": w.cache(),
		"folder": artifactstore.Dir{Path: filepath.Join(t.TempDir(), "new"), Prefix: "pr-review-42-"},
	} {
		t.Run(name, func(t *testing.T) {
			items, err := c.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, items)
			require.NoError(t, c.Put(t.Context(), "pr-review-42-partial-1-aa", []byte("zip bytes")))
			items, err = c.List(t.Context())
			require.NoError(t, err)
			require.Len(t, items, 1)
			require.Equal(t, "pr-review-42-partial-1-aa", items[0].Name)
			require.Equal(t, map[string]artifactstore.Source{"runtime": artifactstore.OfRun,
				"cache":  artifactstore.OfCache,
				"folder": artifactstore.OfFolder}[name], items[0].Source)
			zip, err := c.Get(t.Context(), items[0], 9)
			require.NoError(t, err)
			require.Equal(t, "zip bytes", string(zip))
			_, err = c.Get(t.Context(), items[0], 8)
			require.ErrorIs(t, err, transport.ErrTooLarge)
			require.NoError(t, c.Delete(t.Context(), "pr-review-42-partial-9-ff"), "what is not there is deleted")
			require.NoError(t, c.Delete(t.Context(), items[0].Name))
			if name == "cache" {
				return // nothing can be deleted there
			}
			_, err = c.Get(t.Context(), items[0], 9)
			require.Error(t, err)
			items, err = c.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, items)
		})
	}
}

// An attempt is killed; the next one takes what the first had carried away.
func TestP4_TheNextAttemptFindsThePartial(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shared bool
		rerun  func(world)
		found  map[string]bool
	}{
		"failed jobs": {false, func(w world) {
			w.run.Rerun()
		}, map[string]bool{"rest": true, "cache": true}},
		"failed jobs, attempts shown": {true, func(w world) {
			w.run.Rerun()
		}, map[string]bool{"runtime": true, "rest": true, "cache": true}},
		"all jobs":                 {false, func(w world) { w.run.RerunAll() }, map[string]bool{"cache": true}},
		"all jobs, attempts shown": {true, func(w world) { w.run.RerunAll() }, map[string]bool{"cache": true}},
		"all jobs, cache evicted":  {false, func(w world) { w.run.RerunAll(); w.repo.ClearCache() }, map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "workflow_dispatch", githubtest.Options{SharedAttempts: tc.shared})
			first := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{w.runtime(), w.cache()},
				Interval: -1})
			require.NoError(t, first.Save(t.Context(), thread, []byte("snapshot")))
			require.NoError(t, first.Append(t.Context(), thread, []byte("paid")))
			require.NoError(t, first.Flush(t.Context()))

			w.run.Finish("cancelled")
			tc.rerun(w)
			for place, c := range map[string]artifactstore.Carrier{"runtime": w.runtime(), "rest": w.rest(w.run.ID),
				"cache": w.cache()} {
				items, err := c.List(t.Context())
				require.NoError(t, err)
				require.Equal(t, tc.found[place], len(items) == 1, "%s: %v", place, items)
				if len(items) == 1 {
					_, saved := newest(t, c)
					require.Equal(t, "paid", string(saved.Journal[0]), place)
				}
			}
		})
	}
}

func TestT19_AForksPartialSaysThatItIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "pull_request_target")
	fork := w.AddRepo("f/r", githubtest.RepoOptions{ForkOf: w.repo})
	foreign := w.repo.AddRun(githubtest.RunOptions{HeadRepo: fork, Event: "pull_request"})
	const name = "pr-review-42-partial-1-aa"
	require.NoError(t, w.runtime().Put(t.Context(), name, []byte("own")))
	w.run.AddArtifact("coverage", []byte("x"))
	foreign.AddArtifact(name, []byte("planted"))

	any := w.rest(0)
	for _, any.Name = range []string{"", name} {
		items, err := any.List(t.Context())
		require.NoError(t, err)
		require.Len(t, items, 2)
		require.Equal(t, []int64{foreign.ID, w.repo.ID}, []int64{items[0].RunID, items[0].RepositoryID},
			"the newest is the fork's")
		require.Equal(t, []int64{w.run.ID, w.repo.ID}, []int64{items[1].RunID, items[1].RepositoryID})
		zip, err := any.Get(t.Context(), items[1], 100)
		require.NoError(t, err)
		require.Equal(t, "own", string(zip), "by id, not by name")
	}
	for _, one := range []artifactstore.REST{w.rest(w.run.ID),
		{API: any.API, Owner: "o", Repo: "r", Artifacts: github.Artifacts{Run: w.run.ID, Name: name}}} {
		items, err := one.List(t.Context())
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.Equal(t, w.run.ID, items[0].RunID)
	}
	require.ErrorIs(t, any.Put(t.Context(), name, nil), artifactstore.ErrReadOnly)
	require.ErrorIs(t, any.Delete(t.Context(), name), artifactstore.ErrReadOnly)
}

func TestT20_WhatTookANameOverIsNotTheListedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "pull_request_target")
	c := w.runtime()
	const name = "pr-review-42-partial-1-aa"
	require.NoError(t, c.Put(t.Context(), name, []byte("shown")))
	for place, c := range map[string]artifactstore.Carrier{"runtime": c, "rest": w.rest(w.run.ID)} {
		items, err := c.List(t.Context())
		require.NoError(t, err)
		stored := w.run.Artifacts()[0]
		stored.Replace([]byte("swapped"))
		_, err = c.Get(t.Context(), items[0], 100)
		require.ErrorIs(t, err, artifact.ErrDigest, place)
		stored.Replace([]byte("shown"))
	}
	listed, err := c.List(t.Context())
	require.NoError(t, err)
	byREST, err := w.rest(w.run.ID).List(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.Delete(t.Context(), name))
	require.NoError(t, c.Put(t.Context(), name, []byte("swapped")))
	_, err = c.Get(t.Context(), listed[0], 100)
	require.ErrorIs(t, err, artifact.ErrNotFound, "another id has the name")
	_, err = w.rest(w.run.ID).Get(t.Context(), byREST[0], 100)
	require.ErrorIs(t, err, github.ErrNotFound)
}

// TestTheStepsBesideOursReadTheFolder: a container action runs as root, the steps next to it as the runner's user.
func TestTheStepsBesideOursReadTheFolder(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(place, "as"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(place, "as", "a.zip"), nil, 0o644))
	require.NoError(t, artifactstore.Dir{Path: filepath.Join(place, "in")}.Put(t.Context(), "a", []byte("zip")))
	for _, name := range []string{"", "a.zip"} {
		want, err := os.Stat(filepath.Join(place, "as", name))
		require.NoError(t, err)
		have, err := os.Stat(filepath.Join(place, "in", name))
		require.NoError(t, err)
		require.Equal(t, want.Mode(), have.Mode(), name)
	}
}

func TestT22_AFolderIsNeverLeft(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	outside := filepath.Join(place, "outside.zip")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	c := artifactstore.Dir{Path: filepath.Join(place, "in")}
	require.NoError(t, c.Put(t.Context(), "a", []byte("zip")))
	require.NoError(t, os.Symlink(outside, filepath.Join(c.Path, "link.zip")))
	require.NoError(t, os.Symlink(filepath.Join(c.Path, "a.zip"), filepath.Join(c.Path, "inner.zip")))
	require.NoError(t, os.Mkdir(filepath.Join(c.Path, "folder.zip"), 0o700))
	before := tree(t, place)

	items, err := c.List(t.Context())
	require.NoError(t, err)
	require.Len(t, items, 1, "neither links nor folders")
	for _, name := range []string{"../outside", "/etc/passwd", `..\outside`, "a\x00", "", ".", ".a", "sub/a"} {
		require.ErrorContains(t, c.Put(t.Context(), name, []byte("x")), "cannot name", name)
		require.ErrorContains(t, c.Delete(t.Context(), name), "cannot name", name)
		_, err := c.Get(t.Context(), artifactstore.Item{Artifact: github.Artifact{Name: name}}, 100)
		require.ErrorContains(t, err, "cannot name", name)
	}
	for _, name := range []string{"link", "inner", "folder"} {
		_, err := c.Get(t.Context(), artifactstore.Item{Artifact: github.Artifact{Name: name}}, 100)
		require.ErrorContains(t, err, "not a regular file", name)
	}
	require.Equal(t, before, tree(t, place))
	require.ErrorIs(t, c.Put(t.Context(), "link", []byte("ours")), artifact.ErrExists)
	text, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "secret", string(text), "a link is not followed")
}

// TestWhatAKilledJobLeftUnfinishedIsRemoved leaves alone what a job may still be writing, and what is not ours.
func TestWhatAKilledJobLeftUnfinishedIsRemoved(t *testing.T) {
	t.Parallel()
	c := artifactstore.Dir{Path: t.TempDir(), Prefix: "pr-review-"}
	const killed = ".pr-review-42-aa.ABCDEFG2.tmp"
	stay := []string{".pr-review-42-aa.ABCDEFG3.tmp", ".pr-review-42-aa.tmp", ".pr-review-42-aa.abcdefg2.tmp",
		".other.ABCDEFG2.tmp", "pr-review-42-aa.ABCDEFG2.tmp", ".pr-review-42-bb.ABCDEFG4.tmp"}
	for _, name := range append(stay, killed) {
		file := filepath.Join(c.Path, name)
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		if name != stay[0] {
			long := time.Now().Add(-2 * time.Hour)
			require.NoError(t, os.Chtimes(file, long, long))
		}
	}
	last := filepath.Join(c.Path, stay[len(stay)-1])
	require.NoError(t, os.Remove(last))
	require.NoError(t, os.Mkdir(last, 0o700))
	require.NoError(t, os.Chtimes(last, time.Unix(1, 0), time.Unix(1, 0)))
	require.NoError(t, c.Put(t.Context(), "pr-review-42-cc", []byte("zip")))
	require.NoFileExists(t, filepath.Join(c.Path, killed))
	for _, name := range stay[:len(stay)-1] {
		require.FileExists(t, filepath.Join(c.Path, name))
	}
	require.DirExists(t, last)
}

// TestAKilledRunsProgressInAFolderIsKeptAsLongAsAnArtifact keeps drafts and records permanently.
func TestAKilledRunsProgressInAFolderIsKeptAsLongAsAnArtifact(t *testing.T) {
	t.Parallel()
	c := artifactstore.Dir{Path: t.TempDir(), Prefix: "pr-review-", Days: 2}
	for name, days := range map[string]int{
		"pr-review-42-partial-1-0123456789abcdef": 3, "pr-review-42-docs-partial-12-0123456789abcdef": 3,
		"pr-review-42-partial-2-0123456789abcdef": 1, "pr-review-42-0123456789abcdef": 99,
		"pr-review-decision-0123456789abcdef": 99, "other-42-partial-1-0123456789abcdef": 99,
		"pr-review-42-partial-1": 99,
	} {
		file := filepath.Join(c.Path, name+".zip")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		made := time.Now().AddDate(0, 0, -days)
		require.NoError(t, os.Chtimes(file, made, made))
	}
	require.NoError(t, c.Put(t.Context(), "pr-review-43-0123456789abcdef", []byte("zip")))
	left, err := filepath.Glob(filepath.Join(c.Path, "*.zip"))
	require.NoError(t, err)
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	require.Equal(t, []string{"other-42-partial-1-0123456789abcdef.zip", "pr-review-42-0123456789abcdef.zip",
		"pr-review-42-partial-1.zip", "pr-review-42-partial-2-0123456789abcdef.zip",
		"pr-review-43-0123456789abcdef.zip",
		"pr-review-decision-0123456789abcdef.zip"}, left)
}

func TestOfJobsThatShareAFolderOneTakesAName(t *testing.T) {
	t.Parallel()
	c := artifactstore.Dir{Path: t.TempDir()}
	var g errgroup.Group
	var stored [16]error
	zip := func(i int) []byte { return []byte(strings.Repeat(strconv.Itoa(i), 5000+i)) }
	for i := range stored {
		g.Go(func() error { stored[i] = c.Put(t.Context(), "pr-review-decision-aa", zip(i)); return nil })
	}
	_ = g.Wait()
	items, err := c.List(t.Context())
	require.NoError(t, err)
	require.Len(t, items, 1)
	text, err := c.Get(t.Context(), items[0], 1<<20)
	require.NoError(t, err)
	for i, err := range stored {
		if string(text) == string(zip(i)) {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, artifact.ErrExists)
	}
	require.NoError(t, c.Put(t.Context(), items[0].Name, text), "the same zip again")
	require.Len(t, tree(t, c.Path), 2, "folder and zip: no other file is left")
}

func tree(t *testing.T, root string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}

func TestT34_AnEntryOfTheCacheNamesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "workflow_dispatch")
	c := w.cache()
	require.NoError(t, c.Put(t.Context(), "pr-review-42-partial-1-aa", []byte("own")))
	require.Equal(t, []string{"pr-review-42-101-pr-review-42-partial-1-aa"}, w.repo.CacheKeys())
	w.repo.PlantCache(w.repo.CacheKeys()[0], []byte("poisoned"))
	items, err := c.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []artifactstore.Item{{Source: artifactstore.OfCache,
		Artifact: github.Artifact{Name: "pr-review-42-partial-1-aa"}}}, items,
		"no run, no repository, no digest: nothing to trust it by but a seal inside")
	zip, err := c.Get(t.Context(), items[0], 100)
	require.NoError(t, err)
	require.Equal(t, "poisoned", string(zip), "the service cannot tell")

	other := w.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadBranch: "topic"})
	w.run = other
	require.NoError(t, w.cache().Put(t.Context(), "pr-review-42-partial-2-bb", []byte("a branch's")))
	items, err = c.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, "pr-review-42-partial-1-aa", items[0].Name, "what a pull_request run stores stays with it")
}
