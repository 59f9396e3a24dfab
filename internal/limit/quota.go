package limit

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/org/pr-review-action/internal/transport"
)

const (
	// longestWait bounds a wait that is based on headers alone. A limit per day, or a wrong header, must not stop a
	// run: the server may refuse one call a minute instead.
	longestWait = 65 * time.Second
	// maxLies is the number of calls that may pass although the headers left nothing for them, even after the
	// longest wait, before the headers are ignored.
	maxLies = 2
	// mostRatio bounds how many units the server is assumed to count for one of ours.
	mostRatio = 4
)

// quota is one limit of a server as reported by its answers. A report was true when its call was admitted, so the
// report of the newest call counts, less what was started since. A quota is assumed to refill evenly; one that
// refuses two calls in a row refills at the end of a window (pace.refused).
type quota struct {
	left        *rate.Limiter // nil if nothing was reported
	last        report        // the report of call reportedBy, which began at reportedAt
	reportedBy  int64
	reportedAt  time.Time
	total       float64 // amount charged so far
	chargedThen float64 // total charged up to the call that reported last
	ratio       float64 // units that the server counts for one of ours
	lies        int
}

// charge is the amount charged up to and including one call.
type charge struct {
	total   float64
	doubted bool // according to the headers nothing was left for it
}

// wait returns how long until there is enough for a call; 0 if nothing is known.
func (q *quota) wait(now time.Time, need float64) time.Duration {
	if q.left == nil {
		return 0
	}
	missing := min(need*q.ratio, q.last.limit) - q.left.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	wait := time.Duration(missing/float64(q.left.Limit())*float64(time.Second)) + time.Millisecond
	return max(min(wait, q.reportedAt.Add(longestWait).Sub(now)), 0)
}

// untilFull returns how long until the quota is full again, according to the last report.
func (q *quota) untilFull(now time.Time) time.Duration {
	if q.left == nil || q.left.TokensAt(now) >= q.last.limit/2 {
		return 0
	}
	return min(max(q.reportedAt.Add(q.last.reset).Sub(now), time.Millisecond), longestWait)
}

// take charges the quota for a call that starts.
func (q *quota) take(now time.Time, amount float64) charge {
	doubted := q.left != nil && q.left.TokensAt(now) < min(amount*q.ratio, q.last.limit)*0.9
	q.total += amount
	q.drain(now, amount*q.ratio)
	return charge{q.total, doubted}
}

// drain subtracts an amount, also below zero.
func (q *quota) drain(now time.Time, amount float64) {
	for n := int(amount + 0.5); n > 0 && q.left != nil; n -= q.left.Burst() {
		q.left.ReserveN(now, min(n, q.left.Burst()))
	}
}

// observe updates the quota with the report in a call's answer; t is nil if there is none.
func (q *quota) observe(number int64, at time.Time, c charge, t *report, passed, refused bool) {
	if passed && c.doubted {
		q.lies++
	}
	if q.lies > maxLies {
		q.left = nil
		return
	}
	if t == nil || number < q.reportedBy {
		return
	}
	used := t.limit - t.left
	perSecond := t.limit / minute.Seconds()
	if t.reset > 0 && used > 0 {
		perSecond = used / t.reset.Seconds()
	}
	q.learn(at, c.total, t, perSecond)
	if refused {
		q.ratio = min(q.ratio*1.5, mostRatio) // others use the limit too
	}
	q.last, q.reportedBy, q.reportedAt, q.chargedThen = *t, number, at, c.total
	q.left = rate.NewLimiter(rate.Limit(max(perSecond, 1/minute.Seconds())), int(t.limit))
	q.drain(at, used+(q.total-c.total)*q.ratio)
}

// learn compares two reports: what the server counted with what was charged.
func (q *quota) learn(at time.Time, charged float64, t *report, perSecond float64) {
	if q.left == nil || t.limit != q.last.limit {
		q.ratio = 1
		return
	}
	ours := charged - q.chargedThen
	counted := q.last.left - t.left + perSecond*at.Sub(q.reportedAt).Seconds()
	if ours > 0 && counted > 0 {
		q.ratio = (3*q.ratio + min(max(counted/ours, 0.05), mostRatio)) / 4
	}
}

// minute is the period of a limit without a reported reset.
const minute = time.Minute

// maxFigure bounds the numbers in a header.
const maxFigure = 1e12

// The headers of a limit in order of trust, where %s stands for Limit, Remaining or Reset: those of OpenAI and
// compatible servers, Anthropic's, then those that count requests without saying so (OpenRouter; the IETF draft).
var (
	requestHeaders = []string{"X-Ratelimit-%s-Requests", "Anthropic-Ratelimit-Requests-%s", "X-Ratelimit-%s",
		"Ratelimit-%s"}
	tokenHeaders = []string{"X-Ratelimit-%s-Tokens", "Anthropic-Ratelimit-Tokens-%s",
		"Anthropic-Ratelimit-Input-Tokens-%s"}
)

// report is an answer's report on one limit, as of the time its call began.
type report struct {
	limit, left float64
	reset       time.Duration
}

// readReport returns the first family that an answer reports in full, or nil. A limit
// without a reset is taken as a limit per minute that refills evenly.
func readReport(h http.Header, families []string, at time.Time) *report {
	for _, family := range families {
		value := func(of string) string { return h.Get(fmt.Sprintf(family, of)) }
		limit, ok := parseCount(value("Limit"))
		left, also := parseCount(value("Remaining"))
		if !ok || !also || limit < 1 {
			continue
		}
		left = min(left, limit)
		reset, named := transport.Wait(value("Reset"), at)
		if !named {
			reset = time.Duration((limit - left) / limit * float64(minute))
		}
		return &report{limit: limit, left: left, reset: reset}
	}
	return nil
}

// parseCount parses a count; text after a comma or semicolon describes a policy.
func parseCount(value string) (float64, bool) {
	value, _, _ = strings.Cut(strings.ReplaceAll(value, ";", ","), ",")
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > maxFigure {
		return 0, false
	}
	return n, true
}
