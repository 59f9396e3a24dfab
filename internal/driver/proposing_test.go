package driver_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// samples are three repositories of our own with tickets, and a model's answers to each.
const samples = "../../testdata/implement"

// proposing is a ticket of a sample in its own clone, with a scripted model.
type proposing struct {
	t      *testing.T
	dir    string
	base   ingest.Base
	ticket ticket.Ticket
	model  *llmtest.Server
	store  graph.Store
	show   ticket.Show
	check  func(context.Context, []change.File) (*change.Check, error)
}

type answers = map[string][]json.RawMessage

// committed has each sample with its repository of one commit, which git makes once.
var committed sync.Map

func (p *proposing) commit(from string) fs.FS {
	dir := p.dir
	defer func() { p.dir = dir }()
	p.dir = p.t.TempDir()
	require.NoError(p.t, os.CopyFS(p.dir, os.DirFS(from)))
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"config", "user.name", "Maya"},
		{"config", "user.email", "maya@example.com"}, {"add", "."}, {"commit", "-qm", "one"},
		{"repack", "-qad"}} { // one pack instead of files that each copy would have to create
		p.git(args...)
	}
	all := fstest.MapFS{}
	require.NoError(p.t, fs.WalkDir(os.DirFS(p.dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(p.dir, path))
		all[path] = &fstest.MapFile{Data: data, Mode: 0o600}
		return err
	}))
	return all
}

// newProposal copies a sample and commits it; alter changes the model's answers.
func newProposal(t *testing.T, sample, key string, alter func(answers)) *proposing {
	t.Helper()
	from := filepath.Join(samples, sample)
	p := &proposing{t: t, dir: t.TempDir(), store: graph.NewMemory(), show: ticket.ShowFull}
	commit, _ := committed.LoadOrStore(from, sync.OnceValue(func() fs.FS { return p.commit(from) }))
	require.NoError(t, os.CopyFS(p.dir, commit.(func() fs.FS)()))
	text, err := os.ReadFile(filepath.Join(from, key+".md"))
	require.NoError(t, err)
	p.ticket = ticket.FromMarkdown(key, string(text))
	p.model = llmtest.Start(t, scripted(t, sample, key, alter))
	p.base, err = ingest.BaseAt(t.Context(), p.dir, "", config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	return p
}

// scripted is the model of a sample's ticket; alter changes its answers.
func scripted(t *testing.T, sample, key string, alter func(answers)) llmtest.Script {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samples, sample, key+".json"))
	require.NoError(t, err)
	all, err := llmtest.ReadImplement(text)
	require.NoError(t, err)
	if alter != nil {
		alter(all)
	}
	return llmtest.Implement(all, llmtest.Honest)
}

func (p *proposing) git(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func (p *proposing) thread() string { return "local/x~" + p.ticket.Key + ":" + p.base.Commit }

func (p *proposing) driver() driver.Driver {
	now := func() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }
	front := driver.NewFront(driver.Process{Now: now})
	return driver.Driver{Front: front, Store: p.store, Thread: p.thread(), Warn: func(string) {}, Tell: func(string) {}}
}

// advance takes the thread on as a process does that drafts and may commit.
func (p *proposing) advance(answer *graph.Answer) (driver.Proposal, error) {
	p.t.Helper()
	s := settings.Defaults()
	s.BaseURL, s.Model = p.model.URL, "fake"
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	base := tree.Clone(p.base.Clone, p.base.Commit)
	entries, err := base.Entries(p.t.Context())
	require.NoError(p.t, err)
	steps, begin, err := p.driver().Propose(p.t.Context(), driver.Proposing{
		Facts: checkpoint.Manifest{Thread: p.thread(), Subject: checkpoint.Subject{Kind: "ticket", Head: p.base.Commit},
			CreatedAt: now, ExpiresAt: now.Add(time.Hour)},
		Into: "main", Show: p.show, Config: p.base.Config, Settings: s,
		Ticket: p.ticket, Check: p.check,
		Place: wire.Place{Tree: base, Commit: p.base.Commit, Name: "clone"}, Entries: entries,
	})
	require.NoError(p.t, err)
	steps.Apply = driver.CommitTo(p.base)
	return p.driver().Advance(p.t.Context(), steps, begin, answer)
}

// draft runs to the gate, or the end.
func (p *proposing) draft() driver.Proposal {
	p.t.Helper()
	r, err := p.advance(nil)
	require.NoError(p.t, err)
	return r
}

func (p *proposing) report() driver.Proposal {
	p.t.Helper()
	r, err := p.driver().Proposed(p.t.Context())
	require.NoError(p.t, err)
	return r
}

// decide answers the gate with commands, one a line.
func (p *proposing) decide(text string) (driver.Proposal, error) {
	p.t.Helper()
	r := p.report()
	d, err := gate.Decide(text, "", "", r.State.Items(), time.Time{})
	if err != nil {
		return r, err
	}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: "maya", At: time.Unix(1, 0),
		Via: decision.ByCommandLine}
	r, err = p.advance(driver.AnswerTo(r.Packed.Manifest, decision.Answer{Decision: d, Record: record.With(d)}))
	require.NoError(p.t, err)
	return r, nil
}

// untouched holds that the clone has nothing but what it had.
func (p *proposing) untouched() {
	p.t.Helper()
	require.Equal(p.t, "main", p.git("for-each-ref", "--format=%(refname:short)"))
	require.Empty(p.t, p.git("status", "--porcelain"))
}

// texts are the files of a commit.
func (p *proposing) texts(commit string) map[string]string {
	p.t.Helper()
	all := map[string]string{}
	var paths, hashes []string
	for line := range strings.SplitSeq(p.git("ls-tree", "-r", commit), "\n") {
		about, path, _ := strings.Cut(line, "\t")
		paths, hashes = append(paths, path), append(hashes, strings.Fields(about)[2])
	}
	texts, err := p.base.Clone.Blobs(p.t.Context(), hashes)
	require.NoError(p.t, err)
	for i, path := range paths {
		all[path] = string(texts[i])
	}
	return all
}

// asked are the user turns of a question.
func (p *proposing) asked(question string) (all []string) {
	for _, r := range p.model.Requests() {
		if r.Question == question {
			all = append(all, r.User)
		}
	}
	return all
}

// warnings are what a proposal warns its approver of, one a line.
func warnings(r driver.Proposal) string {
	return strings.Join(r.State.Warnings(), "\n")
}

// patch is a proposal's diff.
func patch(r driver.Proposal) string { return change.Unified(r.State.Kept().Proposed()) }
