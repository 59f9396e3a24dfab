package handoff_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// memory is decisions on record, and those that others store at the same time.
type memory struct {
	claims, later []handoff.Claim
	put           int
	unread        error
	broken        error // of storing
}

func (m *memory) Claims(context.Context, string) ([]handoff.Claim, error) { return m.claims, m.unread }

func (m *memory) Put(context.Context, decision.Record) error {
	m.put, m.claims = m.put+1, append(m.claims, m.later...)
	return m.broken
}

func TestP5_Check13_WhatPrecedesADecision(t *testing.T) {
	t.Parallel()
	broken, gone, rejected := errors.New("broken"), no().Withdraws("58d1e0c2a9b7f346"), no()
	rejected.Digest = strings.Repeat("4567", 16)
	for name, c := range map[string]struct {
		on, later     []handoff.Claim
		mine          decision.Record
		keyed, listed bool
		standing      bool
		unread        error // the decisions
		unasked       error // whether the result stands
		unstored, err error
		check         int
		waits         time.Duration
		put, by       int // decisions stored, those told to be somebody's before
	}{
		"an abort": {mine: no(), put: 1},
		"an abort that is listed": {mine: no(), later: []handoff.Claim{claim(2, me, true, no())}, listed: true,
			put: 1},
		"an abort, not listed yet":          {mine: no(), listed: true, waits: handoff.Settle * time.Second, put: 1},
		"an abort that is not stored":       {mine: no(), unstored: broken, err: broken, put: 1},
		"an abort, of which it is not told": {mine: no(), unasked: broken, err: broken},
		"an abort of what is posted":        {mine: no(), standing: true, check: 13},
		"an abort behind an approval":       {mine: no(), later: []handoff.Claim{done(1, 8, yes())}, check: 13, put: 1},
		"decisions that cannot be read":     {mine: no(), keyed: true, unread: broken, err: broken},
		"another decision":                  {on: []handoff.Claim{done(1, 8, no())}, mine: yes(), check: 13},
		"another, of another draft":         {on: []handoff.Claim{done(1, 8, rejected)}, mine: yes()},
		"another, of another sealed draft":  {on: []handoff.Claim{done(1, 8, rejected)}, mine: yes(), keyed: true, check: 13},
		"the same, which stands":            {on: []handoff.Claim{done(1, 8, yes())}, mine: yes(), standing: true, by: 1},
		"the same, which does not":          {on: []handoff.Claim{done(1, 8, yes())}, mine: yes()},
		"the same, by this very run":        {on: []handoff.Claim{done(1, me, yes())}, mine: yes(), standing: true},
		"the same, of which it is not told": {on: []handoff.Claim{done(1, 8, yes())}, mine: yes(), unasked: broken,
			err: broken},
		"the same abort, under way":         {on: []handoff.Claim{claim(1, 8, true, no())}, mine: no(), put: 1},
		"the same abort":                    {on: []handoff.Claim{done(1, 8, no())}, mine: no(), by: 1},
		"a withdrawal of what is posted":    {mine: gone, standing: true, put: 1},
		"a withdrawal of what was rejected": {on: []handoff.Claim{done(1, 8, no())}, mine: gone, put: 1},
		"the same withdrawal":               {on: []handoff.Claim{done(1, 8, gone)}, mine: gone, put: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				kept, told, began := &memory{claims: c.on, later: c.later, unread: c.unread, broken: c.unstored}, 0, time.Now()
				d := handoff.Decisions{Records: kept, Run: me, Keyed: c.keyed, Listed: c.listed,
					Warn:     func(string, error) { told++ },
					Standing: func(context.Context, string) (string, bool, error) { return "u", c.standing, c.unasked }}
				_, err := d.Decide(t.Context(), c.mine, false, time.Time{})
				if c.check == 0 {
					require.ErrorIs(t, err, c.err)
				}
				require.Equal(t, c.check, problem.Check(err), "%v", err)
				require.Equal(t, []int{c.put, c.by}, []int{kept.put, told})
				require.Equal(t, c.waits, time.Since(began))
			})
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
	for of, want := range map[[2]string]int{{p.Manifest.Thread, diff}: 2, {p.Manifest.Thread, ""}: 2,
		{p.Manifest.Thread, "another"}: 0, {"another", diff}: 0} {
		d := handoff.Decisions{Records: &memory{}}
		got, err := d.Withdrawable(t.Context(), tr.Origin, all, of[0], of[1], by)
		require.NoError(t, err)
		require.Len(t, got, want, of)
	}
	broken := errors.New("broken")
	unread := handoff.Decisions{Records: &memory{unread: broken}}
	_, err = unread.Withdrawable(t.Context(), tr.Origin, all, p.Manifest.Thread, diff, by)
	require.ErrorIs(t, err, broken)
	unstored := handoff.Decisions{Records: &memory{broken: broken}}
	require.ErrorIs(t, unstored.Withdraw(t.Context(), []checkpoint.Draft{p, other}, by, other.Code), broken)
	on.Digest = other.Digest
	d := handoff.Decisions{Records: &memory{claims: []handoff.Claim{claim(1, 8, false, on)}}}
	_, err = d.Withdrawable(t.Context(), tr.Origin, all, p.Manifest.Thread, diff, by)
	require.Equal(t, 13, problem.Check(err), "one is approved, and nothing is paid for: %v", err)
}
