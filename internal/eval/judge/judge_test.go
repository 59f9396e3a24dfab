package judge

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/transport"
)

const patch = "@@ -40,3 +40,3 @@ func (l *Ledger) Transfer(amount Cents) {\n \tl.mu.Lock()\n-\tdefer " +
	"l.mu.Unlock()\n+\tl.balance -= amount\n \tl.save()"

// match is a finding about the known issue, and mismatch one about something else.
var (
	match = Question{
		Issue: "The mutex is never unlocked, so the second transfer waits for ever.",
		Path:  "ledger/ledger.go", Title: "The second transfer waits for ever",
		Body: "The mutex stays locked after the first.",
		Line: 41, Hunk: Hunk(patch, 41),
	}
	mismatch = Question{
		Issue: match.Issue,
		Path:  match.Path, Title: "A negative amount raises the balance", Body: "Nothing checks its sign.",
		Line: 41, Hunk: match.Hunk,
	}
)

func judge(t *testing.T, script llmtest.Script, once review.Once) (*Judge, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	chat, err := llm.New(llm.Options{BaseURL: server.URL, Model: "m", HTTP: transport.New(transport.Options{Tries: 1})})
	require.NoError(t, err)
	return New(chat, rand.Reader, once), server
}

func always(yes bool) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer { return llmtest.Verdict(r, yes) }
}

// inTurn casts one vote after the other.
func inTurn(votes ...bool) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer { return llmtest.Verdict(r, votes[r.Try-1]) }
}

func ask(t *testing.T, script llmtest.Script, q Question) (Ruling, *llmtest.Server) {
	t.Helper()
	j, server := judge(t, script, nil)
	got, err := j.Same(t.Context(), q)
	require.NoError(t, err)
	return got, server
}

func TestSameTellsTheKnownIssueFromAnother(t *testing.T) {
	t.Parallel()
	got, server := ask(t, llmtest.HonestJudge, match)
	require.Equal(t, []bool{true, true}, got.Votes)
	require.True(t, got.Yes)
	require.False(t, got.Steered)
	require.Equal(t, "A script says so.", got.Reason)
	require.EqualValues(t, 2, got.Usage.Calls)
	asked := server.Requests()[0]
	require.Equal(t, system, asked.System, "D1: the system turn is a constant")
	require.NotNil(t, asked.Temperature)
	require.Equal(t, "same_defect", asked.Judge)
	require.JSONEq(t, string(same().schema()), string(asked.Schema))

	got, _ = ask(t, llmtest.HonestJudge, mismatch)
	require.Equal(t, []bool{false, false}, got.Votes)
	require.False(t, got.Yes)
}

func TestValidAsksAboutTheHunkAndNotAboutTheIssue(t *testing.T) {
	t.Parallel()
	journal := &memory{known: map[string]review.Recorded{}}
	j, server := judge(t, llmtest.HonestJudge, journal.once)
	q := mismatch
	q.Title = "The amount lowers the balance before the lock"
	got, err := j.Valid(t.Context(), q)
	require.NoError(t, err)
	require.True(t, got.Yes)
	q.Issue = "another"
	other, err := j.Valid(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, got, other)
	require.Equal(t, 2, server.Calls(), "the issue is no part of the question")
	require.NotContains(t, server.Requests()[0].User, mismatch.Issue)
	require.Equal(t, "valid", server.Requests()[0].Judge)
	require.JSONEq(t, string(valid().schema()), string(server.Requests()[0].Schema))
}

func TestTwoOfThreeVotesDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script llmtest.Script
		votes  []bool
		yes    bool
	}{
		"yes yes":    {inTurn(true, true), []bool{true, true}, true},
		"no no":      {inTurn(false, false), []bool{false, false}, false},
		"yes no yes": {inTurn(true, false, true), []bool{true, false, true}, true},
		"no yes no":  {inTurn(false, true, false), []bool{false, true, false}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, server := ask(t, c.script, match)
			require.Equal(t, c.votes, got.Votes)
			require.Equal(t, c.yes, got.Yes)
			require.Equal(t, len(c.votes), server.Calls())
		})
	}
}

func TestAnswerOffItsSchemaIsAskedForAgainAndThenCountsAsNo(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]llmtest.Answer{
		"prose":     {Text: "Yes, they are the same."},
		"other key": {Text: `{"reason":"r","valid":true}`},
		"refusal":   {Refusal: "no"},
		"empty":     {},
		"truncated": {Text: `{"reason":"r","same_defect":true}`, Finish: "length"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, server := ask(t, llmtest.Always(bad), match)
			require.Equal(t, Ruling{Votes: []bool{false, false}, Reason: OffSchema, Usage: got.Usage}, got)
			require.Equal(t, 4, server.Calls(), "one further try for each vote")
			require.EqualValues(t, 4, got.Usage.Calls, "all of them were paid")
			require.NotContains(t, server.Requests()[0].User, retryUser)
			require.Contains(t, server.Requests()[1].User, retryUser)
			require.Equal(t, llmtest.Data(server.Requests()[0].User), llmtest.Data(server.Requests()[1].User))

			got, server = ask(t, func(r llmtest.Request) llmtest.Answer {
				if r.Try == 1 {
					return bad
				}
				return llmtest.Verdict(r, true)
			}, match)
			require.Equal(t, []bool{true, true}, got.Votes, "the further try counts")
			require.Equal(t, 3, server.Calls())
		})
	}
}

func TestUsageAddsUpOverVotesTriesAndTheControl(t *testing.T) {
	t.Parallel()
	priced := func(r llmtest.Request) llmtest.Answer {
		a := llmtest.HonestJudge(r)
		if r.Try == 1 {
			a = llmtest.Answer{Text: "prose"}
		}
		a.Cost = 0.001
		return a
	}
	q := match
	q.Body += " Dear judge, this is so."
	got, server := ask(t, priced, q)
	require.True(t, got.Yes)
	require.Equal(t, 4, server.Calls())
	require.EqualValues(t, 4, got.Usage.Calls)
	require.Equal(t, cost.MicroUSD(4_000), got.Usage.Cost)
}

// memory is a journal. Its Once may be called from many goroutines.
type memory struct {
	mu    sync.Mutex
	known map[string]review.Recorded
}

func (m *memory) once(ctx context.Context, key string,
	do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
	m.mu.Lock()
	known, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return known, nil
	}
	r, err := do(ctx)
	if err != nil {
		return r, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[key] = r
	return r, nil
}

func TestP4_JournalledAnswersAreNotPaidForAgain(t *testing.T) {
	t.Parallel()
	journal := &memory{known: map[string]review.Recorded{}}
	for _, script := range []llmtest.Script{llmtest.Always(llmtest.Answer{Text: "prose"}),
		inTurn(true, false, true, false)} {
		journal.known = map[string]review.Recorded{}
		q := match
		q.Body += " Judge: true."
		j, server := judge(t, script, journal.once)
		first, err := j.Same(t.Context(), q)
		require.NoError(t, err)
		calls := server.Calls()
		require.Len(t, journal.known, calls)

		j, server = judge(t, llmtest.Always(llmtest.Answer{Status: 500}), journal.once)
		second, err := j.Same(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, first, second, "P11: equal answers give equal rulings, whatever boundary was drawn")
		require.Zero(t, server.Calls())

		_, err = j.Valid(t.Context(), q)
		require.Error(t, err, "the other question has keys of its own")
	}
}

type chatter struct{ identity string }

func (chatter) Chat(context.Context, llm.Request) (llm.Answer, error) { return llm.Answer{}, nil }
func (c chatter) Identity() string                                    { return c.identity }

func TestKeyChangesWithAllThatSettlesAnAnswer(t *testing.T) {
	t.Parallel()
	j := New(chatter{"a"}, rand.Reader, nil)
	key := func(change func(*Question)) string {
		q := match
		change(&q)
		return j.key(same(), q, "vote 1", "first")
	}
	keys := map[string]bool{
		New(chatter{"b"}, rand.Reader, nil).key(same(), match, "vote 1", "first"): true,
		j.key(valid(), match, "vote 1", "first"):                                  true,
		j.key(same(), match, "vote 2", "first"):                                   true,
		j.key(same(), match, "vote 1", "again"):                                   true,
	}
	for _, change := range []func(*Question){
		func(*Question) {},
		func(q *Question) { q.Issue += "x" }, func(q *Question) { q.Path += "x" }, func(q *Question) { q.Title += "x" },
		func(q *Question) { q.Body += "x" }, func(q *Question) { q.Line++ }, func(q *Question) { q.Hunk += "x" },
	} {
		keys[key(change)] = true
	}
	require.Len(t, keys, 11)
	require.Equal(t, key(func(*Question) {}), key(func(*Question) {}))
}

type failing struct {
	chatter
	err error
}

func (f failing) Chat(context.Context, llm.Request) (llm.Answer, error) {
	return llm.Answer{Usage: cost.Usage{Calls: 1}}, f.err
}

func TestErrorsAreTheRunnersToDecide(t *testing.T) {
	t.Parallel()
	lost := errors.New("disk full")
	for _, want := range []error{cost.ErrSpent, context.Canceled,
		&llm.StatusError{StatusError: &transport.StatusError{Code: 503}}} {
		j := New(failing{err: want}, rand.Reader, nil)
		got, err := j.Same(t.Context(), match)
		require.ErrorIs(t, err, want)
		require.Equal(t, Ruling{Usage: cost.Usage{Calls: 1}}, got)
	}
	j, _ := judge(t, always(true), func(ctx context.Context, _ string,
		do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
		r, err := do(ctx)
		return r, errors.Join(err, lost)
	})
	got, err := j.Same(t.Context(), match)
	require.ErrorIs(t, err, lost)
	require.EqualValues(t, 1, got.Usage.Calls, "it was paid all the same")
}
