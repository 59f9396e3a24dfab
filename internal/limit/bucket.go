package limit

import "time"

const (
	// longestWait bounds a wait that headers alone ask for. A limit per day, or a
	// header that says nothing true, must not stop a run: the server may say no
	// to one call a minute instead.
	longestWait = 65 * time.Second
	// maxLies is how often a call may pass although the headers had nothing left
	// for it, before they are no longer believed.
	maxLies = 2
	// baseline is the share of a limit, and the least number of calls, over which
	// two answers are compared.
	baseline, baselineCalls = 0.1, 4
	maxRatio                = 16
	// overtaken is how far apart two calls may start and still reach the server
	// the other way round.
	overtaken = 20 * time.Millisecond
)

// bucket is one limit of a server as its answers tell it. It fills evenly (reset
// is when it is full) or at once (reset is when a window ends): names do not tell
// which, two answers some calls apart do, since only the first kind's reset
// moves on with each call. Until then it is taken to fill evenly, which loses no
// throughput.
//
// What an answer tells was true when its call was admitted. So the newest call's
// word counts, and what was started after that call is taken off.
type bucket struct {
	known, fixed bool
	judged       bool    // two answers told how it fills
	least, floor float64 // a ratio below least is floor
	margin       float64 // of a call's need, to be left too: the ratio is an average

	last  word    // of the newest call that told
	first word    // that last is compared with
	rate  float64 // per second, of one that fills evenly
	used  float64 // of the limit when the rate was read

	total, calls float64 // charged so far
	ratio        float64 // what the server counts for one of ours: more where others use it too
	lies         int
}

// word is what one call was told.
type word struct {
	told
	number int64
	at     time.Time
	spent  spent
}

// spent is what was charged up to and with one call.
type spent struct {
	total, calls float64
	doubted      bool // the bucket had nothing left for it
}

// wait is how long until the bucket has enough for a call; 0 where it is not known.
func (b *bucket) wait(now time.Time, need float64) time.Duration {
	if !b.known {
		return 0
	}
	b.roll(now)
	need = min(need*b.ratio*(1+b.margin), b.last.limit) - b.left(now)
	if need <= 1e-6 {
		return 0
	}
	wait := longestWait
	switch {
	case b.fixed:
		wait = b.last.at.Add(b.last.reset).Sub(now) + time.Millisecond
	case b.rate > 0:
		wait = time.Duration(need/b.rate*float64(time.Second)) + time.Millisecond
	}
	deadline := b.last.at.Add(longestWait).Sub(now)
	return max(min(wait, deadline), 0)
}

// left is what should be left in the bucket.
func (b *bucket) left(now time.Time) float64 {
	left := b.last.left
	if !b.fixed {
		left = min(left+b.rate*now.Sub(b.last.at).Seconds(), b.last.limit)
	}
	return left - (b.total-b.last.spent.total)*b.ratio
}

// roll begins the next window of a fixed bucket. Its end is told by the next answer.
func (b *bucket) roll(now time.Time) {
	end := b.last.at.Add(b.last.reset)
	if !b.fixed || now.Before(end) {
		return
	}
	b.last = word{told: told{limit: b.last.limit, left: b.last.limit, reset: longestWait}, number: int64(b.calls), at: now, spent: spent{total: b.total, calls: b.calls}}
	b.first = word{}
}

// charge counts a call that starts.
func (b *bucket) charge(amount float64, now time.Time) spent {
	doubted := b.known && b.left(now) < min(amount*b.ratio, b.last.limit)*0.9
	b.total += amount
	b.calls++
	return spent{total: b.total, calls: b.calls, doubted: doubted}
}

// observe takes in what the answer to a call tells; nil where it tells nothing.
func (b *bucket) observe(w word, t *told, refused bool) {
	if t == nil || b.lies > maxLies {
		return
	}
	w.told = *t
	number := w.number
	if number <= b.last.number {
		if number < b.first.number && w.left >= b.first.left && (!b.judged || b.first.at.Sub(w.at) >= overtaken) {
			b.first = w // an answer that took longer
			b.compare(b.last)
		}
		if b.last.at.Sub(w.at) < overtaken && w.left < b.last.left && w.limit == b.last.limit {
			if b.first.number == b.last.number {
				b.first.left, b.first.reset = w.left, w.reset
			}
			b.last.left, b.last.reset = w.left, w.reset // of calls that started as one, the server took this one later
		}
		return
	}
	if w.at.Sub(b.last.at) < overtaken && w.left > b.last.left && w.limit == b.last.limit {
		w.left, w.reset = b.last.left, b.last.reset // of calls that started as one, the server took the last one later
	}
	if !b.known {
		b.known, b.ratio = true, 1
	}
	if used := w.limit - w.left; w.reset > 0 && (used >= b.used/2 || b.rate == 0) {
		b.rate, b.used = used/w.reset.Seconds(), used
	}
	if b.rate == 0 {
		b.rate = w.limit / minute.Seconds()
	}
	if refused {
		b.first = word{} // the call was counted here, and maybe not there
	} else {
		b.compare(w)
	}
	b.last = w
}

// compare reads of two answers how the bucket fills, and how much the server
// counts for a call of ours.
func (b *bucket) compare(w word) {
	if b.first.number == 0 || w.limit != b.first.limit || w.left > b.last.left+max(2, w.limit/50) {
		b.first = w // a new window, or one that had time to fill
		return
	}
	used, counted := w.limit-w.left, b.first.left-w.left
	calls, ours := w.spent.calls-b.first.spent.calls, w.spent.total-b.first.spent.total
	if calls < baselineCalls || ours <= 0 || used < w.limit*baseline {
		return
	}
	between := w.at.Sub(b.first.at).Seconds()
	moved := between + w.reset.Seconds() - b.first.reset.Seconds()
	even := between + counted*w.reset.Seconds()/used // what the reset of an even bucket moves
	if even > 0.5 {
		b.judged, b.fixed = true, moved < even/2
	}
	if between < overtaken.Seconds() { // of calls that started as one, nobody knows which the server had counted
		if b.judged {
			w.at = b.first.at
			b.first = w
		}
		return
	}
	if !b.fixed {
		counted += b.rate * between
	}
	sample := min(max(counted/ours, b.ratio/2), b.ratio*2, maxRatio) // calls pass each other on the way: one word may be far off
	if b.ratio = (b.ratio + sample) / 2; b.ratio < b.least {
		b.ratio = b.floor
	}
	if calls >= 4*baselineCalls {
		b.first = w
	}
}

// answered learns from a call's end. One that was turned away although
// there should have been enough left means windows, unless answers told otherwise; one that
// passed with nothing left means that the headers are not true.
func (b *bucket) answered(number int64, s spent, passed, refused bool) {
	switch {
	case refused:
		told := b.known && b.last.number == number
		b.fixed = b.fixed || told && !b.judged && !s.doubted
		b.ratio = max(b.ratio, min(b.ratio*1.5, 1)) // back to what the caller said
	case passed && s.doubted:
		b.lies++ // see observe: beyond maxLies nothing new is taken in, and the last word runs out
	}
}
