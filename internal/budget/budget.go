// Package budget keeps a run within its budget: no model is called unless the
// call can be paid for.
//
// Before a call, an upper bound on its cost is set aside; afterwards the actual
// cost replaces the bound. A lost attempt that may have reached the server is
// charged its bound, since its cost cannot be known. The package calls no model
// itself and knows no prices. Start reading at Ledger.Over.
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

// Chatter calls a model; *llm.Client is one. A usage returned together with an
// error was billed.
type Chatter interface {
	Chat(ctx context.Context, r llm.Request) (llm.Answer, error)
	// Identity names everything besides the request that determines an answer, such as
	// the model. It is hashed into keys, and contains neither credentials nor addresses.
	Identity() string
}

// Ledger tracks the money of one run. All calls of the run share it, from any
// number of goroutines.
type Ledger struct {
	mu      sync.Mutex
	changed *sync.Cond
	run     account
	queue   []*call // calls that wait for the run's money, in order of arrival
	stopped error
}

// New returns the ledger of a run with a cost cap; 0 for no cap.
func New(cap cost.MicroUSD) *Ledger {
	l := &Ledger{run: account{cap: cap}}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Paid adds what earlier parts of the run have paid.
func (l *Ledger) Paid(amount cost.MicroUSD) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.spent += amount
	l.changed.Broadcast()
}

// Spent returns what the run has cost, without what is set aside for running calls.
func (l *Ledger) Spent() cost.MicroUSD {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run.spent
}

// Stop makes every further call fail with err, including those that wait for
// money. Later errors are ignored; running calls are not interrupted.
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

// Apart returns a context whose calls count against no file's cap, because they serve
// all files.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, fileKey{}, (*account)(nil))
}

// Charge counts an earlier cost of a file, such as that of a reused answer from an
// earlier run, against the cap set by WithFile, but not in the ledger.
func Charge(ctx context.Context, amount cost.MicroUSD) {
	if file, _ := ctx.Value(fileKey{}).(*account); file != nil && amount > 0 {
		file.earlier.Add(int64(amount))
	}
}

// account tracks one cap. The ledger's lock guards all fields except earlier,
// which is yet to be added to spent.
type account struct {
	cap, spent, held cost.MicroUSD // cap 0: none
	earlier          atomic.Int64
}

// absorbEarlier adds what was charged without the ledger's lock, so that all questions to
// the account under one lock have consistent answers.
func (a *account) absorbEarlier() {
	if a != nil {
		a.spent += cost.MicroUSD(a.earlier.Swap(0))
	}
}

// exceeds reports whether an amount can no longer fit even if everything held is
// released: spent money does not come back.
func (a *account) exceeds(need cost.MicroUSD) bool {
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

// reserve sets aside a call's bound. It waits if the bound does not fit while
// running calls hold money, since most of them cost less than their bound. Calls get
// the run's money in order of arrival, so that the first are not the ones left out.
func (l *Ledger) reserve(ctx context.Context, c *call) error {
	defer context.AfterFunc(ctx, l.wake)()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.leaveQueue(c)
	for {
		c.file.absorbEarlier()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for money: %w", ctx.Err())
		case l.stopped != nil:
			return l.stopped
		case l.run.exceeds(c.need):
			return l.run.refusal(cost.ErrSpent, c.need)
		case c.file.exceeds(c.need):
			return c.file.refusal(cost.ErrFileSpent, c.need)
		case !c.file.fits(c.need):
			l.leaveQueue(c) // waits for its own file only, so others go ahead
		case !l.run.fits(c.need) || len(l.queue) > 0 && l.queue[0] != c:
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

func (l *Ledger) leaveQueue(c *call) {
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

// settle replaces what is set aside for a call by what was paid.
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

// Meter sums what the calls of a context use apart from those of its own model, such
// as the searches of a file's review. It is safe for concurrent use.
type Meter struct {
	mu   sync.Mutex
	used cost.Usage
}

type meterKey struct{}

// WithMeter returns a context whose usage, added with Count, goes to a new meter.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Count adds a usage to the context's meter. It does nothing if there is none.
func Count(ctx context.Context, u cost.Usage) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.used = cost.Add(m.used, u)
	}
}

// Used returns the usage counted so far.
func (m *Meter) Used() cost.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}
