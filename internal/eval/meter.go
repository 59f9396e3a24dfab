package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
)

// ErrUnpriced says that a cap was set and the endpoint does not tell what its
// answers cost.
var ErrUnpriced = errors.New("the endpoint does not say what its answers cost, so the cap cannot be held")

// Budget bounds what a run may cost. The zero value is no bound.
type Budget struct {
	Cap   cost.MicroUSD // of the whole run, of what earlier parts of it paid too; 0 for none
	Price *cost.Price   // of the model and the judge; nil: what the endpoint reports counts
}

// meter counts what a run costs and how many questions are open at one time.
// A question is put only where its upper bound fits under the cap; it waits for
// those that are open, since they mostly cost less than was set aside for them.
type meter struct {
	Budget
	slots chan struct{}
	now   func() time.Time

	mu       sync.Mutex
	settled  *sync.Cond
	spent    cost.MicroUSD
	held     cost.MicroUSD
	largest  cost.MicroUSD // of one answer, where no price gives a bound
	open     int
	unpriced bool
	refused  error // of the first question that was not put
}

func newMeter(b Budget, atOnce int, now func() time.Time) *meter {
	m := &meter{Budget: b, slots: make(chan struct{}, atOnce), now: now}
	m.settled = sync.NewCond(&m.mu)
	return m
}

// paid counts what an earlier part of the run paid.
func (m *meter) paid(u cost.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += u.Cost
	m.largest = max(m.largest, u.Cost)
}

// priced adds what a usage costs, where the endpoint did not say.
func (m *meter) priced(u cost.Usage) cost.Usage {
	if m.Price != nil && u.Cost == 0 {
		u.Cost = m.Price.Of(u)
	}
	return u
}

// total is what the run has cost so far.
func (m *meter) total() cost.MicroUSD {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// reserve sets money aside for a question; review.ErrSpent where it does not fit.
func (m *meter) reserve(bound cost.Usage) (cost.MicroUSD, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		need := m.largest
		if m.Price != nil {
			need = m.Price.Of(bound)
		}
		switch {
		case m.Cap == 0 || m.spent+m.held+need <= m.Cap && !m.unpriced:
			m.held += need
			m.open++
			return need, nil
		case m.unpriced:
			return 0, m.refuse(fmt.Errorf("%w: %w", review.ErrSpent, ErrUnpriced))
		case m.open == 0:
			return 0, m.refuse(fmt.Errorf("%w: %s of %s", review.ErrSpent, m.spent, m.Cap))
		}
		m.settled.Wait()
	}
}

func (m *meter) refuse(err error) error {
	m.refused = cmp.Or(m.refused, err)
	return m.refused
}

// refusal says why questions were not put.
func (m *meter) refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.refused, review.ErrSpent)
}

// settle replaces what was set aside by what was paid.
func (m *meter) settle(held cost.MicroUSD, u cost.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= held
	m.open--
	m.spent += u.Cost
	m.largest = max(m.largest, u.Cost)
	m.unpriced = m.unpriced || m.Cap > 0 && m.Price == nil && u.Calls > 0 && u.Cost == 0
	m.settled.Broadcast()
}

// metered is a model whose questions are counted, and written down for the journal.
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
	held, err := c.meter.reserve(bound(r))
	if err != nil {
		return llm.Answer{}, err
	}
	began := c.meter.now()
	answer, err := c.Chatter.Chat(ctx, r)
	answer.Usage = c.meter.priced(answer.Usage)
	c.meter.settle(held, answer.Usage)
	if e, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		e.System, e.User, e.Seconds = r.System, r.User, c.meter.now().Sub(began).Seconds()
	}
	return answer, err
}

// bytesPerToken is a low guess for code and English, so that counts are high.
const bytesPerToken = 3

// bound is an upper bound of what a question uses: its text, and its whole
// limit of output.
func bound(r llm.Request) cost.Usage {
	text := len(r.System) + len(r.User) + len(r.Schema)
	return cost.Usage{Calls: 1, InputTokens: int64(text/bytesPerToken) + 100, OutputTokens: int64(r.MaxTokens)}
}
