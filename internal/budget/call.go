package budget

import (
	"context"
	"errors"
	"net/http"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

// Over returns a chatter whose calls are paid from the ledger at a price. Without one (nil)
// what the server says it charged is counted, and no cap can be held. An answer's usage is
// priced, holds what lost tries were charged, and is there with an error too; an answer
// without usage costs its bound. Further errors are cost.ErrSpent, cost.ErrFileSpent,
// ErrNoLimit, llm.ErrNoLimit, the context's and Stop's.
func (l *Ledger) Over(c Chatter, price *cost.Price) Chatter {
	return payer{Chatter: c, price: price, ledger: l}
}

// ErrNoLimit is a request without a limit of its output: what it may cost has no bound.
var ErrNoLimit = errors.New("a request without an output limit cannot be paid from a budget")

type payer struct {
	Chatter
	price  *cost.Price
	ledger *Ledger
}

// Chat sets money aside, asks, and settles.
func (p payer) Chat(ctx context.Context, r llm.Request) (answer llm.Answer, err error) {
	var need cost.MicroUSD
	if p.price != nil {
		if r.MaxTokens <= 0 {
			return llm.Answer{}, ErrNoLimit
		}
		r.Bounded = true
		need = Bound(r, *p.price)
	}
	used, err := p.ledger.Spend(ctx, need, p.price, func(ctx context.Context) (cost.Usage, error) {
		answer, err = p.Chatter.Chat(ctx, r)
		return answer.Usage, err
	})
	answer.Usage = used
	return answer, err
}

// Spend makes a call that may cost need at most and gives what it used, with an error too;
// see Over. do makes one request by the HTTP client of transport, and may be called again.
// The wait for money is never within a try, which may hold a place that calls with money
// wait for.
func (l *Ledger) Spend(ctx context.Context, need cost.MicroUSD, price *cost.Price,
	do func(context.Context) (cost.Usage, error)) (cost.Usage, error) {
	c := &call{ledger: l, need: need}
	if price == nil {
		c.unpriced = 1
	}
	c.file, _ = ctx.Value(fileKey{}).(*account)
	defer c.abandon()
	for {
		if err := l.reserve(ctx, c); err != nil {
			return c.lost, err
		}
		used, err := do(transport.EachTry(ctx, c.begin))
		if c.again() {
			continue
		}
		return c.settle(used, err, price), err
	}
}

type call struct {
	ledger *Ledger
	file   *account // nil for none
	need   cost.MicroUSD

	unpriced int64      // 1 where no price is known
	held     bool       // need is set aside
	answered bool       // the last try had an answer with a status of success
	broke    bool       // a try was not made because its money was not free
	lost     cost.Usage // what lost tries were charged
	waited   bool       // the request was put anew after a wait for money
	last     error      // what was wrong with the last try that was charged
}

// errBroke ends a request whose next try cannot be paid at this moment.
var errBroke = errors.New("the next try has to wait for money")

// errNoUse is an answer that was billed, and that the client could not use.
var errNoUse = errors.New("the server's answer was billed and of no use")

// mostLost is how many tries of a call may be charged in vain when it has waited
// for money: the HTTP client counts the tries of a request that is put anew from
// one again. It is the number that transport makes where nothing else is said.
const mostLost = 5

// begin lets a try go that has money. One whose forerunner was lost needs its own.
func (c *call) begin(context.Context, int) (func(*http.Response, error), error) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.answered { // and its answer was no use to the client: it is billed all the same
		c.charge(errNoUse)
	}
	if c.held {
		return c.end, nil
	}
	c.file.take()
	fits := c.ledger.run.fits(c.need) && c.file.fits(c.need)
	switch {
	case (c.waited || !fits) && c.lost.Calls >= mostLost:
		return nil, c.last
	case !fits:
		c.broke, c.waited = true, true
		return nil, errBroke
	}
	c.ledger.hold(c)
	return c.end, nil
}

// end keeps the money of a try that cost nothing for the next one.
func (c *call) end(resp *http.Response, err error) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	switch {
	case transport.Lost(resp, err):
		if err == nil {
			err = transport.Status(resp)
		}
		c.charge(err)
	case err == nil && resp.StatusCode/100 == 2:
		c.answered = true
	}
}

// charge takes what is held for paid, because of what was wrong with the try.
func (c *call) charge(why error) {
	c.last = why
	c.lost = cost.Add(c.lost, cost.Usage{Calls: 1, Cost: c.need, Unpriced: c.unpriced})
	c.ledger.settle(c, c.need)
	c.answered = false
}

// again reports whether the request ended for want of money alone.
func (c *call) again() bool {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	defer func() { c.broke = false }()
	return c.broke
}

// settle is what the call has used, all told. Where no try was seen, the chatter
// is none that goes over the network, and its word stands for what was billed.
func (c *call) settle(u cost.Usage, err error, price *cost.Price) cost.Usage {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	billed := err == nil || c.answered || u.Calls > 0
	switch {
	case !billed || u.Cost > 0:
	case u.Measured():
		u = Priced(u, price)
	default:
		u.Cost = c.need
	}
	if billed {
		u.Calls = max(u.Calls, 1)
		if price == nil && u.Cost == 0 {
			u.Unpriced = u.Calls
		}
	}
	c.ledger.settle(c, u.Cost)
	return cost.Add(c.lost, u)
}

// abandon settles a call that ended in a panic, so that nobody waits for its money.
func (c *call) abandon() {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.held {
		c.charge(nil)
	}
}
