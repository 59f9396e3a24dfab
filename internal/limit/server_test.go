package limit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

// kind is what a server is like.
type kind struct {
	perMinute, tokens float64 // 0: no such limit
	windows           bool    // else it fills evenly
	silent            bool    // a refusal names no time
	headers           string  // "": none; openai, anthropic, retry: Retry-After alone
	latency           time.Duration
	jitter            float64 // share of the latency that varies
}

// server takes calls up to its limits, as a model server does. It lives in a
// bubble of virtual time.
type server struct {
	kind

	mu            sync.Mutex
	random        *rand.Rand
	start         time.Time
	requests, tok meter
	taken         int
	refused       int
}

type meter struct {
	limit, left float64
	at          time.Time
}

const refusalLatency = 40 * time.Millisecond

func newServer(k kind, seed uint64) *server {
	now := time.Now()
	return &server{
		kind: k, random: rand.New(rand.NewPCG(seed, 1)), start: now,
		requests: meter{k.perMinute, k.perMinute, now}, tok: meter{k.tokens, k.tokens, now},
	}
}

// fill brings a meter up to date and says when it is whole again.
func (s *server) fill(m *meter) {
	now := time.Now()
	if !s.windows {
		m.left = min(m.left+m.limit*now.Sub(m.at).Minutes(), m.limit)
	} else if int(now.Sub(s.start).Minutes()) > int(m.at.Sub(s.start).Minutes()) {
		m.left = m.limit
	}
	m.at = now
}

func (s *server) reset(m *meter) time.Duration {
	if s.windows {
		return time.Minute - time.Since(s.start)%time.Minute
	}
	return time.Duration((m.limit - m.left) / m.limit * float64(time.Minute))
}

// admit decides on a call at once and says how long its answer takes.
func (s *server) admit(tokens float64) (*http.Response, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill(&s.requests)
	s.fill(&s.tok)
	h := http.Header{}
	ok := (s.perMinute == 0 || s.requests.left >= 1) && (s.tokens == 0 || s.tok.left >= tokens)
	latency := time.Duration(float64(s.latency) * (1 - s.jitter + 2*s.jitter*s.random.Float64()))
	if ok {
		s.requests.left--
		s.tok.left -= tokens
		s.taken++
	} else {
		s.refused++
		latency = refusalLatency
	}
	s.tell(h, "requests", &s.requests)
	s.tell(h, "tokens", &s.tok)
	code := map[bool]int{true: 200, false: 429}[ok]
	if !ok && s.headers != "" && !s.silent {
		after := s.reset(&s.requests)
		if !s.windows {
			after = time.Duration((1 - s.requests.left) / s.requests.limit * float64(time.Minute))
			if s.tokens > 0 {
				after = time.Duration((tokens - s.tok.left) / s.tok.limit * float64(time.Minute))
			}
		}
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	return &http.Response{StatusCode: code, Header: h, Body: http.NoBody, Request: asked()}, latency
}

func (s *server) tell(h http.Header, kind string, m *meter) {
	if m.limit == 0 || s.headers == "" || s.headers == "retry" {
		return
	}
	left, limit := strconv.Itoa(int(max(m.left, 0))), strconv.Itoa(int(m.limit))
	if s.headers == "anthropic" {
		h.Set("Anthropic-Ratelimit-"+kind+"-Limit", limit)
		h.Set("Anthropic-Ratelimit-"+kind+"-Remaining", left)
		h.Set("Anthropic-Ratelimit-"+kind+"-Reset", time.Now().Add(s.reset(m)+time.Second).UTC().Format(time.RFC3339))
		return
	}
	h.Set("X-Ratelimit-Limit-"+kind, limit)
	h.Set("X-Ratelimit-Remaining-"+kind, left)
	h.Set("X-Ratelimit-Reset-"+kind, s.reset(m).Round(time.Millisecond).String())
}

// run is what 100 files cost.
type run struct {
	elapsed        time.Duration
	calls, refused int
	failed         int
}

// review sends files through a limiter, each with retries as transport makes them.
func (s *server) review(t *testing.T, l *Limiter, files, concurrency int, seed uint64) run {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	sizes := make(chan float64, files)
	for range files {
		sizes <- 1000 + 2000*random.Float64()
	}
	close(sizes)
	var r run
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range concurrency {
		wg.Go(func() {
			for size := range sizes {
				calls, refused, err := s.file(t.Context(), l, size, random, &mu)
				mu.Lock()
				r.calls += calls
				r.refused += refused
				if err != nil {
					r.failed++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.elapsed = time.Since(start)
	return r
}

func (s *server) file(ctx context.Context, l *Limiter, size float64, random *rand.Rand,
	mu *sync.Mutex) (calls, refused int, err error) {
	for try := range 12 {
		end := func(*http.Response, error) {}
		if l != nil {
			if end, err = l.Begin(ctx, int64(size*1.3)); err != nil {
				return calls, refused, err
			}
		}
		resp, latency := s.admit(size)
		if err := transport.Sleep(ctx, latency); err != nil {
			return calls, refused, err
		}
		end(resp, nil)
		calls++
		if resp.StatusCode == 200 {
			return calls, refused, nil
		}
		refused++
		wait := transport.RetryAfter(resp.Header, nil, time.Now())
		if wait == 0 {
			wait = 500 * time.Millisecond << min(try, 3)
		}
		mu.Lock()
		wait += time.Duration(random.Float64() * float64(time.Second))
		mu.Unlock()
		if err := transport.Sleep(ctx, wait); err != nil {
			return calls, refused, err
		}
	}
	return calls, refused, errors.New("no try is left")
}

// ideal is the time of somebody who knows the limits, with calls of the mean latency.
func (s *server) ideal(files, concurrency int, tokens float64) time.Duration {
	rounds := (files + concurrency - 1) / concurrency
	best := time.Duration(rounds) * s.latency
	for _, m := range []struct{ limit, need float64 }{{s.perMinute, float64(files)}, {s.tokens, tokens}} {
		if m.limit == 0 || m.need <= m.limit {
			continue
		}
		wait := (m.need - m.limit) / m.limit
		last := 0.0
		if s.windows {
			wait = math.Ceil(m.need/m.limit) - 1
			last = (m.need - wait*m.limit) / m.need * float64(files)
		}
		tail := time.Duration(math.Ceil(max(last, 1)/float64(concurrency))) * s.latency
		best = max(best, time.Duration(wait*float64(time.Minute))+tail)
	}
	return best
}

func (r run) String() string {
	return fmt.Sprintf("%v, %d calls, %d refused, %d failed", r.elapsed.Round(10*time.Millisecond), r.calls, r.refused,
		r.failed)
}
