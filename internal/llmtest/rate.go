package llmtest

import (
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// admit turns a request away where more have come than a minute lets in; what was
// used comes back bit by bit. No header tells of the rate.
func (s *Server) admit(q Request) *refusal {
	if s.PerMinute == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bucket == nil {
		s.bucket = rate.NewLimiter(rate.Every(time.Minute/time.Duration(s.PerMinute)), s.PerMinute)
	}
	next := s.bucket.Reserve()
	wait := next.Delay()
	if wait == 0 {
		return nil
	}
	next.Cancel()
	s.limited++
	return invalid("%s", fmt.Sprintf("Rate limit reached for %s in organization org-test on requests per min (RPM): "+
		"Please try again in %s.", q.Model, wait.Round(time.Millisecond))).
		as(http.StatusTooManyRequests).of("requests").coded("rate_limit_exceeded")
}
