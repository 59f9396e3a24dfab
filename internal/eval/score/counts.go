package score

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/eval/dataset"
)

// Counts are the figures that every group of cases has. Matched and Hit are
// equal over all cases, since each finding hits at most one known one.
type Counts struct {
	Cases  int `json:"cases"`
	Passed int `json:"passed"`
	Golden int `json:"golden"` // known findings
	Hit    int `json:"hit"`    // known findings that a posted one hits
	// known findings whose file something was posted on; reported, never scored
	FileHit             int `json:"file_hit"`
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

// The ways in which counts are broken down, by their names in a report.
const (
	byLanguage   = "language"
	bySeverity   = "severity"
	byVisibility = "visibility"
)

// count breaks the counts down. A case with known findings goes by severity where
// its gravest one does; by visibility it is local when all its known findings are.
// A clean one is a group of its own, so that the cases of every breakdown add up.
func count(results []Result) map[string]map[string]Counts {
	by := map[string]map[string]Counts{byLanguage: {}, bySeverity: {}, byVisibility: {}}
	for _, r := range results {
		add := func(severity, visibility string, c Counts) {
			groups := map[string]string{
				byLanguage: cmp.Or(r.Language, "other"), bySeverity: severity, byVisibility: visibility,
			}
			for name, group := range groups {
				by[name][group] = by[name][group].plus(c)
			}
		}
		clean, severity, visibility := r.Kind == dataset.Clean, r.gravest(), r.visibility()
		add(severity, visibility, Counts{Cases: 1, Passed: one(r.Passed), CleanCases: one(clean)})
		for _, k := range r.Golden {
			c := Counts{Golden: 1, Hit: one(k.Hit != ""), FileHit: one(k.FileHit)}
			add(string(k.Severity), string(k.Visibility), c)
		}
		for _, p := range r.Posted {
			hits := p.Golden >= 0
			c := Counts{Posted: 1, Matched: one(hits), Valid: one(!hits && p.Valid), CleanFalsePositives: one(clean)}
			add(string(p.Severity), visibility, c)
		}
	}
	return by
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gravest is the severity of the gravest known finding, or clean.
func (r Result) gravest() string {
	if len(r.Golden) == 0 {
		return string(dataset.Clean)
	}
	graver := func(a, b Known) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) }
	return string(slices.MaxFunc(r.Golden, graver).Severity)
}

// visibility is the group of a case: local, context or clean.
func (r Result) visibility() string {
	switch {
	case r.Kind == dataset.Clean:
		return string(dataset.Clean)
	case slices.ContainsFunc(r.Golden, func(k Known) bool { return k.Visibility != dataset.Local }):
		return string(dataset.Context)
	}
	return string(dataset.Local)
}
