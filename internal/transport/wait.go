package transport

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
)

// maxParsedWait bounds what is parsed as a wait: longer waits never happen anyway.
const maxParsedWait = 1 << 20 * time.Second

// epoch is the number of seconds from which a number is a point in time and not a duration; a thousand times
// that, it is in milliseconds.
const epoch = 1e9

// Wait parses a time that a server names in a header, and returns the duration from now until then: seconds, a
// date (RFC 9110, 10.2.3), a duration such as "6m0s" or "120ms", seconds or milliseconds since 1970, or a time
// of RFC 3339. The result is always between 0 and twelve days; ok is false for any other value.
func Wait(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if number, err := strconv.ParseFloat(value, 64); err == nil {
		return parseSeconds(number, now)
	}
	if length, err := time.ParseDuration(value); err == nil {
		return clamp(length), true
	}
	for _, form := range []string{time.RFC3339, http.TimeFormat, time.RFC850, time.ANSIC} {
		if at, err := time.Parse(form, value); err == nil {
			return clamp(at.Sub(now)), true
		}
	}
	return 0, false
}

func parseSeconds(number float64, now time.Time) (time.Duration, bool) {
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return 0, false
	case number >= epoch*1000:
		number = number/1000 - float64(now.UnixMilli())/1000
	case number >= epoch:
		number -= float64(now.UnixMilli()) / 1000
	}
	return time.Duration(min(max(number, 0), maxParsedWait.Seconds()) * float64(time.Second)), true
}

func clamp(d time.Duration) time.Duration { return min(max(d, 0), maxParsedWait) }

// inWords matches a wait in an answer's text. Gemini names it nowhere else, and gateways drop the servers' headers.
var inWords = pattern.Lazy(`(?i)(?:retrydelay\W+|(?:try again|retry) (?:in|after) )` +
	`(?:((?:\d+(?:\.\d+)?(?:ms|[hms]))+)|(\d+(?:\.\d+)?) seconds?)\b`)

// RetryAfter returns the wait that an answer asks for by retry-after-ms, Retry-After or its text, measured from now; 0
// if it names none.
func RetryAfter(h http.Header, said []byte, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < epoch {
		return clamp(time.Duration(ms * float64(time.Millisecond)))
	}
	wait, named := Wait(h.Get("Retry-After"), now)
	if found := inWords().FindSubmatch(said); found != nil && !named {
		wait, _ = Wait(string(found[1])+string(found[2]), now)
	}
	return wait
}

// untilReset returns the time until the latest reset of the exhausted limits in an answer; 0 if none is
// exhausted.
func untilReset(h http.Header, now time.Time) time.Duration {
	var wait time.Duration
	for _, kind := range []string{"", "-Requests", "-Tokens"} {
		if h.Get("X-Ratelimit-Remaining"+kind) != "0" {
			continue
		}
		reset, ok := Wait(h.Get("X-Ratelimit-Reset"+kind), now)
		if ok && kind == "" {
			reset += time.Second // GitHub rounds down to whole seconds
		}
		wait = max(wait, reset)
	}
	return wait
}
