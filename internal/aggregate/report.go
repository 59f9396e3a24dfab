package aggregate

import (
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
)

// markUnwanted leaves out the findings of categories that the settings do not report. It
// does so before findings are held against each other, so that none takes along what
// another says of its place.
func markUnwanted(all []finding.Finding, r config.Report) {
	for i := range all {
		if why := r.Unwanted(all[i]); why != "" {
			leaveOut(&all[i], why)
		}
	}
}

// markTooWeak leaves out the findings that are weaker than the settings report. It does
// so once a rule has lifted what a model says of its line.
func markTooWeak(all []finding.Finding, r config.Report) {
	for i := range all {
		if r.TooWeak(all[i]) {
			leaveOut(&all[i], "below report.from")
		}
	}
}

// leaveOut marks a finding, but for what no setting silences: hidden text and credentials.
func leaveOut(f *finding.Finding, why string) {
	if f.Filtered == "" && !warns(*f) {
		f.Filtered, f.Note = finding.LeftOut, why
	}
}
