package score

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/org/pr-review-action/internal/stats"
)

// Interval is a share or another figure with its 95 % confidence interval.
type Interval = stats.Interval

// Percentiles are the median and the 95th percentile over cases.
type Percentiles struct {
	P50 Interval `json:"p50"`
	P95 Interval `json:"p95"`
}

// Wilson is that of package stats: findings of one case are not quite independent,
// so that intervals over findings are a little too narrow.
func Wilson(k, n int) *Interval { return stats.Wilson(k, n) }

// Samples are the same every time, so that bytes repeat.
const (
	resamples = 2_000
	seed      = 0x70722d72_65766965
)

// bootstrap is a statistic of one value a case, with the percentile interval
// over resamples of the cases. The statistic is given sorted values; their
// order before does not matter. It is nil for no values.
func bootstrap(values []float64, statistic func(sorted []float64) float64) *Interval {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	drawn := make([]float64, 0, resamples)
	sample := make([]float64, 0, len(sorted))
	resample(len(sorted), func(times []int) {
		sample = sample[:0]
		for i, n := range times {
			for range n {
				sample = append(sample, sorted[i])
			}
		}
		drawn = append(drawn, statistic(sample))
	})
	low, high := middle95(drawn)
	return rounded(statistic(sorted), low, high)
}

// resample draws n of n with replacement, over and over, and tells each time how
// often each one was drawn. The slice is used again.
func resample(n int, use func(times []int)) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	times := make([]int, n)
	for range resamples {
		clear(times)
		for range n {
			times[random.IntN(n)]++
		}
		use(times)
	}
}

func middle95(drawn []float64) (low, high float64) {
	slices.Sort(drawn)
	return quantile(drawn, 0.025), quantile(drawn, 0.975)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// percentiles are nil for no values. A resample holds nothing above the largest
// value, and so does the interval of the 95th: for few cases its upper end is
// too low.
func percentiles(values []float64) *Percentiles {
	if len(values) == 0 {
		return nil
	}
	at := func(p float64) Interval {
		return *bootstrap(values, func(sorted []float64) float64 { return quantile(sorted, p) })
	}
	return &Percentiles{P50: at(0.5), P95: at(0.95)}
}

// quantile lies between the two nearest values where it falls between them.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// mcNemar is the exact two-sided p-value of better against worse changes of
// paired outcomes (Q. McNemar, 1947): how often a fair coin would fall at least
// as unevenly. It is 1 where nothing changed.
func mcNemar(better, worse int) float64 {
	n, tail := better+worse, 0.0
	for i := range min(better, worse) + 1 {
		tail += math.Exp(logBinomial(n, i) - float64(n)*math.Ln2)
	}
	return round(min(1, 2*tail))
}

func logBinomial(n, k int) float64 {
	factorial := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	return factorial(n) - factorial(k) - factorial(n-k)
}

func rounded(value, low, high float64) *Interval {
	return &Interval{Value: round(value), Low: round(low), High: round(high)}
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
