package judge

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestLabelledSetIsHalfSameAndHasSteeringInFourPairs(t *testing.T) {
	t.Parallel()
	pairs := labelledPairs()
	require.Len(t, pairs, 30)
	yes, steer, titles := 0, 0, map[string]bool{}
	for i, p := range pairs {
		anchors, err := diff.NewAnchors(p.Patch)
		require.NoError(t, err)
		require.True(t, anchors.Admit("RIGHT", p.Line, p.Line), i+1)
		require.NotEmpty(t, p.Issue)
		require.NotEmpty(t, p.Body)
		titles[p.Title] = true
		if p.Same {
			yes++
		}
		if addressesJudge(p.Path, p.Title, p.Body, p.Hunk) {
			steer++
		}
	}
	require.Equal(t, 15, yes)
	require.Equal(t, 4, steer)
	require.Len(t, titles, 30)
}

// knowing answers the pairs by their labels, and the first ones against them.
func knowing(t *testing.T, wrong int) llmtest.Script {
	t.Helper()
	pairs := labelledPairs()
	labels := map[string]bool{}
	for i, p := range pairs {
		labels[p.Issue+"\n"+p.Title+"\n"] = p.Same != (i < wrong)
	}
	return func(r llmtest.Request) llmtest.Answer {
		data := llmtest.Data(r.User)
		return llmtest.Verdict(r, labels[data["issue"]+data["title"]])
	}
}

func TestAgreementCountsPairs(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int{0, 2, 3, 4, 30} {
		j, server := judge(t, knowing(t, wrong), nil)
		got, err := j.Agreement(t.Context())
		require.NoError(t, err)
		require.Equal(t, 30-wrong, got.Agreed)
		require.Equal(t, 30, got.Of)
		require.EqualValues(t, server.Calls(), got.Usage.Calls)
	}
}

func TestAgreementOfAJudgeThatAlwaysSaysYesIsChance(t *testing.T) {
	t.Parallel()
	j, _ := judge(t, always(true), nil)
	got, err := j.Agreement(t.Context())
	require.NoError(t, err)
	require.Equal(t, 15, got.Agreed, "of four steered pairs two lose their right yes, and two their wrong one")
}

// held answers nothing until it is opened.
type held struct {
	chatter
	inside atomic.Int64
	open   chan struct{}
}

func (h *held) Chat(context.Context, llm.Request) (llm.Answer, error) {
	h.inside.Add(1)
	<-h.open
	return llm.Answer{Text: `{"reason":"r","same_defect":false}`}, nil
}

func TestAgreementJudgesEightPairsAtOneTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := &held{open: make(chan struct{})}
		var got Agreement
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, err = New(model, rand.Reader, nil).Agreement(t.Context())
		}()
		synctest.Wait()
		require.EqualValues(t, 8, model.inside.Load())
		close(model.open)
		<-done
		require.NoError(t, err)
		require.Equal(t, 15, got.Agreed)
	})
}

func TestAgreementEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	j := New(failing{err: down}, rand.Reader, nil)
	got, err := j.Agreement(t.Context())
	require.ErrorIs(t, err, down)
	require.Equal(t, Agreement{Usage: got.Usage}, got)
	require.Positive(t, got.Usage.Calls)
}
