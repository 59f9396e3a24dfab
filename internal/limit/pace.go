package limit

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
)

const (
	firstPause   = time.Second
	longestPause = 8 * time.Second // if a window is about to end
	// windowPause is the shortest requested wait that indicates a server with fixed
	// windows: after it there is room for many calls at once.
	windowPause = 5 * time.Second
	slower      = 0.95 // factor of the rate for each refusal
	faster      = 1.01 // for each successful call
	spread      = 40   // calls per second after a pause, if the server has no steady rate
	leastRate   = 15   // calls per minute, the minimum after a first refusal
)

// pace is what refusals reveal about a server whose answers report no limits: when the next call may start, and at
// which rate. Limits count per minute, so the first refusal sets the rate to the starts of the last minute.
type pace struct {
	until     time.Time     // no call starts before
	rate      *rate.Limiter // nil if calls are not paced
	probe     bool          // one call at a time tests whether there is room again
	probing   bool          // that call is under way
	knownUpTo int64         // calls up to this number started before the last refusal arrived
	streak    int           // refusals with no successful call between them
	starts    []time.Time   // of calls within the last minute
}

// refusal is a call that was rate limited.
type refusal struct {
	number, last int64 // number of this call, and of the last call started
	now          time.Time
	named        time.Duration // requested wait; 0 if none was named
	full         time.Duration // until the reported limit is full again; 0 if none is used up
	jitter       float64
}

// untilAnswer is how long calls wait for a probe: until its answer arrives.
const untilAnswer = time.Hour

func (p *pace) wait(now time.Time) time.Duration {
	wait := max(p.until.Sub(now), 0)
	if wait == 0 && p.probe && p.probing {
		return untilAnswer
	}
	if p.rate != nil && p.rate.TokensAt(now) < 1 {
		missing := 1 - p.rate.TokensAt(now)
		wait = max(wait, time.Duration(missing/float64(p.rate.Limit())*float64(time.Second))+time.Millisecond)
	}
	return wait
}

// start records the start of a call.
func (p *pace) start(now time.Time) {
	p.probing = p.probe
	p.starts = append(slices.DeleteFunc(p.starts, func(at time.Time) bool { return now.Sub(at) > minute }), now)
	if p.rate != nil {
		p.rate.ReserveN(now, 1)
	}
}

// passed ends a streak of refusals.
func (p *pace) passed(number int64, now time.Time) {
	if number <= p.knownUpTo {
		return
	}
	p.streak, p.probe, p.probing = 0, false, false
	if p.rate != nil {
		p.rate.SetLimitAt(now, p.rate.Limit()*faster)
	}
}

// refused pauses all calls, once per burst: calls already under way when the first
// of them was refused add no information, unless they name a later time.
func (p *pace) refused(r refusal) {
	if r.named > longestNamed {
		r.named = 0 // too long to wait; the breaker ends the run if no call passes
	}
	if r.number <= p.knownUpTo {
		p.hold(r.now.Add(r.named))
		return
	}
	p.knownUpTo = r.last
	p.streak++
	pause := r.named
	switch {
	case r.named > 0:
	case r.full > 0 && p.streak > 2:
		pause = r.full
	default:
		pause = p.pause(r.now)
	}
	p.measure(r)
	p.probe, p.probing = p.streak > 1, false
	p.hold(r.now.Add(pause + time.Duration(r.jitter*float64(min(pause, firstPause)))))
}

// pause returns how long to wait without other information: a second, then two, then half
// of what may be left of a one-minute window that began with the first recorded call.
func (p *pace) pause(now time.Time) time.Duration {
	if p.streak <= 2 || len(p.starts) == 0 {
		return firstPause << (p.streak - 1)
	}
	left := p.starts[0].Add(minute).Sub(now)
	return max(left/2, min(left+time.Second/2, longestPause), firstPause)
}

// measure sets the rate if headers report none. A server that still refuses after
// two pauses counts in windows and has no steady rate.
func (p *pace) measure(r refusal) {
	switch {
	case r.full > 0 || r.named >= windowPause || p.streak > 2:
		p.rate = rate.NewLimiter(spread, 1)
	case p.rate == nil:
		p.rate = rate.NewLimiter(rate.Limit(max(float64(len(p.starts)-1), leastRate)/minute.Seconds()), 1)
	default:
		p.rate.SetLimitAt(r.now, p.rate.Limit()*slower)
	}
}

func (p *pace) hold(until time.Time) {
	if until.After(p.until) {
		p.until = until
	}
}
