package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// The bounds of noise. An answer with more than 100 findings is refused.
const (
	maxNoise    = 20 // expected number per file
	maxFindings = 100
)

// minDistance is the minimum distance in lines between a wrong claim and any place of a
// known defect: one more than the matching rule reaches.
const minDistance = 4

// offSchema is a severity that no schema allows.
const offSchema finding.Severity = "severe"

// noise makes the useless findings of one answer.
type noise struct {
	Options
	caseID, path string
	patch        patch
	golden       []dataset.Golden
}

// add appends a Poisson-distributed number of findings. A higher noise appends more
// after the same ones.
func (n noise) add(all []claim) []claim {
	count := poisson(n.stream("count").Float64(), min(n.Noise, maxNoise))
	for i := range min(count, maxFindings-len(all)) {
		all = append(all, n.makeFinding(i, all))
	}
	return all
}

func (n noise) stream(purpose string) *rand.Rand {
	return stream(n.Seed, n.caseID, n.path, purpose)
}

// makeFinding returns the i-th finding. Of a hundred, 40 are wrong and sure, 30 wrong and
// unsure, 15 repeat a finding of the same answer, 10 are on no line of the diff, 5 violate
// the schema. The confidence of a sure one is uniform from 0.5 to 1, that of an unsure one is
// the square of a number uniform from 0 to 1.
func (n noise) makeFinding(i int, before []claim) claim {
	r := n.stream(fmt.Sprint("finding ", i))
	kind, u := r.IntN(100), r.Float64()
	c := n.wrongClaim(i, r)
	switch {
	case kind < 40:
	case kind < 70:
		c.Confidence = hundredths(u * u)
	case kind < 85:
		if len(before) > 0 {
			c = duplicate(before[int(u*float64(len(before)))], r.IntN(3))
		}
	case kind < 95:
		c = n.moveOffDiff(c, r)
	default:
		c.Severity = offSchema
	}
	return c
}

// wrongClaim returns a wrong but sure claim about a line of the diff, or after the diff if
// all its lines are near known defects.
func (n noise) wrongClaim(i int, r *rand.Rand) claim {
	c := claims()[(n.stream("first").IntN(len(claims()))+i)%len(claims())]
	c.Side, c.Severity, c.Confidence = finding.Right, severity(r.IntN(10)), hundredths(0.5+0.5*r.Float64())
	free := n.freeLines()
	if len(free) == 0 {
		return n.moveOffDiff(c, r)
	}
	l := free[r.IntN(len(free))]
	c.StartLine, c.Line, c.Quote = l.number, l.number, l.text
	return c
}

// freeLines returns the lines that are not near known defects: the added ones or, if there
// are none, all.
func (n noise) freeLines() (lines []line) {
	places := n.knownPlaces()
	for _, addedOnly := range []bool{true, false} {
		for _, l := range n.patch.lines {
			near := func(p dataset.Place) bool { return gap(l.number, p.LineStart, p.LineEnd) < minDistance }
			if (l.added || !addedOnly) && !slices.ContainsFunc(places, near) {
				lines = append(lines, l)
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	return lines
}

// knownPlaces returns the places in the file where a finding hits a known defect.
func (n noise) knownPlaces() (here []dataset.Place) {
	for _, g := range n.golden {
		for _, p := range g.Places() {
			if p.Path == n.path {
				here = append(here, p)
			}
		}
	}
	return here
}

// moveOffDiff moves a claim to one of the 50 lines after the diff and after all places of
// known defects.
func (n noise) moveOffDiff(c claim, r *rand.Rand) claim {
	last := n.patch.last()
	for _, p := range n.knownPlaces() {
		last = max(last, p.LineEnd+minDistance-1)
	}
	c.Line = last + 1 + r.IntN(50)
	c.StartLine, c.Quote = c.Line, ""
	return c
}

// duplicate returns a claim that repeats c: in the same words, with other punctuation,
// or in other words.
func duplicate(c claim, way int) claim {
	switch way {
	case 1:
		c.Title += "!"
	case 2:
		c.Title = "The code is wrong here: " + c.Title
	}
	return c
}

// severity returns the severity of a wrong claim. n from 0 to 9 gives one blocker,
// three major, four minor and two nits.
func severity(n int) finding.Severity {
	switch {
	case n < 1:
		return finding.Blocker
	case n < 4:
		return finding.Major
	case n < 8:
		return finding.Minor
	}
	return finding.Nit
}

// poisson returns the quantile u, from 0 to 1, of the Poisson distribution with that mean.
func poisson(u, mean float64) (n int) {
	if !(mean > 0) {
		return 0
	}
	share := math.Exp(-mean)
	for sum := share; u >= sum && n < maxFindings; sum += share {
		n++
		share *= mean / float64(n)
	}
	return n
}

// claims returns claims about things that no set of cases is about, so that all are false.
func claims() []claim {
	return []claim{
		{Title: "A temperature in Fahrenheit is converted twice", Body: "For 68 °F it stores -6.7 °C.",
			Category: "correctness"},
		{Title: "The sales tax is added to the total once more",
			Body: "An invoice with two rates charges both on the sum.", Category: "data"},
		{Title: "The time of sunrise is taken in the server's zone",
			Body: "For a station in another zone it is hours off.", Category: "correctness"},
		{Title: "A booked seat is sold again", Body: "Two buyers that pay in the same second get the same seat.",
			Category: "concurrency"},
		{Title: "A visitor sees another patient's prescription",
			Body: "The number in the link is not held against the patient who is signed in.", Category: "security"},
		{Title: "The fuel gauge divides by the size of an empty tank",
			Body: "A vehicle without a tank stops the report.", Category: "error-handling"},
		{Title: "The barcode's check digit is not compared", Body: "A misread code is booked under another article.",
			Category: "data"},
		{Title: "The camera stays open when a scan is cancelled", Body: "The next scan finds it in use.",
			Category: "resource"},
		{Title: "The route is planned anew for every parcel", Body: "With 500 parcels the plan takes minutes.",
			Category: "performance"},
		{Title: "The exchange rate of the day before is used", Body: "Payments before noon are off by a day's change.",
			Category: "correctness"},
		{Title: "The meter's counter runs over at 65,535 litres", Body: "A month with more is billed from zero.",
			Category: "correctness"},
		{Title: "The exported calendar leaves out yearly events", Body: "A reader of the old format loses them.",
			Category: "compatibility"},
	}
}
