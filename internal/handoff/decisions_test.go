package handoff_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// memory is decisions on record.
type memory struct {
	claims []handoff.Claim
	put    int
	broken error // of storing
}

func (m *memory) Claims(context.Context, string) ([]handoff.Claim, error) { return m.claims, nil }

func (m *memory) Put(context.Context, decision.Record) error {
	m.put++
	return m.broken
}

func TestP5_Check13_WhatPrecedesADecision(t *testing.T) {
	t.Parallel()
	broken, before := errors.New("broken"), claim(1, 8, false, yes())
	before.Done = true
	rejected := claim(1, 8, false, no())
	rejected.Done = true
	for name, c := range map[string]struct {
		on       []handoff.Claim
		mine     decision.Record
		standing bool
		unasked  error // of whether the result stands
		unstored error
		err      error
		put, by  int // decisions stored, those told to be somebody's before
	}{
		"an abort that is not stored":       {mine: no(), unstored: broken, err: broken, put: 1},
		"an abort, of which it is not told": {mine: no(), unasked: broken, err: broken},
		"the same, which stands":            {on: []handoff.Claim{before}, mine: yes(), standing: true, by: 1},
		"the same, of which it is not told": {on: []handoff.Claim{before}, mine: yes(), unasked: broken, err: broken},
		"the same abort, under way":         {on: []handoff.Claim{claim(1, 8, true, no())}, mine: no(), put: 1},
		"the same abort":                    {on: []handoff.Claim{rejected}, mine: no(), by: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, told := &memory{claims: c.on, broken: c.unstored}, 0
			d := handoff.Decisions{Records: kept, Run: 7, Warn: func(string, error) { told++ },
				Standing: func(context.Context, string) (string, bool, error) { return "u", c.standing, c.unasked }}
			_, err := d.Decide(t.Context(), c.mine, false, time.Time{})
			require.ErrorIs(t, err, c.err)
			require.Equal(t, []int{c.put, c.by}, []int{kept.put, told})
		})
	}
}

func TestCheck13_ANewerDraftReplacesAllThatAreUndecided(t *testing.T) {
	t.Parallel()
	p, by := packed(t), decision.Record{By: "rita"}
	other, err := checkpoint.Protection{}.Pack(p.Manifest, []byte("[]"), checkpoint.Shown{})
	require.NoError(t, err)
	tr, on := resume(p), yes()
	all := append(tr.Candidates, tr.Candidates[0], tr.candidate("pr-review-42-"+other.Code, 5, other.Zip))
	diff := p.Manifest.Subject.Digest
	for thread, want := range map[string]int{p.Manifest.Thread: 2, "another": 0} {
		d := handoff.Decisions{Records: &memory{}}
		got, err := d.Withdrawable(t.Context(), tr.Origin, all, thread, diff, by)
		require.NoError(t, err)
		require.Len(t, got, want)
	}
	on.Digest = other.Digest
	d := handoff.Decisions{Records: &memory{claims: []handoff.Claim{claim(1, 8, false, on)}}}
	_, err = d.Withdrawable(t.Context(), tr.Origin, all, p.Manifest.Thread, diff, by)
	require.Equal(t, 13, problem.Check(err), "one is approved, and nothing is paid for: %v", err)
}
