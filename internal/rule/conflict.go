package rule

import "github.com/org/pr-review-action/internal/finding"

var conflictMarks = inCode(`^(?:<<<<<<<|>>>>>>>) \S`, "<<<<<<< ", ">>>>>>> ")
var proseFile = lazy(`(?i)\.(?:md|rst|adoc|txt|patch|diff|snap)$`)

var conflictMarker = rule{
	name: "conflict-marker", category: "correctness", severity: finding.Blocker,
	title:  "Merge conflict marker left in the file",
	body:   "The file contains both sides of a merge and the markers between them, so it does not parse.",
	always: true,
	find: in{anyLanguage: func(h *hunk) []hit {
		if proseFile().MatchString(h.path) {
			return nil
		}
		hits := conflictMarks(h)
		return hits[:min(len(hits), 1)] // a conflict has two marks
	}},
}
