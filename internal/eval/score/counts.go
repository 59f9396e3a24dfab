package score

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/eval/dataset"
)

// Counts are the figures that every group of cases has. Matched and Hit are
// equal over all cases, since each finding hits at most one known one.
type Counts struct {
	Cases               int `json:"cases"`
	Passed              int `json:"passed"`
	Golden              int `json:"golden"`   // known findings
	Hit                 int `json:"hit"`      // known findings that a posted one hits
	FileHit             int `json:"file_hit"` // known findings whose file something was posted on; reported, never scored
	Posted              int `json:"posted"`
	Matched             int `json:"matched"` // posted findings that hit a known one
	Valid               int `json:"valid"`   // posted findings that hit none and that the judge holds for true defects
	CleanCases          int `json:"clean_cases"`
	CleanFalsePositives int `json:"clean_false_positives"` // posted findings on clean cases
}

func (c Counts) plus(o Counts) Counts {
	return Counts{
		Cases: c.Cases + o.Cases, Passed: c.Passed + o.Passed,
		Golden: c.Golden + o.Golden, Hit: c.Hit + o.Hit, FileHit: c.FileHit + o.FileHit,
		Posted: c.Posted + o.Posted, Matched: c.Matched + o.Matched, Valid: c.Valid + o.Valid,
		CleanCases: c.CleanCases + o.CleanCases, CleanFalsePositives: c.CleanFalsePositives + o.CleanFalsePositives,
	}
}

func countCase(r Result) Counts {
	return Counts{Cases: 1, Passed: one(r.Passed), CleanCases: one(r.Kind == dataset.Clean)}
}

func countKnown(k Known) Counts {
	return Counts{Golden: 1, Hit: one(k.Hit != ""), FileHit: one(k.FileHit)}
}

func countPosted(r Result, p Posted) Counts {
	return Counts{Posted: 1, Matched: one(p.Golden >= 0), Valid: one(p.Golden < 0 && p.Valid), CleanFalsePositives: one(r.Kind == dataset.Clean)}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dimension says into which groups the parts of a result go.
type dimension struct {
	ofCase   func(Result) string
	ofKnown  func(Result, Known) string
	ofPosted func(Result, Posted) string
}

// The names of the dimensions in a report.
const (
	byLanguage   = "language"
	bySeverity   = "severity"
	byVisibility = "visibility"
	byCategory   = "category"
)

// unnamed is the group of what has no category.
const unnamed = "other"

// dimensions are the ways in which counts are broken down. A case with known
// findings goes by severity and category where its gravest one does. By visibility
// it is local when all its known findings are. A clean one is a group of its own,
// so that the cases of every dimension add up.
func dimensions() map[string]dimension {
	language := func(r Result) string { return cmp.Or(r.Language, unnamed) }
	category := func(k Known) string { return cmp.Or(k.Category, unnamed) }
	severity := func(k Known) string { return string(k.Severity) }
	return map[string]dimension{
		byLanguage: {
			language,
			func(r Result, _ Known) string { return language(r) },
			func(r Result, _ Posted) string { return language(r) },
		},
		bySeverity: {
			func(r Result) string { return ofGravest(r, severity) },
			func(_ Result, k Known) string { return severity(k) },
			func(_ Result, p Posted) string { return string(p.Severity) },
		},
		byVisibility: {
			visibility,
			func(_ Result, k Known) string { return string(k.Visibility) },
			func(r Result, _ Posted) string { return visibility(r) },
		},
		byCategory: {
			func(r Result) string { return ofGravest(r, category) },
			func(_ Result, k Known) string { return category(k) },
			func(_ Result, p Posted) string { return cmp.Or(p.Category, unnamed) },
		},
	}
}

func ofGravest(r Result, name func(Known) string) string {
	if len(r.Golden) == 0 {
		return string(dataset.Clean)
	}
	return name(slices.MaxFunc(r.Golden, func(a, b Known) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) }))
}

// visibility is the group of a case: local, context or clean.
func visibility(r Result) string {
	switch {
	case r.Kind == dataset.Clean:
		return string(dataset.Clean)
	case slices.ContainsFunc(r.Golden, func(k Known) bool { return k.Visibility != dataset.Local }):
		return string(dataset.Context)
	}
	return string(dataset.Local)
}

// group breaks counts down along a dimension.
func (d dimension) group(results []Result) map[string]Counts {
	groups := map[string]Counts{}
	add := func(name string, c Counts) { groups[name] = groups[name].plus(c) }
	for _, r := range results {
		if name := d.ofCase(r); name != "" {
			add(name, countCase(r))
		}
		for _, k := range r.Golden {
			add(d.ofKnown(r, k), countKnown(k))
		}
		for _, p := range r.Posted {
			add(d.ofPosted(r, p), countPosted(r, p))
		}
	}
	return groups
}

// total counts over all results: whatever is in one goes by its language.
func total(results ...Result) (sum Counts) {
	for _, c := range dimensions()[byLanguage].group(results) {
		sum = sum.plus(c)
	}
	return sum
}
