package score

// share is a number out of another.
type share struct{ n, of int }

func (s share) points() float64 { return 100 * float64(s.n) / float64(s.of) }

// plus adds another share, that many times.
func (s share) plus(o share, times int) share { return share{s.n + times*o.n, s.of + times*o.of} }

// slack is the room for the rounding of binary fractions: from 80 % to 75 % is
// no more than 5 points.
const slack = 1e-9

// both is what a case, or all of them, contribute to a rate in two runs.
type both [2]share

func bothOf(pairs []pair, part func(Counts) share) []both {
	all := make([]both, len(pairs))
	for i, p := range pairs {
		all[i] = both{part(total(p.first)), part(total(p.later))}
	}
	return all
}

func (b both) defined() bool { return b[0].of > 0 && b[1].of > 0 }

// gap is how far the rate moved.
func (b both) gap() float64 { return (b[1].points() - b[0].points()) / 100 }

// pooled sums what the cases have, each taken so many times; nil for once each.
func pooled(cases []both, times []int) (sum both) {
	for i, c := range cases {
		n := 1
		if times != nil {
			n = times[i]
		}
		sum[0], sum[1] = sum[0].plus(c[0], n), sum[1].plus(c[1], n)
	}
	return sum
}

// difference is nil where the rate is undefined in a run. A sample in which it
// is undefined tells nothing and is left out.
func difference(cases []both) *Difference {
	all := pooled(cases, nil)
	if !all.defined() {
		return nil
	}
	var drawn []float64
	resample(len(cases), func(times []int) {
		if sample := pooled(cases, times); sample.defined() {
			drawn = append(drawn, sample.gap())
		}
	})
	if len(drawn) == 0 {
		return nil
	}
	low, high := middle95(drawn)
	return &Difference{round(all[0].points() / 100), round(all[1].points() / 100), *rounded(all.gap(), low, high)}
}
