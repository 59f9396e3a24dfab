package budget

import (
	"context"
	"errors"
	"net/http"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

// Over returns a chatter whose calls are paid from the ledger at a price. If price is nil,
// only costs reported by the server are counted, and no cap can be enforced. An answer's
// usage is priced, includes what lost attempts were charged, and is also returned with an
// error; an answer without usage costs its bound. Additional errors are cost.ErrSpent,
// cost.ErrFileSpent, ErrNoLimit, llm.ErrNoLimit, the context's and Stop's.
func (l *Ledger) Over(c Chatter, price *cost.Price) Chatter {
	return payer{Chatter: c, price: price, ledger: l}
}

// ErrNoLimit reports a request without an output limit, whose cost has no bound.
var ErrNoLimit = errors.New("a request without an output limit cannot be paid from a budget")

type payer struct {
	Chatter
	price  *cost.Price
	ledger *Ledger
}

// Chat sets money aside, calls the model, and settles.
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

// Spend makes a call that costs at most need and returns what it used, also with an error;
// see Over. do makes one request through transport's HTTP client, and may be called again.
// Spend never waits for money within an attempt, which may occupy a slot that calls with
// money wait for.
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
		if c.restart() {
			continue
		}
		return c.settle(used, err, price), err
	}
}

type call struct {
	ledger *Ledger
	file   *account // nil if there is none
	need   cost.MicroUSD

	unpriced   int64      // 1 if no price is known
	held       bool       // need is set aside
	answered   bool       // the last attempt got a successful status
	outOfMoney bool       // an attempt was not made for lack of free money
	lost       cost.Usage // what lost attempts were charged
	waited     bool       // the request was restarted after a wait for money
	last       error      // error of the last attempt that was charged
}

// errBroke ends a request whose next attempt cannot be paid for right now.
var errBroke = errors.New("the next try has to wait for money")

// errNoUse reports an answer that was billed but that the client could not use.
var errNoUse = errors.New("the server's answer was billed and of no use")

// maxLost is the number of lost attempts of a call that may be charged once it has waited
// for money, because the HTTP client restarts its count of attempts with the
// request. It equals transport's default number of attempts.
const maxLost = 5

// begin admits an attempt that has money. After a lost attempt, the next one needs its own.
func (c *call) begin(context.Context, int) (func(*http.Response, error), error) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.answered { // the client could not use its answer, which is billed anyway
		c.charge(errNoUse)
	}
	if c.held {
		return c.end, nil
	}
	c.file.absorbEarlier()
	fits := c.ledger.run.fits(c.need) && c.file.fits(c.need)
	switch {
	case (c.waited || !fits) && c.lost.Calls >= maxLost:
		return nil, c.last
	case !fits:
		c.outOfMoney, c.waited = true, true
		return nil, errBroke
	}
	c.ledger.hold(c)
	return c.end, nil
}

// end charges a lost attempt; the money of one that cost nothing is kept for the next.
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

// charge counts what is held as paid, because the attempt failed with why.
func (c *call) charge(why error) {
	c.last = why
	c.lost = cost.Add(c.lost, cost.Usage{Calls: 1, Cost: c.need, Unpriced: c.unpriced})
	c.ledger.settle(c, c.need)
	c.answered = false
}

// restart reports whether the request ended only for lack of free money.
func (c *call) restart() bool {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	defer func() { c.outOfMoney = false }()
	return c.outOfMoney
}

// settle returns the total usage of the call. If no attempt was seen, the chatter
// does not use the network, and its reported usage is taken as billed.
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

// abandon settles a call that ended in a panic, so that its money is not held forever.
func (c *call) abandon() {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.held {
		c.charge(nil)
	}
}
