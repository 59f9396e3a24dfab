package llmtest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Rate is what a server lets in over a minute; what was used comes back bit by
// bit. A request's tokens are the larger of its input and its output limit, as
// OpenAI counts them.
type Rate struct {
	Requests, Tokens int  // in a minute; 0 for no limit
	Silent           bool // writes no x-ratelimit headers
}

// buckets is what is left of a rate.
type buckets struct {
	at               time.Time // when this was so
	requests, tokens float64
}

func (r Rate) limited() bool { return r.Requests > 0 || r.Tokens > 0 }

// refill brings what is left up to now.
func (r Rate) refill(b *buckets, now time.Time) {
	share := 1.0
	if !b.at.IsZero() {
		share = now.Sub(b.at).Minutes()
	}
	b.requests = min(float64(r.Requests), b.requests+share*float64(r.Requests))
	b.tokens = min(float64(r.Tokens), b.tokens+share*float64(r.Tokens))
	b.at = now
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
	b := &s.buckets
	r.refill(b, time.Now())
	needed := max(q.tokens(), q.MaxTokens)
	var refused *refusal
	switch {
	case r.Tokens > 0 && needed > r.Tokens:
		refused = tooMany("tokens", fmt.Sprintf("Request too large for %s in organization org-test on tokens per "+
			"min (TPM): Limit %d, Requested %d. "+
			"The input or output tokens must be reduced in order to run successfully.", q.Model, r.Tokens, needed))
	case r.Requests > 0 && b.requests < 1:
		refused = turnAway(q.Model, "requests", missing(1-b.requests, r.Requests))
	case r.Tokens > 0 && b.tokens < float64(needed):
		refused = turnAway(q.Model, "tokens", missing(float64(needed)-b.tokens, r.Tokens))
	default:
		b.requests--
		b.tokens -= float64(needed)
	}
	if refused != nil {
		s.limited++
	}
	r.tell(h, b)
	return refused
}

// missing is how long it takes until so much has come back.
func missing(amount float64, limit int) time.Duration {
	return time.Duration(math.Ceil(amount / float64(limit) * float64(time.Minute)))
}

func turnAway(model, kind string, wait time.Duration) *refusal {
	short := map[string]string{"requests": "RPM", "tokens": "TPM"}[kind]
	return tooMany(kind, fmt.Sprintf("Rate limit reached for %s in organization org-test on %s per min (%s): "+
		"Please try again in %s.",
		model, kind, short, length(wait)))
}

func tooMany(kind, message string) *refusal {
	return invalid("%s", message).as(http.StatusTooManyRequests).of(kind).coded("rate_limit_exceeded")
}

// tell writes the headers as OpenAI does: a reset is the time until all is back.
func (r Rate) tell(h http.Header, b *buckets) {
	if r.Silent {
		return
	}
	for _, one := range []struct {
		name  string
		limit int
		left  float64
	}{{"Requests", r.Requests, b.requests}, {"Tokens", r.Tokens, b.tokens}} {
		if one.limit > 0 {
			reset := missing(float64(one.limit)-one.left, one.limit)
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
