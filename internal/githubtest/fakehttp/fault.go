package fakehttp

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is what happens to a request instead of, or before, its answer.
type Fault struct {
	Status         int               // of the answer; 0 lets the request through after Delay and Hold
	Headers        map[string]string // of the answer
	Body           string            // of the answer; a JSON error with the status text by default
	Times          int               // how many requests it hits; 0 for all
	Delay          time.Duration     // wait before anything else, and act even if the client has gone
	Hold           <-chan struct{}   // wait until it is closed before anything else
	DropConnection bool              // close the connection without an answer
	AfterWrite     bool              // act first: only the answer is lost
}

// Faults holds the armed faults. It needs no other lock than its own.
type Faults struct {
	mu    sync.Mutex
	armed []*armedFault
}

type armedFault struct {
	Fault
	method string
	path   *regexp.Regexp
	left   int
}

// Fail arms a fault for requests to any host by method ("" or "*" for all) and path, where * matches anything inside
// a segment and ** anything. If several match, the one armed first is used.
func (f *Faults) Fail(method, pathPattern string, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	expr := regexp.QuoteMeta(pathPattern)
	expr = strings.ReplaceAll(expr, `\*\*`, `.*`)
	expr = strings.ReplaceAll(expr, `\*`, `[^/]*`)
	f.armed = append(f.armed, &armedFault{Fault: fault, method: method, path: regexp.MustCompile("^" + expr + "$"),
		left: fault.Times})
}

// ClearFaults disarms every fault.
func (f *Faults) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = nil
}

// take returns the fault that hits a request; the zero fault does nothing.
func (f *Faults) take(method, path string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, a := range f.armed {
		if a.method != "" && a.method != "*" && a.method != method || !a.path.MatchString(path) {
			continue
		}
		if a.left--; a.left == 0 {
			f.armed = append(f.armed[:i:i], f.armed[i+1:]...)
		}
		return a.Fault
	}
	return Fault{}
}

// wait holds a request back as the fault requires. It returns false if the client left, so that nothing is done.
func (f Fault) wait(r *http.Request) bool {
	if f.Delay > 0 {
		<-time.After(f.Delay)
	}
	if f.Hold == nil {
		return true
	}
	select {
	case <-f.Hold:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (f Fault) answer(w http.ResponseWriter) bool {
	if f.DropConnection {
		panic(http.ErrAbortHandler)
	}
	if f.Status == 0 {
		return false
	}
	a := Answer{Status: f.Status, Raw: []byte(f.Body), Header: http.Header{"Content-Type": {jsonKind}}}
	for k, v := range f.Headers {
		a.Header.Set(k, v)
	}
	if f.Body == "" {
		a.Value = Object{"message": http.StatusText(f.Status), "status": strconv.Itoa(f.Status)}
	}
	a.Write(w)
	return true
}

// RateLimited returns GitHub's answer to a token whose hourly limit is used up.
func RateLimited(reset time.Time) Fault {
	return Fault{
		Status: http.StatusForbidden,
		Headers: map[string]string{"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0",
			"x-ratelimit-reset": strconv.FormatInt(reset.Unix(), 10), "x-ratelimit-resource": "core"},
		Body: `{"message":"API rate limit exceeded for installation ID 1."` +
			`,"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api","status":"403"}`,
	}
}

// SecondaryLimit returns GitHub's answer to too many requests at a time.
func SecondaryLimit(status int, retryAfter time.Duration) Fault {
	return Fault{
		Status:  status,
		Headers: map[string]string{"retry-after": strconv.Itoa(int(retryAfter.Seconds()))},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try` +
			` again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api` +
			`#about-secondary-rate-limits"}`,
	}
}
