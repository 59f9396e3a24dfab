package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
)

// Budget bounds what a run may cost. Prices are those of a model's tokens, where
// the endpoint does not say what an answer cost; nil for unknown ones. A cap
// needs both, or it could not be held.
type Budget struct {
	Cap          cost.MicroUSD // of the whole run, of what earlier parts of it paid too; 0 for none
	Price, Judge *cost.Price
}

// meter counts what a run costs and how many questions are open at one time.
// Under a cap a question is put only where its upper bound fits; it waits for
// those that are open, since they mostly cost less than was set aside for them.
type meter struct {
	cap    cost.MicroUSD
	slots  chan struct{}
	now    func() time.Time
	linger time.Duration
	tell   func() // when a question was answered

	mu      sync.Mutex
	settled *sync.Cond
	spent   cost.MicroUSD
	held    cost.MicroUSD
	open    int
	asked   int
	refused error // why no further question is put
}

func newMeter(o Options) *meter {
	m := &meter{cap: o.Budget.Cap, slots: make(chan struct{}, o.Concurrency), now: o.Now, linger: o.Linger}
	m.settled = sync.NewCond(&m.mu)
	return m
}

// paid counts what an earlier part of the run paid.
func (m *meter) paid(u cost.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += u.Cost
}

// soFar is what the run has cost, and how many questions it has put.
func (m *meter) soFar() (spent cost.MicroUSD, asked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent, m.asked
}

// refuse ends the run: no further question is put. The first reason stays.
func (m *meter) refuse(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = cmp.Or(m.refused, why)
	m.settled.Broadcast()
}

// refusal says why no further question is put, nil where they are.
func (m *meter) refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// reserve sets money aside for a question, or says why it is not put.
func (m *meter) reserve(need cost.MicroUSD) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.refused == nil && m.cap > 0 && m.spent+m.held+need > m.cap {
		if m.open == 0 {
			m.refused = fmt.Errorf("%w: of %s %s are left, and the next question may take %s", review.ErrSpent, m.cap, max(m.cap-m.spent, 0), need)
			break
		}
		m.settled.Wait()
	}
	if m.refused != nil {
		return m.refused
	}
	m.held += need
	m.open++
	return nil
}

// settle replaces what was set aside by what was paid.
func (m *meter) settle(held, paid cost.MicroUSD) {
	m.mu.Lock()
	m.held -= held
	m.open--
	m.asked++
	m.spent += paid
	m.settled.Broadcast()
	m.mu.Unlock()
	if m.tell != nil {
		m.tell()
	}
}

// metered is a model whose questions are counted, and written down for the journal.
type metered struct {
	review.Chatter
	price *cost.Price
	meter *meter
}

// Chat asks where slot and money are free. An answer that is on its way when the
// run is cancelled is waited for, a while: it is paid.
func (c metered) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	select {
	case c.meter.slots <- struct{}{}:
		defer func() { <-c.meter.slots }()
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
	held := priced(c.price, bound(r)).Cost
	if err := errors.Join(ctx.Err(), c.meter.reserve(held)); err != nil {
		return llm.Answer{}, err
	}
	longer, done := graph.Lingering(ctx, c.meter.linger)
	defer done()
	began := c.meter.now()
	answer, err := c.Chatter.Chat(longer, r)
	if answer.Usage = priced(c.price, answer.Usage); err == nil && answer.Usage.Cost == 0 {
		answer.Usage.Cost = held // an endpoint that tells no usage is taken to have used all it may
	}
	c.meter.settle(held, answer.Usage.Cost)
	if e, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		e.System, e.User, e.Seconds = r.System, r.User, c.meter.now().Sub(began).Seconds()
	}
	return answer, err
}

// priced adds what a usage costs, where the endpoint did not say.
func priced(p *cost.Price, u cost.Usage) cost.Usage {
	if p != nil && u.Cost == 0 {
		u.Cost = p.Of(u)
	}
	return u
}

// bound is an upper bound of what a question uses: a token for each byte of its
// text, which no tokenizer exceeds, some for the frame, and its whole limit of output.
func bound(r llm.Request) cost.Usage {
	text := len(r.System) + len(r.User) + len(r.Schema)
	return cost.Usage{Calls: 1, InputTokens: int64(text) + 200, OutputTokens: int64(r.MaxTokens)}
}
