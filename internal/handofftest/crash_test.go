package handofftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
)

// lives drafts in a store, hands the draft over as a zip, and decides it.
func lives[S any](f Flow[S]) {
	at, _ := strconv.Atoi(os.Getenv("HANDOFF_KILL"))
	p := &program{home: os.Getenv("HANDOFF_HOME"), kill: at}
	if err := errors.Join(f.drafts(p), f.decides(p)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program is one life of a process that may end at any of its steps.
type program struct {
	home string
	kill int // the step at which it dies, from 1; 0 for none
	step int
}

func (p *program) path(name string) string { return filepath.Join(p.home, name) }

// at notes a step, and dies there where that was wanted: kill -9.
func (p *program) at(what string) {
	p.note("steps", what)
	if p.step++; p.step == p.kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// note adds a line to a file.
func (p *program) note(file, line string) {
	f, err := os.OpenFile(p.path(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// drafts runs the graph up to its gate and leaves the checkpoint, all of it or nothing.
func (f Flow[S]) drafts(p *program) error {
	if _, err := os.Stat(p.path("draft.zip")); err == nil {
		return nil
	}
	files, err := filestore.New(p.path("store"))
	if err != nil {
		return err
	}
	defer files.Close()
	draft, err := f.draft(context.Background(), World{Store: watched{files, p}, Paid: func(answer string) {
		p.note("paid", answer)
		p.at("paid")
	}}, f.local(), checkpoint.Protection{})
	if err == nil {
		p.at("packed")
		err = os.WriteFile(p.path("draft.part"), draft.Zip, 0o600)
	}
	return errors.Join(err, os.Rename(p.path("draft.part"), p.path("draft.zip")))
}

// decides opens the checkpoint and approves it.
func (f Flow[S]) decides(p *program) error {
	zip, err := os.ReadFile(p.path("draft.zip"))
	if err != nil {
		return err
	}
	draft, err := Open(zip)
	if err != nil {
		return err
	}
	records := folder{p.path("records"), 7, func(int64) (bool, bool) { return false, false }, func() {}}
	return f.decide(context.Background(), draft, p.path("out"), told{records, p}, records.run, decision.Approve,
		func(s graph.Store) graph.Store { return watched{s, p} })
}

// watched is a store whose writes are steps, before and after.
type watched struct {
	graph.Store
	p *program
}

func (w watched) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	w.p.at("save")
	err := w.Store.Save(ctx, thread, snapshot...)
	w.p.at("saved")
	return err
}

func (w watched) Append(ctx context.Context, thread string, record ...[]byte) error {
	w.p.at("append")
	err := w.Store.Append(ctx, thread, record...)
	w.p.at("appended")
	return err
}

// told keeps records, and has a step before and after each.
type told struct {
	handoff.Records
	p *program
}

func (r told) Put(ctx context.Context, record decision.Record) error {
	r.p.at("put")
	err := r.Records.Put(ctx, record)
	r.p.at("kept")
	return err
}

// live runs the program, which dies at a step, and reports whether it did.
func (f Flow[S]) live(t *testing.T, home string, kill int) (died bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "HANDOFF_FLOW="+f.Graph, "HANDOFF_HOME="+home,
		"HANDOFF_KILL="+strconv.Itoa(kill))
	out, err := cmd.CombinedOutput()
	died = cmd.ProcessState.ExitCode() < 0
	require.True(t, died || err == nil, "%s", out)
	return died
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Fields(string(text))
}

// Kills kills the program at each of its steps and starts it again: one text, of the digest
// that was decided, and no answer that was in the journal is paid for again (P4, P5).
func Kills[S any](t *testing.T, f Flow[S]) {
	t.Parallel()
	for kill, again := 1, true; again; kill++ {
		home := t.TempDir()
		for _, folder := range []string{"out", "records"} {
			require.NoError(t, os.Mkdir(filepath.Join(home, folder), 0o700))
		}
		if again = f.live(t, home, kill); !again {
			require.Greater(t, kill, 15, "the steps of a whole life")
			t.Logf("%d steps", kill-1)
		}
		steps := lines(t, filepath.Join(home, "steps"))
		f.live(t, home, 0)
		zip, err := os.ReadFile(filepath.Join(home, "draft.zip"))
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(home, "out", "*.txt"))
		require.NoError(t, err)
		require.Len(t, files, 1, "killed at %d, %s", kill, steps)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Equal(t, checkpoint.Digest(zip)+"\n"+f.Text, string(text))
		twice := 0
		if again && !kept(steps) {
			twice = 1 // it was not in the journal yet
		}
		paid := lines(t, filepath.Join(home, "paid"))
		all := len(paid)
		slices.Sort(paid)
		require.LessOrEqual(t, all-len(slices.Compact(paid)), twice, "killed at %d, %s", kill, steps)
	}
}

// kept reports whether the last answer that was paid for is in the journal.
func kept(steps []string) bool {
	for _, step := range slices.Backward(steps) {
		if step == "appended" || step == "paid" {
			return step == "appended"
		}
	}
	return true
}
