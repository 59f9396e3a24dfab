// Package budget keeps the money of a run: no call of a model is made for which
// there is none.
//
// Before a call an upper bound of what it may cost is set aside; when it is over,
// what it did cost takes the bound's place. A try that was lost after it may have
// reached the server is charged its bound, since nobody can say what it cost. The
// package asks no model itself and knows no prices. Start reading at Ledger.Over.
package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// Chatter asks a model; *llm.Client is one. Where an error comes with a usage,
// the usage was paid.
type Chatter interface {
	Chat(ctx context.Context, r llm.Request) (llm.Answer, error)
	// Identity names all that settles an answer beside the request, such as the
	// model. It is hashed into keys, and holds neither credentials nor addresses.
	Identity() string
}

// Ledger is the money of one run. All calls of a run share it, from any number
// of goroutines.
type Ledger struct {
	mu      sync.Mutex
	changed *sync.Cond
	run     account
	queue   []*call // those that wait for the run's money, in the order in which they came
	stopped error
}

// New returns the ledger of a run that may cost as much; 0 for no cap.
func New(cap cost.MicroUSD) *Ledger {
	l := &Ledger{run: account{cap: cap}}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Paid counts what earlier parts of the run have paid.
func (l *Ledger) Paid(amount cost.MicroUSD) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.spent += amount
	l.changed.Broadcast()
}

// Spent is what the run has cost, without what is set aside for calls under way.
func (l *Ledger) Spent() cost.MicroUSD {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run.spent
}

// Stop refuses every further call with an error, those that wait for money
// included. The first error stays; calls under way are not ended.
func (l *Ledger) Stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped == nil {
		l.stopped = err
	}
	l.changed.Broadcast()
}

type fileKey struct{}

// WithFile returns a context whose calls also count against the cap of one file;
// 0 for no cap.
func WithFile(ctx context.Context, cap cost.MicroUSD) context.Context {
	if cap <= 0 {
		return ctx
	}
	return context.WithValue(ctx, fileKey{}, &account{cap: cap})
}

// Apart returns a context whose calls count against no file's cap: what they ask is for
// all of them.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, fileKey{}, (*account)(nil))
}

// Charge counts what a file has paid before, such as for an answer of an earlier run that
// is read again, against the cap that WithFile gave the context, and in no ledger.
func Charge(ctx context.Context, amount cost.MicroUSD) {
	if file, _ := ctx.Value(fileKey{}).(*account); file != nil && amount > 0 {
		file.earlier.Add(int64(amount))
	}
}

// account is what one cap is held against. The ledger's lock guards it, but for
// earlier: what is to be added to spent.
type account struct {
	cap, spent, held cost.MicroUSD // cap 0: none
	earlier          atomic.Int64
}

// take adds what was charged without the ledger, so that all that is asked of
// the account under one lock has one answer.
func (a *account) take() {
	if a != nil {
		a.spent += cost.MicroUSD(a.earlier.Swap(0))
	}
}

// never reports whether an amount cannot fit any more, whatever becomes of what
// is held: spent money does not come back.
func (a *account) never(need cost.MicroUSD) bool {
	return a != nil && a.cap > 0 && need > a.cap-a.spent
}

func (a *account) fits(need cost.MicroUSD) bool {
	return a == nil || a.cap == 0 || need <= a.cap-a.spent-a.held
}

func (a *account) hold(amount cost.MicroUSD) {
	if a != nil {
		a.held += amount
	}
}

func (a *account) settle(held, paid cost.MicroUSD) {
	if a != nil {
		a.held -= held
		a.spent += paid
	}
}

func (a *account) refusal(why error, need cost.MicroUSD) error {
	if need > a.cap {
		return fmt.Errorf("%w: the cap of %s is less than the %s that the next call may take; raise it, or lower "+
			"the limit of output tokens", why, a.cap, need)
	}
	return fmt.Errorf("%w: of %s %s are left, and the next call may take %s", why, a.cap, max(a.cap-a.spent, 0), need)
}

// reserve sets a call's bound aside. It waits while that does not fit and calls
// under way hold money: they mostly cost less. Calls get the run's money in the
// order in which they came, so that the first ones are not the ones left out.
func (l *Ledger) reserve(ctx context.Context, c *call) error {
	defer context.AfterFunc(ctx, l.wake)()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.leave(c)
	for {
		c.file.take()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for money: %w", ctx.Err())
		case l.stopped != nil:
			return l.stopped
		case l.run.never(c.need):
			return l.run.refusal(cost.ErrSpent, c.need)
		case c.file.never(c.need):
			return c.file.refusal(cost.ErrFileSpent, c.need)
		case !c.file.fits(c.need):
			l.leave(c) // it waits for its own file, others need not
		case !l.run.fits(c.need) || l.behind(c):
			if !slices.Contains(l.queue, c) {
				l.queue = append(l.queue, c)
			}
		default:
			l.hold(c)
			return nil
		}
		l.changed.Wait()
	}
}

func (l *Ledger) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed.Broadcast()
}

func (l *Ledger) behind(c *call) bool { return len(l.queue) > 0 && l.queue[0] != c }

func (l *Ledger) leave(c *call) {
	if i := slices.Index(l.queue, c); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		l.changed.Broadcast()
	}
}

func (l *Ledger) hold(c *call) {
	l.run.hold(c.need)
	c.file.hold(c.need)
	c.held = true
}

// settle puts what was paid in the place of what is set aside for a call.
func (l *Ledger) settle(c *call, paid cost.MicroUSD) {
	held := c.need
	if !c.held {
		held = 0
	}
	l.run.settle(held, paid)
	c.file.settle(held, paid)
	c.held = false
	l.changed.Broadcast()
}

// Meter adds up what the calls of a context used beside those of its own model, such
// as the searches of a file's review. It may be used from many goroutines.
type Meter struct {
	mu   sync.Mutex
	used cost.Usage
}

type meterKey struct{}

// Metered returns a context whose Count goes to a new meter.
func Metered(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Count adds a usage to the context's meter. Without one nothing happens.
func Count(ctx context.Context, u cost.Usage) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.used = cost.Add(m.used, u)
	}
}

// Used is what was counted so far.
func (m *Meter) Used() cost.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}
