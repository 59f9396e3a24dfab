package stats

import "math"

// Interval is a share with its 95 % confidence interval, each from 0 to 1 and
// rounded to four decimals.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// z is the 97.5th percentile of the standard normal distribution.
const z = 1.959963984540054

// Wilson is the share k of n with Wilson's score interval, which holds its
// promise near 0 and 1 and for few cases (E. B. Wilson, 1927). It is nil for
// none. The n are taken as independent; findings of one draft are not quite.
func Wilson(k, n int) *Interval {
	if n <= 0 {
		return nil
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return &Interval{Round(p), Round(max(0, middle-half)), Round(min(1, middle+half))}
}

// Round cuts a figure to four decimals, as reports hold it.
func Round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
