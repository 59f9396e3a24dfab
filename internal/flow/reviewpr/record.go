package reviewpr

import (
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
)

// Bounds on what a record keeps of its draft, whose texts come from a model or a diff.
const (
	maxShown     = 500 // findings, the most severe ones
	maxShownText = 300 // bytes; a longer text is omitted
)

// OnRecord adds to a decision's record what statistics over many decisions need: the
// findings the draft showed, and what it cost.
func (s State) OnRecord(r decision.Record) decision.Record {
	r.Findings = nil
	models := s.modelOf()
	for _, f := range s.Comments {
		if f.ID == "" || f.Filtered != "" && f.Filtered != finding.Dropped || len(r.Findings) == maxShown {
			continue
		}
		shown := decision.Shown{ID: f.ID, Path: cutNote(f.Path), Severity: f.Severity, Category: cutNote(f.Category),
			Source: string(f.Source), Rule: cutNote(f.Rule)}
		if f.Origin != nil {
			shown.Linter = cutNote(f.Origin.Tool)
		}
		if f.Source == finding.Model {
			shown.Model = models(f.Path)
		}
		r.Findings = append(r.Findings, shown)
	}
	r.Drafting = &decision.Effort{Cost: int64(s.Usage.Cost), Calls: s.Usage.Calls, Unpriced: s.Usage.Unpriced,
		Seconds: s.Draft.Seconds}
	return r
}

// modelOf returns a function that maps a file to the model that reviewed it, as the server
// names it, or to the run's model if no answer about the file names one.
func (s State) modelOf() func(path string) string {
	known := map[string]string{}
	for _, f := range s.FileReviews {
		for _, c := range f.Calls {
			if c.Task == "review" && c.Model != "" {
				known[f.Path] = cutNote(c.Model)
			}
		}
	}
	return func(path string) string {
		if name := known[path]; name != "" {
			return name
		}
		return cutNote(s.Draft.Model)
	}
}

func cutNote(text string) string {
	if len(text) > maxShownText {
		return ""
	}
	return text
}
