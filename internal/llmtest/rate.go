package llmtest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Rate is what a server lets in over a time. A request's tokens are the larger
// of its input and its output limit, as OpenAI counts them.
type Rate struct {
	Requests, Tokens int           // in a Period; 0 for no limit
	Period           time.Duration // a minute when zero
	Window           bool          // counts in fixed windows; else what was used comes back bit by bit
	Silent           bool          // writes no x-ratelimit headers
	RetryAfter       bool          // a 429 has Retry-After, in whole seconds
	RetryAfterMS     bool          // a 429 has retry-after-ms
}

// buckets is what is left of a rate.
type buckets struct {
	at               time.Time // when this was so; a window's begin
	requests, tokens float64
}

func (r Rate) limited() bool { return r.Requests > 0 || r.Tokens > 0 }

func (r Rate) period() time.Duration {
	if r.Period == 0 {
		return time.Minute
	}
	return r.Period
}

// refill brings what is left up to now.
func (r Rate) refill(b *buckets, now time.Time) {
	passed := now.Sub(b.at)
	switch {
	case b.at.IsZero(), r.Window && passed >= r.period():
		b.requests, b.tokens = float64(r.Requests), float64(r.Tokens)
		if !b.at.IsZero() {
			now = b.at.Add(passed / r.period() * r.period())
		}
		b.at = now
	case !r.Window:
		share := passed.Seconds() / r.period().Seconds()
		b.requests = min(float64(r.Requests), b.requests+share*float64(r.Requests))
		b.tokens = min(float64(r.Tokens), b.tokens+share*float64(r.Tokens))
		b.at = now
	}
}

// admit takes a request out of the buckets, or turns it away. It writes the
// headers that tell of the rate.
func (s *Server) admit(h http.Header, q Request) *refusal {
	r := s.Rate
	if !r.limited() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, b := time.Now(), &s.buckets
	r.refill(b, now)
	needed := max(q.tokens(), q.MaxTokens)
	var refused *refusal
	switch {
	case r.Tokens > 0 && needed > r.Tokens:
		refused = tooMany("tokens", fmt.Sprintf("Request too large for %s in organization org-test on tokens per "+
			"min (TPM): Limit %d, Requested %d. "+
			"The input or output tokens must be reduced in order to run successfully.", q.Model, r.Tokens, needed))
	case r.Requests > 0 && b.requests < 1:
		refused = r.turnAway(q.Model, "requests", r.missing(b, 1-b.requests, r.Requests, now))
	case r.Tokens > 0 && b.tokens < float64(needed):
		refused = r.turnAway(q.Model, "tokens", r.missing(b, float64(needed)-b.tokens, r.Tokens, now))
	default:
		b.requests--
		b.tokens -= float64(needed)
	}
	if refused != nil {
		s.limited++
	}
	r.tell(h, b, now)
	return refused
}

// missing is how long it takes until so much has come back.
func (r Rate) missing(b *buckets, amount float64, limit int, now time.Time) time.Duration {
	if r.Window {
		return b.at.Add(r.period()).Sub(now)
	}
	return time.Duration(math.Ceil(amount / float64(limit) * float64(r.period())))
}

func (r Rate) turnAway(model, kind string, wait time.Duration) *refusal {
	short := map[string]string{"requests": "RPM", "tokens": "TPM"}[kind]
	refused := tooMany(kind, fmt.Sprintf("Rate limit reached for %s in organization org-test on %s per min (%s): "+
		"Please try again in %s.",
		model, kind, short, length(wait)))
	if r.RetryAfter {
		refused.retryAfter = strconv.Itoa(int(math.Ceil(wait.Seconds())))
	}
	if r.RetryAfterMS {
		refused.inMillis = strconv.Itoa(int(math.Ceil(float64(wait) / float64(time.Millisecond))))
	}
	return refused
}

func tooMany(kind, message string) *refusal {
	return invalid("%s", message).as(http.StatusTooManyRequests).of(kind).coded("rate_limit_exceeded")
}

// tell writes the headers as OpenAI does: a reset is the time until all is back.
func (r Rate) tell(h http.Header, b *buckets, now time.Time) {
	if r.Silent {
		return
	}
	for _, one := range []struct {
		name  string
		limit int
		left  float64
	}{{"Requests", r.Requests, b.requests}, {"Tokens", r.Tokens, b.tokens}} {
		if one.limit > 0 {
			reset := r.missing(b, float64(one.limit)-one.left, one.limit, now)
			h.Set("X-Ratelimit-Limit-"+one.name, strconv.Itoa(one.limit))
			h.Set("X-Ratelimit-Remaining-"+one.name, strconv.Itoa(int(max(one.left, 0))))
			h.Set("X-Ratelimit-Reset-"+one.name, length(reset))
		}
	}
}

// length writes a time as OpenAI does: 6m0s, 1.5s, 120ms.
func length(d time.Duration) string {
	return max(d+time.Millisecond-1, 0).Truncate(time.Millisecond).String()
}
