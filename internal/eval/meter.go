package eval

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/wire"
)

// Budget bounds what a run may cost. Prices are those of a model's tokens, where
// the endpoint does not say what an answer cost; nil for unknown ones. A cap
// needs both, or it could not be held.
type Budget struct {
	Cap          cost.MicroUSD // of the whole run, of what earlier parts of it paid too; 0 for none
	Price, Judge *cost.Price
}

// meter counts questions and how many are open at one time; the ledger, what they cost.
type meter struct {
	ledger *budget.Ledger
	slots  chan struct{}
	now    func() time.Time
	linger time.Duration
	tell   func() // when a question was answered

	mu      sync.Mutex
	asked   int
	refused error // why no further question is put
}

func newMeter(o Options) *meter {
	return &meter{ledger: budget.New(o.Budget.Cap), slots: make(chan struct{}, o.Concurrency), now: o.Now,
		linger: o.Linger}
}

func (m *meter) soFar() (spent cost.MicroUSD, asked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.Spent(), m.asked
}

// refuse ends the run: no further question is put. The first reason stays.
func (m *meter) refuse(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = cmp.Or(m.refused, why)
	m.ledger.Stop(why)
}

// refusal says why no further question is put, nil where they are.
func (m *meter) refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// over is a model whose questions are counted, paid for and noted for the journal.
func (m *meter) over(c review.Chatter, price *cost.Price) review.Chatter {
	return metered{m.ledger.Over(timed{c, m}, price), m}
}

type metered struct {
	review.Chatter
	meter *meter
}

// Chat asks where slot and money are free.
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
	if c.meter.tell != nil {
		c.meter.tell()
	}
	return answer, err
}

type timed struct {
	review.Chatter
	meter *meter
}

// Chat waits a while for an answer that is on its way when the run is cancelled:
// it is paid.
func (c timed) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	longer, done := wire.Lingering(ctx, c.meter.linger)
	defer done()
	began := c.meter.now()
	answer, err := c.Chatter.Chat(longer, r)
	c.meter.mu.Lock()
	c.meter.asked++
	c.meter.mu.Unlock()
	if e, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		e.System, e.User, e.Seconds = r.System, r.User, c.meter.now().Sub(began).Seconds()
	}
	return answer, err
}
