package handoff_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// This file is a flow of its own: it drafts a note, waits for a person, and writes the
// note to a folder. It shows what a graph needs to hand its drafts over, which is all
// that stands here; TestANoteNeedsNoReview holds it to that.

// note is the state of the graph.
type note struct {
	Facts    checkpoint.Manifest // of the job that drafted
	Text     string
	Decision *decision.Record
	Where    string
}

const (
	noteGraph   = "note"
	noteVersion = 1

	noteNames handoff.Names = "note-"
)

// notes is the outside world of a run.
type notes struct {
	draft func(context.Context) (string, error)
	race  func(decision.Record) *handoff.Race // of jobs that decide the same draft
	dir   string                              // where approved notes go
}

// flow is the graph: draft → gate → write.
func (o notes) flow(store graph.Store) (*graph.Flow[note], error) {
	g := graph.New[note](noteGraph, noteVersion)
	graph.Value(g, "facts", func(n *note) *checkpoint.Manifest { return &n.Facts })
	text := graph.Value(g, "text", func(n *note) *string { return &n.Text })
	decided := graph.Value(g, "decision", func(n *note) **decision.Record { return &n.Decision })
	where := graph.Value(g, "where", func(n *note) *string { return &n.Where })

	draft := g.Node("draft", func(ctx context.Context, _ note) (graph.Update, error) {
		answer, err := graph.Once(ctx, "draft", o.draft)
		return text.Set(answer), err
	}, graph.Writes(text))
	gate := graph.Gate(g, "gate",
		func(n note) (string, error) { return n.Text, nil },
		func(_ note, a decision.Answer) (graph.Update, error) { return decided.Set(&a.Record), nil },
		graph.Writes(decided))
	write := g.Effect("write",
		func(ctx context.Context, n note) (graph.Update, error) {
			path, err := o.write(ctx, n)
			return where.Set(path), err
		},
		func(_ context.Context, n note) (graph.Update, bool, error) {
			path, done, err := o.look(n)
			return where.Set(path), done, err
		}, graph.Writes(where))
	written, aborted := graph.End("WRITTEN"), graph.End("ABORTED")

	g.Start(draft)
	g.Edge(draft, gate)
	g.Route(gate, func(n note) graph.Next {
		if n.Decision.Decision == decision.Approve {
			return graph.To(write)
		}
		return graph.To(aborted)
	}, write, aborted)
	g.Edge(write, written)
	return g.Build(store)
}

// noteSubject is what the flow says of itself between jobs.
func noteSubject() handoff.Subject[note] {
	return handoff.Subject[note]{
		About:  func(n note) checkpoint.Manifest { return n.Facts },
		Shown:  func(n note) string { return n.Text },
		Anew:   func(note) bool { return false },
		Intact: func(graph.View[note]) error { return nil },
	}
}

// write waits for its turn and writes the note. A folder has one file of a name, which
// is the lock of those who wrote at the same time.
func (o notes) write(ctx context.Context, n note) (string, error) {
	if path, done, err := o.look(n); done || err != nil {
		return path, err
	}
	race := o.race(*n.Decision)
	if err := race.Claim(ctx, race.Record); err != nil {
		return "", err
	}
	if err := handoff.Turn(ctx, *race); err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(o.dir, "*.part")
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(n.Decision.Digest + "\n" + n.Text)
	if err := errors.Join(err, draft.Close()); err != nil {
		return "", err
	}
	if err := os.Link(draft.Name(), o.path(n.Facts.Thread)); !errors.Is(err, fs.ErrExist) {
		return o.path(n.Facts.Thread), err
	}
	path, _, err := o.look(n)
	return path, err
}

// look is resume check 13 in the folder: it finds what was written of this draft, and
// refuses what was written of another.
func (o notes) look(n note) (path string, done bool, err error) {
	path, done, err = o.standing(context.Background(), n.Facts.Thread)
	if !done || err != nil {
		return path, done, err
	}
	text, err := os.ReadFile(path)
	if err == nil && !strings.HasPrefix(string(text), n.Decision.Digest+"\n") {
		err = problem.Refuse(13, "another draft of this note was written", "write another note", problem.At(path))
	}
	return path, true, err
}

// standing finds the file of a thread, whatever was decided.
func (o notes) standing(_ context.Context, thread string) (where string, found bool, err error) {
	_, err = os.Stat(o.path(thread))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return o.path(thread), err == nil, err
}

func (o notes) path(thread string) string {
	return filepath.Join(o.dir, checkpoint.Code(checkpoint.Digest([]byte(thread)))+".txt")
}
