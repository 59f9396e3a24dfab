package limit

import "time"

const (
	firstPause, longestPause = time.Second, 5 * time.Second
	// windowPause is the wait from which on a server is taken to count in windows:
	// after it there is room for many calls at once.
	windowPause = 5 * time.Second
	// gapTold and gapUntold are the first gaps between starts after a refusal: a
	// server whose headers are known needs no more than some spread.
	gapTold, gapUntold = 100 * time.Millisecond, 500 * time.Millisecond
	// faster is what each start makes of the gap while the rate is not measured;
	// measuredFaster afterwards, when it only has to notice that the limit grew.
	faster, measuredFaster = 0.7, 0.99
	remembered             = 20 // calls from which on what was measured long ago counts for less
	noGap                  = 5 * time.Millisecond
)

// pace is what answers without figures teach: how many calls at one time, when
// the next may start, and how far apart. It cuts by half and grows by one (AIMD),
// and measures the server's rate between refusals, since at each of them the
// server has nothing left.
type pace struct {
	most, allowed, threshold float64 // open calls

	until time.Time // nobody starts before
	knew  int64     // calls up to this number started before the last refusal was known

	gap      time.Duration // between starts
	next     time.Time
	streak   int // refusals with no call between them that was not refused
	between  int // such calls since the last refusal
	measured bool
	empty    time.Time // the first refusal of what is measured
	since    float64   // calls started after it and not refused
}

// refusal is a call that was turned away for its rate.
type refusal struct {
	number, last int64     // the call's, and that of the last call started
	at, now      time.Time // its start, and its end
	named        time.Duration
	told         bool // headers tell the limits
	jitter       float64
}

// open is how many calls may be open.
func (p *pace) open() int { return int(p.allowed) }

func (p *pace) wait(now time.Time) time.Duration {
	at := p.until
	if p.next.After(at) {
		at = p.next
	}
	return max(at.Sub(now), 0)
}

// start counts a call that starts, and brings the next one nearer.
func (p *pace) start(now time.Time, jitter float64) {
	p.since++
	p.between++
	if p.gap == 0 {
		return
	}
	p.next = now.Add(time.Duration(float64(p.gap) * (0.9 + 0.2*jitter)))
	speed := faster
	if p.measured {
		speed = measuredFaster
	}
	if p.gap = time.Duration(float64(p.gap) * speed); p.gap < noGap {
		p.gap = 0
	}
}

// passed lets more calls be open: one for one up to half of what was too many, then
// one for a whole round.
func (p *pace) passed() {
	more := 1.0
	if p.allowed >= p.threshold && p.threshold > 0 {
		more = 1 / p.allowed
	}
	p.allowed = min(p.allowed+more, p.most)
}

// refused holds everybody, once for a burst: the calls that were on their way when the first
// of them was refused say nothing new, unless they name a later time.
func (p *pace) refused(r refusal) {
	p.since, p.between = max(p.since-1, 0), max(p.between-1, 0)
	if r.number <= p.knew {
		p.hold(r.now.Add(r.named))
		return
	}
	p.knew = r.last
	if p.between > 0 {
		p.streak = 0
	}
	p.between = 0
	if p.streak++; p.streak == 1 {
		p.threshold = max(p.allowed/2, 1)
		p.allowed = p.threshold
	}
	pause := r.named
	if pause == 0 {
		pause = time.Duration(float64(min(firstPause<<min(p.streak-1, 6), longestPause)) * (0.75 + r.jitter/4))
	}
	p.measure(r, pause)
	p.hold(r.now.Add(pause + time.Duration(r.jitter*float64(min(p.gap, firstPause)))))
}

// measure sets the gap: by the calls that passed since an earlier refusal, or to
// a first guess.
func (p *pace) measure(r refusal, pause time.Duration) {
	switch {
	case r.told:
		p.gap, p.measured = gapTold, false
	case p.empty.IsZero() || pause >= windowPause || p.streak > 3:
		p.gap, p.measured = gapUntold, false
		p.empty, p.since = r.at, 0
	case p.since < 1:
		p.gap, p.measured = gapUntold, false
	default:
		took := r.at.Sub(p.empty)
		p.gap = min(time.Duration(float64(took)/(p.since+0.5)), max(2*p.gap, 2*gapUntold))
		p.measured = true
		if p.since > remembered {
			p.empty, p.since = r.at.Add(-took/2), p.since/2
		}
	}
}

func (p *pace) hold(until time.Time) {
	if until.After(p.until) {
		p.until = until
	}
}
