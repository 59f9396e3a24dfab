package render

import (
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	openItems = 10 // inline comments that the body lists without a fold
	openFirst = 3  // findings that are not folded
	openGrave = 10 // findings of at least major that are not folded
)

// parts are the findings of a posted review's body by where they stand there.
type parts struct {
	inline, moreInline []finding.Finding // listed
	open, more, nits   []finding.Finding // in full, each by file
	linters            []finding.Finding // the same; the first to give way where there is no room
}

// partsOf sorts findings, which come gravest first.
func partsOf(all []finding.Finding) (p parts) {
	inline := placed(all, finding.Inline)
	n := min(openItems, len(inline))
	p.inline, p.moreInline = inline[:n], inline[n:]
	for _, f := range placed(all, finding.Body) {
		switch {
		case f.Source == finding.Linter:
			p.linters = append(p.linters, f)
		case f.Severity == finding.Nit:
			p.nits = append(p.nits, f)
		case folds(len(p.open)+len(p.more), f):
			p.more = append(p.more, f)
		default:
			p.open = append(p.open, f)
		}
	}
	p.open, p.more, p.nits = byFile(p.open), byFile(p.more), byFile(p.nits)
	p.linters = byFile(p.linters)
	return p
}

// first keeps n findings, in the order of the fields.
func (p parts) first(n int) parts {
	for _, list := range []*[]finding.Finding{&p.inline, &p.moreInline, &p.open, &p.more, &p.nits, &p.linters} {
		*list = (*list)[:min(n, len(*list))]
		n -= len(*list)
	}
	return p
}

// folded shows findings in a fold that counts them.
func folded(all []finding.Finding, noun string, show func([]finding.Finding) string) string {
	if len(all) == 0 {
		return ""
	}
	return Details(wording.Count(len(all), noun), show(all))
}

// folds reports whether a finding, the i-th in its order, is folded.
func folds(i int, f finding.Finding) bool {
	grave := f.Severity.Rank() >= finding.Major.Rank()
	return i >= openFirst && (!grave || i >= openGrave)
}

// byFile brings findings of one file together, in the order in which the files
// first appear.
func byFile(all []finding.Finding) []finding.Finding {
	return slices.Concat(order.Grouped(all, func(f finding.Finding) string { return f.Path })...)
}

func placed(all []finding.Finding, where finding.Placement) (some []finding.Finding) {
	for _, f := range all {
		if (f.Placement == finding.Inline) == (where == finding.Inline) {
			some = append(some, f)
		}
	}
	return some
}
