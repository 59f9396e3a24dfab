package oracle

import (
	_ "embed" // the claims are a file next to this one
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// The bounds of noise. An answer with more than 100 findings is refused.
const (
	maxNoise    = 20 // expected number per file
	maxFindings = 100
)

const (
	// minDistance is the minimum distance in lines between a wrong claim and any place of a known defect: one more
	// than the matching rule reaches.
	minDistance = 4
	offDiff     = 1_000 // lines after a diff, where there is no known defect
)

// offSchema is a severity that no schema allows.
const offSchema finding.Severity = "severe"

// noise makes the useless findings of one answer.
type noise struct {
	Options
	caseID, path string
	patch        patch
	golden       []dataset.Golden
}

// add appends findings, in the mean as many as the noise. A higher noise appends more after the same ones.
func (n noise) add(all []claim) []claim {
	if !(n.Noise > 0) {
		return all
	}
	count := int(min(n.Noise, maxNoise) + n.stream("count").Float64())
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
			c = before[int(u*float64(len(before)))]
			c.Title += "!"
		}
	case kind < 95:
		c = n.moveOffDiff(c, r)
	default:
		c.Severity = offSchema
	}
	return c
}

// severities are those of wrong claims, each as likely as the others.
var severities = [...]finding.Severity{finding.Blocker, finding.Major, finding.Major, finding.Major, finding.Minor,
	finding.Minor, finding.Minor, finding.Minor, finding.Nit, finding.Nit}

// wrongClaim returns a wrong but sure claim about a line of the diff, or after the diff if
// all its lines are near known defects.
func (n noise) wrongClaim(i int, r *rand.Rand) claim {
	c := claims()[(n.stream("first").IntN(len(claims()))+i)%len(claims())]
	c.Side, c.Severity, c.Confidence = finding.Right, severities[r.IntN(len(severities))],
		hundredths(0.5+0.5*r.Float64())
	free := slices.DeleteFunc(slices.Clone(n.patch.lines), n.nearKnown)
	if len(free) == 0 {
		return n.moveOffDiff(c, r)
	}
	l := free[r.IntN(len(free))]
	c.StartLine, c.Line, c.Quote = l.number, l.number, l.text
	return c
}

// nearKnown reports whether a finding on a line could hit a known defect.
func (n noise) nearKnown(l line) bool {
	return slices.ContainsFunc(n.golden, func(g dataset.Golden) bool {
		return slices.ContainsFunc(g.Places(), func(p dataset.Place) bool {
			return p.Path == n.path && gap(l.number, p.LineStart, p.LineEnd) < minDistance
		})
	})
}

func (n noise) moveOffDiff(c claim, r *rand.Rand) claim {
	c.Line = n.patch.lines[len(n.patch.lines)-1].number + offDiff + r.IntN(50)
	c.StartLine, c.Quote = c.Line, ""
	return c
}

//go:embed claims.json
var claimsText []byte

// claims returns claims about things that no set of cases is about, so that all are false.
var claims = sync.OnceValue(func() (all []claim) {
	if err := json.Unmarshal(claimsText, &all); err != nil {
		panic(fmt.Sprintf("oracle: claims.json: %v", err))
	}
	return all
})
