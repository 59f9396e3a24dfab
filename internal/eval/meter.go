package eval

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/wire"
)

// Budget bounds what a run may cost. The prices are per token, for endpoints that do
// not report what an answer cost; nil if unknown. A cap cannot be kept without the
// prices.
type Budget struct {
	Cap          cost.MicroUSD // for the whole run, including its earlier parts; 0 for none
	Price, Judge *cost.Price
}

// meter counts questions and limits how many are in flight. The ledger sums what they cost.
type meter struct {
	ledger   *budget.Ledger
	slots    chan struct{}
	now      func() time.Time
	linger   time.Duration
	onAnswer func() // called after each answer
	asked    atomic.Int64

	mu      sync.Mutex
	refused error // why no further question is asked
}

func newMeter(o Options) *meter {
	return &meter{ledger: budget.New(o.Budget.Cap), slots: make(chan struct{}, o.Concurrency), now: o.Now,
		linger: o.Linger}
}

func (m *meter) totals() (spent cost.MicroUSD, asked int) {
	return m.ledger.Spent(), int(m.asked.Load())
}

// refuse ends the run: no further question is asked. The first reason is kept.
func (m *meter) refuse(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = cmp.Or(m.refused, why)
	m.ledger.Stop(why)
}

// refusal returns why no further question is asked, or nil while questions are allowed.
func (m *meter) refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// wrap wraps a model so that its questions are counted, paid for and timed for the journal.
func (m *meter) wrap(c review.Chatter, price *cost.Price) review.Chatter {
	return metered{m.ledger.Over(timed{c, m}, price), m}
}

type metered struct {
	review.Chatter
	meter *meter
}

// Chat waits for a free slot, then asks if the budget allows it.
func (c metered) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	select {
	case c.meter.slots <- struct{}{}:
		defer func() { <-c.meter.slots }()
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
	answer, err := c.Chatter.Chat(ctx, r)
	if errors.Is(err, cost.ErrSpent) {
		c.meter.refuse(err)
	}
	if c.meter.onAnswer != nil {
		c.meter.onAnswer()
	}
	return answer, err
}

type timed struct {
	review.Chatter
	meter *meter
}

// Chat waits a while for an answer that is in flight when the run is cancelled: it
// will be charged.
func (c timed) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	longer, done := wire.Lingering(ctx, c.meter.linger)
	defer done()
	began := c.meter.now()
	answer, err := c.Chatter.Chat(longer, r)
	c.meter.asked.Add(1)
	if e, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		e.System, e.User, e.Seconds = r.System, r.User, c.meter.now().Sub(began).Seconds()
	}
	return answer, err
}
