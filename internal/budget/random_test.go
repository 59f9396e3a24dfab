package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// dice are random numbers for many goroutines.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, 6))} }

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// bill is what a server really charged, whether its client was told or not.
type bill struct {
	mu    sync.Mutex
	total cost.MicroUSD
}

func (b *bill) add(amount cost.MicroUSD) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total += amount
}

func (b *bill) sum() cost.MicroUSD {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// randomUsage is what a request may have used: a token for a byte at most, and
// no more than its limit of output.
func randomUsage(d *dice, bytes, limit int) cost.Usage {
	in := 1 + d.n(bytes)
	u := cost.Usage{Calls: 1, InputTokens: int64(in), CachedTokens: int64(d.n(in + 1)),
		OutputTokens: int64(d.n(limit + 1))}
	u.CacheWriteTokens = int64(d.n(in - int(u.CachedTokens) + 1))
	return u
}

// round is one run: files with caps, each with calls side by side.
type round struct {
	ledger *Ledger
	cap    cost.MicroUSD
	chat   Chatter
	dice   *dice
}

// run makes the calls and checks what holds of every run.
func (r round) run(t *testing.T, b *bill) {
	var group sync.WaitGroup
	var told bill
	earlier := cost.MicroUSD(r.dice.n(int(r.cap)/4 + 1))
	r.ledger.Paid(earlier)
	for range 1 + r.dice.n(6) {
		var file bill
		cap := cost.MicroUSD(r.dice.n(3) * 40_000)
		ctx := WithFile(t.Context(), cap)
		var calls sync.WaitGroup
		for range 1 + r.dice.n(5) {
			question := llm.Request{System: "s", User: strings.Repeat("u", 1+r.dice.n(2_000)),
				MaxTokens: 1 + r.dice.n(4_000)}
			call := func() {
				a, _ := r.chat.Chat(ctx, question)
				file.add(a.Usage.Cost)
				told.add(a.Usage.Cost)
			}
			calls.Go(call)
		}
		group.Go(func() {
			calls.Wait()
			if cap > 0 {
				require.LessOrEqual(t, file.sum(), cap, "the cap of a file")
			}
		})
	}
	group.Wait()
	spent := r.ledger.Spent()
	require.LessOrEqual(t, spent, r.cap, "the cap of the run")
	require.Equal(t, spent, earlier+told.sum(), "every micro-dollar is in the usage of a call")
	require.LessOrEqual(t, earlier+b.sum(), spent, "no bill is larger than what was counted")
	require.Zero(t, held(r.ledger))
	require.Empty(t, r.ledger.queue)
}

func randomPrice(d *dice) cost.Price {
	return cost.Price{
		Input: cost.MicroUSD(d.n(5_000_000)), CachedInput: cost.MicroUSD(d.n(5_000_000)),
		Output: cost.MicroUSD(d.n(30_000_000)), CacheWrite: cost.MicroUSD(d.n(7_000_000)),
	}
}

// wayward is a model in this process: it takes its time, and its word for what it billed.
type wayward struct {
	dice  *dice
	price cost.Price
	bill  *bill
}

func (*wayward) Identity() string { return "wayward" }

func (w *wayward) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	time.Sleep(time.Duration(w.dice.n(1_000)) * time.Millisecond) // of the synctest bubble's clock: no real time passes
	u := randomUsage(w.dice, r.Bytes(), r.MaxTokens)
	amount := w.price.Of(u)
	switch w.dice.n(6) {
	case 0:
		return llm.Answer{}, fmt.Errorf("refused before anything was billed")
	case 1:
		w.bill.add(amount)
		return llm.Answer{Text: "no usage"}, nil
	case 2:
		w.bill.add(amount)
		return llm.Answer{Usage: cost.Usage{Calls: 1}}, llm.ErrEmpty
	case 3:
		u.Cost = amount/2 + 1
		w.bill.add(u.Cost)
		return llm.Answer{Text: "said", Usage: u}, llm.ErrTruncated
	}
	w.bill.add(amount)
	return llm.Answer{Text: "whole", Usage: u}, nil
}

func TestP9_AThousandRunsNeverExceedTheirCap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1_000) {
		synctest.Test(t, func(t *testing.T) {
			d, b := newDice(seed), &bill{}
			price := randomPrice(d)
			cap := cost.MicroUSD(1 + d.n(400_000))
			l := New(cap)
			round{l, cap, l.Over(&wayward{d, price, b}, &price), d}.run(t, b)
		})
	}
}

// faulty is a model's server that bills what it answers, and does not always say so.
func faulty(t *testing.T, d *dice, price cost.Price, b *bill) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Content string }
			Limit    int `json:"max_tokens"`
		}
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &asked))
		u := randomUsage(d, len(asked.Messages[0].Content)+len(asked.Messages[1].Content), asked.Limit)
		amount := price.Of(u)
		what := d.n(12)
		if what > 2 {
			b.add(amount)
		}
		w.Header().Set("Content-Type", "application/json")
		usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
			u.InputTokens, u.OutputTokens, u.CachedTokens)
		if u.CacheWriteTokens > 0 { // not every client is told of them: the whole sum is
			usage = fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"cost":%.6f}`, u.InputTokens,
				u.OutputTokens, float64(amount)/1e6)
		}
		choice := `{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}`
		switch what {
		case 0:
			w.WriteHeader(http.StatusTooManyRequests)
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.WriteHeader(http.StatusBadRequest)
		case 3:
			panic(http.ErrAbortHandler)
		case 4:
			fmt.Fprint(w, `{"choices":[`)
		case 5:
			fmt.Fprintf(w, `{"choices":[%s]}`, choice)
		case 6:
			fmt.Fprintf(w, `{"choices":[],"usage":%s}`, usage)
		case 7:
			fmt.Fprintf(w, `{"error":{"message":"the upstream failed","code":502}}`)
		default:
			fmt.Fprintf(w, `{"choices":[%s],"usage":%s}`, choice, usage)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func TestP9_RunsOverAFaultyServerNeverExceedTheirCap(t *testing.T) {
	t.Parallel()
	for group := range uint64(8) {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(40) {
				d, b := newDice(1_000+group*100+seed), &bill{}
				price := randomPrice(d)
				cap := cost.MicroUSD(1 + d.n(400_000))
				l := New(cap)
				s := faulty(t, d, price, b)
				round{l, cap, l.Over(client(t, s.URL, 1+d.n(4)), &price), d}.run(t, b)
				s.Close()
			}
		})
	}
}
