package githubtest

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Fault is what happens to a request instead of, or before, its answer.
type Fault struct {
	Status         int               // answer with it; 0 lets the request through after Delay and Hold
	Headers        map[string]string // of the answer
	Body           string            // of the answer; a JSON error with the status text by default
	Times          int               // how many requests it hits; 0 is every one
	Delay          time.Duration     // wait before anything else
	Hold           <-chan struct{}   // wait for its close before anything else
	DropConnection bool              // close the connection without an answer
	AfterWrite     bool              // do what was asked first: the answer alone is lost
	Anyway         bool              // do what was asked though the client goes away during Delay or Hold
}

type armedFault struct {
	Fault
	method string
	path   *regexp.Regexp
	left   int
}

// Fail arms a fault for requests of any host by method ("" or "*" for all) and
// path, where * stands for anything inside a segment and ** for anything. Of
// several that match, the one armed first is taken.
func (s *Server) Fail(method, pathPattern string, f Fault) {
	defer s.lock()()
	expr := regexp.QuoteMeta(pathPattern)
	expr = strings.ReplaceAll(expr, `\*\*`, `.*`)
	expr = strings.ReplaceAll(expr, `\*`, `[^/]*`)
	s.faults = append(s.faults, &armedFault{Fault: f, method: method, path: regexp.MustCompile("^" + expr + "$"),
		left: f.Times})
}

// ClearFaults disarms every fault.
func (s *Server) ClearFaults() {
	defer s.lock()()
	s.faults = nil
}

// takeFault is the fault that hits a request, or nil.
func (s *Server) takeFault(method, path string) *Fault {
	for i, f := range s.faults {
		if f.method != "" && f.method != "*" && f.method != method || !f.path.MatchString(path) {
			continue
		}
		if f.Times > 0 {
			if f.left--; f.left == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		return &f.Fault
	}
	return nil
}

// wait holds the request back as the fault says. False means that the client
// went away, and that nothing is done.
func (f *Fault) wait(r *http.Request) bool {
	timer, gone := time.NewTimer(f.Delay), r.Context().Done()
	defer timer.Stop()
	if f.Anyway {
		gone = nil
	}
	select {
	case <-timer.C:
	case <-gone:
		return false
	}
	if f.Hold == nil {
		return true
	}
	select {
	case <-f.Hold:
		return true
	case <-gone:
		return false
	}
}

// answer writes the fault and reports whether it took the place of the answer.
func (f *Fault) answer(w http.ResponseWriter) bool {
	if f.DropConnection {
		panic(http.ErrAbortHandler)
	}
	if f.Status == 0 {
		return false
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for k, v := range f.Headers {
		w.Header().Set(k, v)
	}
	body := f.Body
	if body == "" {
		body = `{"message":` + strconv.Quote(http.StatusText(f.Status)) + `,"status":"` + strconv.Itoa(f.Status) + `"}`
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(body)) // the client may have gone
	return true
}

// RateLimited is GitHub's answer to a token whose hourly limit is used up.
func RateLimited(reset time.Time) Fault {
	return Fault{
		Status: http.StatusForbidden,
		Headers: map[string]string{"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0",
			"x-ratelimit-reset": strconv.FormatInt(reset.Unix(), 10), "x-ratelimit-resource": "core"},
		Body: `{"message":"API rate limit exceeded for installation ID 1."` +
			`,"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api","status":"403"}`,
	}
}

// SecondaryLimit is GitHub's answer to too many requests at a time.
func SecondaryLimit(status int, retryAfter time.Duration) Fault {
	return Fault{
		Status:  status,
		Headers: map[string]string{"retry-after": strconv.Itoa(int(retryAfter.Seconds()))},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try` +
			` again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api` +
			`#about-secondary-rate-limits"}`,
	}
}
