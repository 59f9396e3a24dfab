package limit

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/org/pr-review-action/internal/transport"
)

const (
	// longestWait bounds a wait that headers alone ask for. A limit per day, or a header that says nothing true, must
	// not stop a run: the server may say no to one call a minute instead.
	longestWait = 65 * time.Second
	// maxLies is how often a call may pass although the headers had nothing left for it, even after the longest
	// wait, before they are no longer believed.
	maxLies = 2
	// mostRatio bounds what the server is taken to count for one of ours.
	mostRatio = 4
)

// quota is one limit of a server as its answers tell it. What an answer tells was true when its call was admitted, so
// the newest call's word counts, less what was started after it. A quota is taken to fill evenly; one that turns a
// call away twice in a row fills at the end of a window (pace.refused).
type quota struct {
	left  *rate.Limiter // nil where nothing was told
	word  told          // of the call with this number, which began at
	of    int64
	at    time.Time
	total float64 // charged so far
	taken float64 // of the call that told last
	ratio float64 // what the server counts for one of ours
	lies  int
}

// charge is what was charged up to and with one call.
type charge struct {
	total   float64
	doubted bool // nothing should have been left for it
}

// wait is how long until there is enough for a call; 0 where nothing is known.
func (q *quota) wait(now time.Time, need float64) time.Duration {
	if q.left == nil {
		return 0
	}
	missing := min(need*q.ratio, q.word.limit) - q.left.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	wait := time.Duration(missing/float64(q.left.Limit())*float64(time.Second)) + time.Millisecond
	return max(min(wait, q.at.Add(longestWait).Sub(now)), 0)
}

// full is how long until the quota is whole again, as the last answer told.
func (q *quota) full(now time.Time) time.Duration {
	if q.left == nil || q.left.TokensAt(now) >= q.word.limit/2 {
		return 0
	}
	return min(max(q.at.Add(q.word.reset).Sub(now), time.Millisecond), longestWait)
}

// take counts a call that starts.
func (q *quota) take(now time.Time, amount float64) charge {
	doubted := q.left != nil && q.left.TokensAt(now) < min(amount*q.ratio, q.word.limit)*0.9
	q.total += amount
	q.drain(now, amount*q.ratio)
	return charge{q.total, doubted}
}

// drain takes an amount away, also below zero.
func (q *quota) drain(now time.Time, amount float64) {
	for n := int(amount + 0.5); n > 0 && q.left != nil; n -= q.left.Burst() {
		q.left.ReserveN(now, min(n, q.left.Burst()))
	}
}

// observe takes in what the answer to a call tells; nil where it tells nothing.
func (q *quota) observe(number int64, at time.Time, c charge, t *told, passed, refused bool) {
	if passed && c.doubted {
		q.lies++
	}
	if q.lies > maxLies {
		q.left = nil
		return
	}
	if t == nil || number < q.of {
		return
	}
	used := t.limit - t.left
	perSecond := t.limit / minute.Seconds()
	if t.reset > 0 && used > 0 {
		perSecond = used / t.reset.Seconds()
	}
	q.learn(at, c.total, t, perSecond)
	if refused {
		q.ratio = min(q.ratio*1.5, mostRatio) // others use it too
	}
	q.word, q.of, q.at, q.taken = *t, number, at, c.total
	q.left = rate.NewLimiter(rate.Limit(max(perSecond, 1/minute.Seconds())), int(t.limit))
	q.drain(at, used+(q.total-c.total)*q.ratio)
}

// learn compares two answers: what the server counted with what was charged.
func (q *quota) learn(at time.Time, charged float64, t *told, perSecond float64) {
	if q.left == nil || t.limit != q.word.limit {
		q.ratio = 1
		return
	}
	ours := charged - q.taken
	counted := q.word.left - t.left + perSecond*at.Sub(q.at).Seconds()
	if ours > 0 && counted > 0 {
		q.ratio = (3*q.ratio + min(max(counted/ours, 0.05), mostRatio)) / 4
	}
}

// minute is what limits per minute are counted over, where no reset is told.
const minute = time.Minute

// most bounds the figures of a header.
const most = 1e12

// names are the headers of one limit: how much, how much is left, and when it is whole again.
type names struct{ limit, left, reset string }

// The families in the order of their trust: OpenAI's and its likes', Anthropic's,
// then those that count requests without saying so (OpenRouter; the IETF draft).
var (
	requestHeaders = []names{
		{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining",
			"Anthropic-Ratelimit-Requests-Reset"},
		{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
		{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"},
	}
	tokenHeaders = []names{
		{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
		{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining",
			"Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining",
			"Anthropic-Ratelimit-Input-Tokens-Reset"},
	}
)

// told is what an answer says of one limit, at the time its call began.
type told struct {
	limit, left float64
	reset       time.Duration
}

// read finds the first family that an answer tells in full. Without a reset a
// limit is taken as one per minute that fills evenly.
func read(h http.Header, families []names, at time.Time) *told {
	for _, n := range families {
		limit, ok := figure(h.Get(n.limit))
		left, also := figure(h.Get(n.left))
		if !ok || !also || limit < 1 {
			continue
		}
		left = min(left, limit)
		reset, named := transport.Wait(h.Get(n.reset), at)
		if !named {
			reset = time.Duration((limit - left) / limit * float64(minute))
		}
		return &told{limit: limit, left: left, reset: reset}
	}
	return nil
}

// figure reads a count; what follows a comma or semicolon is a policy's description.
func figure(value string) (float64, bool) {
	if end := strings.IndexAny(value, ",;"); end >= 0 {
		value = value[:end]
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, false
	}
	return n, true
}
