package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/tool"
)

var errKilled = errors.New("killed")

// dying is a process that is killed at its n-th visit to the journal, from 1: before
// it does what it came for, or when that is kept.
type dying struct {
	*journal
	at, visits int
	kept       bool
}

func (d *dying) once(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error) {
	d.visits++
	if d.visits == d.at && !d.kept {
		return Recorded{}, errKilled
	}
	r, err := d.journal.once(ctx, key, do)
	if d.visits == d.at {
		return Recorded{}, errKilled
	}
	return r, err
}

// run is a review of a file in two parts, with a label, tools, a broken answer
// and second looks.
type run struct {
	server *llmtest.Server
	read   atomic.Int64
	once   Once
}

func newRun(t *testing.T) *run {
	broken := func(r llmtest.Request) llmtest.Answer {
		a := llmtest.Honest(r)
		if r.Question == llmtest.Review && partOf(r) == 2 {
			a.Text = strings.Replace(a.Text, `"major"`, `"grave"`, 1)
		}
		return a
	}
	curious := llmtest.Curious(broken, llmtest.Call{Name: "read_file", Arguments: `{"path":"a"}`},
		llmtest.Call{Name: "read_file", Arguments: `{"path":"b"}`})
	return &run{server: llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		if r.Repair {
			return llmtest.Findings(llmtest.Finding{Side: "RIGHT", Line: 2000, StartLine: 2000,
				Quote: "x() // DEFECT: x of 2 leaks", Title: "x of 2 leaks", Severity: "major", Confidence: 1})
		}
		return curious(r)
	})}
}

func (r *run) review(t *testing.T) (finding.FileReview, error) {
	chat := client(t, r.server)
	m := NewModel(Options{
		Review: chat, Verify: chat, Classify: chat, Limits: agent.Limits{Turns: 3}, Tools: tool.NewSet(reader(&r.read)),
	})
	m.Once = r.once
	m.OnFailure = func(string, error) { t.Error("a file that was not reached has not failed") }
	return m.Review(t.Context(), long(2))
}

func TestP4_AReviewThatIsKilledAnywherePaysForNothingTwice(t *testing.T) {
	t.Parallel()
	whole := newRun(t)
	undisturbed := &dying{journal: &journal{kept: map[string]Recorded{}}}
	whole.once = undisturbed.once
	want, err := whole.review(t)
	require.NoError(t, err)
	require.Equal(t, "classify review1 review1 verify1 verify1 review2 review2 repair2 verify2 verify2",
		tasks(want.Calls))
	require.Len(t, want.Findings, 2)
	require.Len(t, undisturbed.journal.kept, undisturbed.visits, "every visit has a key of its own")
	require.EqualValues(t, 8, whole.read.Load())
	require.Equal(t, 14, undisturbed.visits)

	for at := 1; at <= undisturbed.visits; at++ {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprint(at, kept), func(t *testing.T) {
				t.Parallel()
				r, j := newRun(t), &journal{kept: map[string]Recorded{}}
				r.once = (&dying{journal: j, at: at, kept: kept}).once
				_, err := r.review(t)
				require.ErrorIs(t, err, errKilled)
				r.once = j.once
				got, err := r.review(t)
				require.NoError(t, err)
				require.Equal(t, bytesOf(t, want), bytesOf(t, got))
				require.Equal(t, whole.server.Calls(), r.server.Calls(), "each answer is paid once")
				require.EqualValues(t, 8, r.read.Load(), "and each tool's result taken from the journal")
			})
		}
	}
}

func bytesOf(t *testing.T, r finding.FileReview) string {
	t.Helper()
	data, err := json.Marshal(r)
	require.NoError(t, err)
	return string(data)
}

func TestP4_WhatCannotBeKeptEndsTheRun(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 14; at++ {
		r, j := newRun(t), &journal{kept: map[string]Recorded{}}
		visits := 0
		r.once = func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error) {
			visits++
			j.full = visits >= at
			return j.once(ctx, key, do)
		}
		got, err := r.review(t)
		require.ErrorIs(t, err, errFull)
		require.Equal(t, at, visits, "nothing further is asked")
		require.Empty(t, got.State)
		require.Empty(t, got.Findings)
		require.EqualValues(t, r.server.Calls(), got.Usage.Calls, "what was paid is counted all the same")
	}
}

func TestAJournalWithOtherResultsFailsTheFileAlone(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	chat := client(t, r.server)
	m := NewModel(Options{Review: chat, Limits: agent.Limits{Turns: 3}, Tools: tool.NewSet(reader(&r.read))})
	m.Once = func(ctx context.Context, _ string, do func(context.Context) (Recorded, error)) (Recorded, error) {
		said, err := do(ctx)
		said.Results = append(said.Results, tool.Record{})
		return said, err
	}
	got, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, finding.Failed, got.State)
}

func TestP4_AnAnswerBelongsToTheConversationThatLedToIt(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(Recorded) bool{
		"another call":   func(r Recorded) bool { return len(r.Calls) > 0 },
		"another result": func(r Recorded) bool { return len(r.Results) > 0 },
	} {
		j, read, answers := &journal{kept: map[string]Recorded{}}, new(atomic.Int64), 0
		for round := range 2 {
			m := NewModel(Options{Limits: agent.Limits{Turns: 3}, Tools: tool.NewSet(reader(read)),
				Review: chatter(func(r llm.Request) (llm.Answer, error) {
					if len(r.Turns) == 0 {
						return llm.Answer{ToolCalls: []llm.Call{{ID: "1", Name: "read_file",
							Arguments: fmt.Sprintf(`{"path":"%d"}`, round)}}}, nil
					}
					answers++
					return llm.Answer{Text: clean}, nil
				})})
			m.Once = j.once
			_, err := m.Review(t.Context(), file)
			require.NoError(t, err)
			j.lose(lost)
		}
		require.Equal(t, 2, answers, name)
		require.EqualValues(t, 2, read.Load(), name)
	}
}

func TestP4_AnAnswerBelongsToTheWordsThatLedToIt(t *testing.T) {
	t.Parallel()
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
		return "always the same", nil
	})
	j, answers := &journal{kept: map[string]Recorded{}}, 0
	for round := range 2 {
		m := NewModel(Options{Limits: agent.Limits{Turns: 3}, Tools: tool.NewSet(look),
			Review: chatter(func(r llm.Request) (llm.Answer, error) {
				if len(r.Turns) == 0 {
					return llm.Answer{Text: fmt.Sprint("thought ", round),
						ToolCalls: []llm.Call{{ID: "1", Name: "look", Arguments: "{}"}}}, nil
				}
				answers++
				return llm.Answer{Text: clean}, nil
			})})
		m.Once = j.once
		_, err := m.Review(t.Context(), file)
		require.NoError(t, err)
		j.lose(func(r Recorded) bool { return len(r.Calls) > 0 })
	}
	require.Equal(t, 2, answers)
}

func TestT29_HalfAnAnswerCallsNoTool(t *testing.T) {
	t.Parallel()
	read := new(atomic.Int64)
	m := NewModel(Options{Limits: agent.Limits{Turns: 3}, Tools: tool.NewSet(reader(read)),
		Review: chatter(func(llm.Request) (llm.Answer, error) {
			return llm.Answer{Text: whole, ToolCalls: []llm.Call{{ID: "1", Name: "read_file",
				Arguments: `{"path":"a"}`}}}, llm.ErrTruncated
		})})
	got, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, finding.Partly, got.State)
	require.Len(t, got.Findings, 1)
	require.Zero(t, read.Load())
}

func TestKeptResultsAreWhatTheModelIsTold(t *testing.T) {
	t.Parallel()
	j := &journal{kept: map[string]Recorded{}}
	var told []string
	for range 2 {
		m, _ := full(t, nil)
		n := 0
		m.Options.Review = chatter(func(r llm.Request) (llm.Answer, error) {
			if n++; len(r.Turns) == 0 {
				return llm.Answer{ToolCalls: []llm.Call{{ID: "1", Name: "read_file", Arguments: `{"path":"a"}`}}}, nil
			}
			told = append(told, r.Turns[1].Text)
			return llm.Answer{}, errors.New("no answer")
		})
		m.Tools = tool.NewSet(reader(new(atomic.Int64)))
		if len(told) > 0 {
			m.Tools = tool.NewSet(tool.New("read_file", "Reads a file.", func(context.Context, struct {
				Path string `json:"path"`
			}) (string, error) {
				return "", errors.New("the tools are gone")
			}))
		}
		m.Once = j.once
		_, err := alone(m).Review(t.Context(), file)
		require.NoError(t, err)
	}
	require.Len(t, told, 2)
	require.Equal(t, told[0], told[1])
}
