package review

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestP9_WhatLostTriesUsedIsCounted(t *testing.T) {
	t.Parallel()
	lost := cost.Usage{Calls: 2, Cost: 700}
	for name, c := range map[string]struct {
		answer llm.Answer
		err    error
		state  finding.State
	}{
		"behind an answer": {llm.Answer{Text: whole, Model: "m-1", Finish: "stop", Usage: lost}, nil,
			finding.Reviewed},
		"without an answer": {llm.Answer{Usage: lost}, errors.New("reset"), finding.Failed},
		"cut off": {llm.Answer{Text: "{", Model: "m-1", Finish: "length", Usage: lost}, llm.ErrTruncated,
			finding.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := NewModel(Options{Review: chatter(func(llm.Request) (llm.Answer, error) { return c.answer, c.err })})
			got, err := m.Review(t.Context(), file)
			require.NoError(t, err)
			require.Equal(t, c.state, got.State)
			require.Equal(t, lost, got.Usage)
			require.Equal(t, []finding.Call{{Task: reviewing, Model: c.answer.Model, Finish: c.answer.Finish,
				Usage: lost}}, got.Calls)
		})
	}
}

func TestACallThatWasNotBilledIsNone(t *testing.T) {
	t.Parallel()
	m := NewModel(Options{Review: chatter(func(llm.Request) (llm.Answer, error) {
		return llm.Answer{}, errors.New("refused")
	})})
	got, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, got.Calls)
	require.Zero(t, got.Usage)
}

func TestP9_TheCapOfAFileFailsItWithItsReason(t *testing.T) {
	t.Parallel()
	price := cost.Price{Input: 1_000_000, Output: 1_000_000}
	calls := 0
	for cap := cost.MicroUSD(1000); calls == 0; cap += 1000 { // up to the first that one call fits under
		m, server := full(t, llmtest.Curious(llmtest.Honest))
		ledger := budget.New(0)
		m.Options.Review = ledger.Over(m.Options.Review, &price)
		m.Limits.Turns, m.FileCap = 9, cap
		var told error
		m.OnFailure = func(_ string, cause error) { told = cause }
		got, err := alone(m).Review(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, finding.Failed, got.State, cap)
		require.Equal(t, finding.Reason("the budget of the file was spent"), got.Reason)
		require.ErrorIs(t, told, cost.ErrFileSpent)
		calls = server.Calls()
		require.Equal(t, ledger.Spent(), got.Usage.Cost)
		require.LessOrEqual(t, got.Usage.Cost, cap)
	}
	require.Equal(t, 1, calls, "what it left does not do for the next")
}

func TestReasonsAreOurOwnWords(t *testing.T) {
	t.Parallel()
	outside := errors.New("https://user:pw@host.example/ says ::error::")
	for want, err := range map[finding.Reason]error{
		"the model takes no tools there": fmt.Errorf("asking: %w",
			llm.ErrNoTools),
		"the model's server failed call after call, so it was not asked again": &limit.DownError{Failures: 5,
			Cause: &llm.StatusError{}},
		"part 2 of 3: the budget of the file was spent": &partError{2, 3, cost.ErrFileSpent},
		"part 1 of 2: the model could not be reached":   &partError{1, 2, outside},
		"the model could not be reached":                outside,
	} {
		require.Equal(t, want, reason(err))
	}
}
