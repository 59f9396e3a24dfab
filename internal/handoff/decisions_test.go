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
	rejected, elsewhere := claim(1, 8, false, no()), claim(1, 8, false, no())
	rejected.Done = true
	elsewhere.Record.Digest, elsewhere.Record.Thread = "another", yes().Thread
	for name, c := range map[string]struct {
		on       []handoff.Claim
		mine     decision.Record
		keyed    bool
		standing bool
		unasked  error // of whether the result stands
		unstored error
		check    int
		err      error
		put, by  int // decisions stored, those told to be somebody's before
	}{
		"an approval":                       {mine: yes()},
		"an abort":                          {mine: no(), put: 1},
		"an abort that is not stored":       {mine: no(), unstored: broken, err: broken, put: 1},
		"an abort of what is posted":        {mine: no(), standing: true, check: 13},
		"an abort, of which it is not told": {mine: no(), unasked: broken, err: broken},
		"the same, which stands":            {on: []handoff.Claim{before}, mine: yes(), standing: true, by: 1},
		"the same, which is gone":           {on: []handoff.Claim{before}, mine: yes()},
		"the same, of which it is not told": {on: []handoff.Claim{before}, mine: yes(), unasked: broken, err: broken},
		"the same abort, under way":         {on: []handoff.Claim{claim(1, 8, true, no())}, mine: no(), put: 1},
		"the same abort":                    {on: []handoff.Claim{rejected}, mine: no(), by: 1},
		"another":                           {on: []handoff.Claim{before}, mine: no(), check: 13},
		"behind a rejection, with a key":    {on: []handoff.Claim{elsewhere}, mine: yes(), keyed: true, check: 13},
		"behind a rejection, without":       {on: []handoff.Claim{elsewhere}, mine: yes()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, told := &memory{claims: c.on, broken: c.unstored}, 0
			d := handoff.Decisions{Records: kept, Run: 7, Keyed: c.keyed, Warn: func(string, error) { told++ },
				Standing: func(context.Context, string) (string, bool, error) { return "u", c.standing, c.unasked }}
			_, err := d.Decide(t.Context(), c.mine, false, time.Time{})
			require.Equal(t, c.check, problem.Check(err), "%v", err)
			if c.check == 0 {
				require.ErrorIs(t, err, c.err)
			}
			require.Equal(t, []int{c.put, c.by}, []int{kept.put, told})
		})
	}
}

func TestCheck13_WhichDraftsANewerOneReplaces(t *testing.T) {
	t.Parallel()
	p := packed(t)
	thread, diff := p.Manifest.Thread, p.Manifest.Subject.Digest
	for name, c := range map[string]struct {
		on           []handoff.Claim
		thread, diff string
		check, want  int
	}{
		"undecided":     {nil, thread, diff, 0, 2},
		"of any diff":   {nil, thread, "", 0, 2},
		"rejected":      {[]handoff.Claim{claim(1, 8, false, no())}, thread, diff, 0, 2},
		"approved":      {[]handoff.Claim{claim(1, 8, false, yes())}, thread, diff, 13, 0},
		"of a new diff": {nil, thread, "another", 0, 0},
		"of a new head": {nil, "another", diff, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := resume(p)
			for i := range c.on {
				c.on[i].Record.Digest = p.Digest
			}
			d := handoff.Decisions{Records: &memory{claims: c.on}}
			other, err := checkpoint.Protection{}.Pack(p.Manifest, []byte("[]"), checkpoint.Shown{})
			require.NoError(t, err)
			all := []handoff.Candidate{tr.Candidates[0], tr.Candidates[0],
				tr.candidate("pr-review-42-"+other.Code, 5, other.Zip)}
			got, err := d.Withdrawable(t.Context(), tr.Origin, all, c.thread, c.diff, decision.Record{By: "rita"})
			require.Equal(t, c.check, problem.Check(err), "%v", err)
			require.Len(t, got, c.want)
		})
	}
}
