package limit

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
)

const (
	firstPause   = time.Second
	longestPause = 8 * time.Second // where a window is about to end
	// windowPause is the wait from which on a server is taken to count in windows:
	// after it there is room for many calls at once.
	windowPause = 5 * time.Second
	slower      = 0.95 // of the rate, for each refusal
	faster      = 1.01 // for each call that passes
	spread      = 40   // calls a second, with which they come back where the rate is not theirs to know
	leastRate   = 15   // calls a minute, that a first refusal comes to
)

// pace is what refusals teach of a server whose answers name no figures: when the next call may start, and at which
// rate. The first refusal tells the rate, since limits are counted by the minute: what started within the last one.
type pace struct {
	until  time.Time     // nobody starts before
	rate   *rate.Limiter // nil where calls start as they come
	probe  bool          // one call at a time finds out whether there is room again
	asked  bool          // it is on its way
	knew   int64         // calls up to this number started before the last refusal was known
	streak int           // refusals with no call between them that passed
	starts []time.Time   // within the last minute
}

// refusal is a call that was turned away for its rate.
type refusal struct {
	number, last int64 // the call's, and that of the last call started
	now          time.Time
	named        time.Duration // when to come again; 0 where no time was named
	full         time.Duration // until the limit that was told is whole again; 0 where none is used up
	jitter       float64
}

// untilAnswer is the wait of those behind a probe; its answer ends it.
const untilAnswer = time.Hour

func (p *pace) wait(now time.Time) time.Duration {
	wait := max(p.until.Sub(now), 0)
	if wait == 0 && p.probe && p.asked {
		return untilAnswer
	}
	if p.rate != nil && p.rate.TokensAt(now) < 1 {
		missing := 1 - p.rate.TokensAt(now)
		wait = max(wait, time.Duration(missing/float64(p.rate.Limit())*float64(time.Second))+time.Millisecond)
	}
	return wait
}

// start counts a call that starts.
func (p *pace) start(now time.Time) {
	p.asked = p.probe
	p.starts = append(slices.DeleteFunc(p.starts, func(at time.Time) bool { return now.Sub(at) > minute }), now)
	if p.rate != nil {
		p.rate.ReserveN(now, 1)
	}
}

// passed ends a row of refusals.
func (p *pace) passed(number int64, now time.Time) {
	if number <= p.knew {
		return
	}
	p.streak, p.probe, p.asked = 0, false, false
	if p.rate != nil {
		p.rate.SetLimitAt(now, p.rate.Limit()*faster)
	}
}

// refused holds everybody, once for a burst: the calls that were on their way when
// the first of them was refused say nothing new, unless they name a later time.
func (p *pace) refused(r refusal) {
	if r.named > longestNamed {
		r.named = 0 // nobody waits that long; the breaker ends the run where no call passes
	}
	if r.number <= p.knew {
		p.hold(r.now.Add(r.named))
		return
	}
	p.knew = r.last
	p.streak++
	pause := r.named
	switch {
	case r.named > 0:
	case r.full > 0 && p.streak > 2:
		pause = r.full
	default:
		pause = p.pause(r.now)
	}
	p.measure(r, pause)
	p.probe, p.asked = p.streak > 1, false
	p.hold(r.now.Add(pause + time.Duration(r.jitter*float64(min(pause, firstPause)))))
}

// pause is how long to wait where nothing tells: a second, then two, then half of
// what may be left of a window of a minute, which began with the first call in it.
func (p *pace) pause(now time.Time) time.Duration {
	if p.streak <= 2 || len(p.starts) == 0 {
		return firstPause << (p.streak - 1)
	}
	left := p.starts[0].Add(minute).Sub(now)
	return max(left/2, min(left+time.Second/2, longestPause), firstPause)
}

// measure sets the rate where headers tell none. A server that is still full
// after two pauses counts in windows, and has no rate of its own.
func (p *pace) measure(r refusal, pause time.Duration) {
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
