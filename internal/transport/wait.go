package transport

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest bounds what is read as a wait: more is never waited anyway.
const longest = 1 << 20 * time.Second

// epoch is the number of seconds from which on a number is a point in time and
// no length of one; a thousand times of it are milliseconds.
const epoch = 1e9

// Wait reads a time that a server names in a header, as what is left of it at now: seconds, a date (RFC 9110,
// 10.2.3), a length such as "6m0s" or "120ms", seconds or milliseconds since 1970, or a time of RFC 3339. It is
// between 0 and twelve days, whatever stands there; ok is false for what is none of these.
func Wait(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if number, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(number, now)
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

func seconds(number float64, now time.Time) (time.Duration, bool) {
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return 0, false
	case number >= epoch*1000:
		number = number/1000 - float64(now.UnixMilli())/1000
	case number >= epoch:
		number -= float64(now.UnixMilli()) / 1000
	}
	return time.Duration(min(max(number, 0), longest.Seconds()) * float64(time.Second)), true
}

func clamp(d time.Duration) time.Duration { return min(max(d, 0), longest) }

// RetryAfter is the time that an answer asks to wait by retry-after-ms or
// Retry-After, measured from now; 0 where it names none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < epoch {
		return clamp(time.Duration(ms * float64(time.Millisecond)))
	}
	wait, _ := Wait(h.Get("Retry-After"), now)
	return wait
}

// untilReset is the latest reset of what an answer says is used up; 0 where none is.
func untilReset(h http.Header, now time.Time) time.Duration {
	var wait time.Duration
	for _, kind := range []string{"", "-Requests", "-Tokens"} {
		if h.Get("X-Ratelimit-Remaining"+kind) != "0" {
			continue
		}
		reset, ok := Wait(h.Get("X-Ratelimit-Reset"+kind), now)
		if ok && kind == "" {
			reset += time.Second // GitHub rounds whole seconds down
		}
		wait = max(wait, reset)
	}
	return wait
}
