package handofftest

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
)

// This file defines a flow: it drafts a note, waits for a person, and writes the
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
)

// noteFlow is the graph: draft → gate → write.
func noteFlow(w World) (*graph.Flow[note], error) {
	g := graph.New[note](noteGraph, noteVersion)
	graph.Value(g, "facts", func(n *note) *checkpoint.Manifest { return &n.Facts })
	text := graph.Value(g, "text", func(n *note) *string { return &n.Text })
	decided := graph.Value(g, "decision", func(n *note) **decision.Record { return &n.Decision })
	where := graph.Value(g, "where", func(n *note) *string { return &n.Where })

	draft := g.Node("draft", func(ctx context.Context, _ note) (graph.Update, error) {
		answer, err := graph.Once(ctx, "draft", func(context.Context) (string, error) {
			w.Paid("answer")
			return "an answer", nil
		})
		return text.Set(answer), err
	}, graph.Writes(text))
	gate := graph.Gate(g, "gate",
		func(n note) (string, error) { return n.Text, nil },
		func(_ note, a decision.Answer) (graph.Update, error) { return decided.Set(&a.Record), nil },
		graph.Writes(decided))
	write := g.Effect("write",
		func(ctx context.Context, n note) (graph.Update, error) {
			path, err := w.Out.Write(ctx, *n.Decision, n.Text)
			return where.Set(path), err
		},
		func(_ context.Context, n note) (graph.Update, bool, error) {
			path, done, err := w.Out.Look(*n.Decision)
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
	return g.Build(w.Store)
}

// aNote is the flow as it is put to the tests, with what it says of itself between jobs.
func aNote() Flow[note] {
	return Flow[note]{
		Graph: noteGraph, Version: noteVersion, Names: "note-",
		Subject: handoff.Subject[note]{
			About:  func(n note) checkpoint.Manifest { return n.Facts },
			Shown:  func(n note) checkpoint.Shown { return checkpoint.Shown{Review: n.Text} },
			Anew:   func(note) bool { return false },
			Intact: func(graph.View[note]) error { return nil },
		},
		About:  checkpoint.Subject{Kind: "note", Number: 1},
		Thread: func(head string) string { return "o/r#1:" + head },
		Begin:  func(m checkpoint.Manifest) note { return note{Facts: m} },
		Build:  noteFlow, Text: "an answer",
	}
}

func TestP3_ANoteGoesByEitherRoute(t *testing.T)           { Routes(t, aNote()) }
func TestCheck1_Check13_EachRefusesANote(t *testing.T)     { Checks(t, aNote()) }
func TestP2_Check11_WhatIsShownIsCarriedOut(t *testing.T)  { Swapped(t, aNote()) }
func TestP5_T25_RacingDecidersWriteOneNote(t *testing.T)   { Races(t, aNote()) }
func TestP4_P5_ANoteSurvivesAKillAtEveryStep(t *testing.T) { Kills(t, aNote()) }

func TestANoteNeedsNoReview(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"note_test.go", "flow_test.go", "job_test.go", "race_test.go", "crash_test.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			require.NotRegexp(t, `internal/(flow/.*|review|finding|post)"$`, i.Path.Value, name)
		}
	}
	text, err := os.ReadFile("note_test.go")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 150, "graph and subject")
}
