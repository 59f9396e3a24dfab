package rule

import "github.com/org/pr-review-action/internal/finding"

var conflictMarks = inCode(`^(?:<<<<<<<|>>>>>>>) \S`)
var proseFile = lazy(`(?i)\.(?:md|rst|adoc|txt|patch|diff|snap)$`)

var conflictMarker = rule{
	name: "conflict-marker", category: "correctness", severity: finding.Blocker,
	title: "Merge conflict marker left in the file",
	body:  "The file holds both sides and the marks between them, and does not parse.",
	find: in{anyLanguage: func(h *hunk) []hit {
		if proseFile().MatchString(h.path) {
			return nil
		}
		hits := conflictMarks(h)
		return hits[:min(len(hits), 1)] // a conflict has two marks
	}},
}

var debuggerLeft = rule{
	name: "debugger-left", category: "other", severity: finding.Minor,
	title:   "A breakpoint is left in the code",
	body:    "The program stops here and waits for a debugger that is not there.",
	inTests: unchanged,
	find: in{
		typescript: inCode(`^\s*debugger;?\s*$`),
		python:     inCode(`^\s*(?:import i?pdb; ?)?(?:breakpoint\(\)|i?pdb\.set_trace\(\))`),
		golang:     inCode(`^\s*runtime\.Breakpoint\(\)`),
	},
}

const debugText = `["'\x60](?:DEBUG\b|debug\b|HERE\b|here\b|XXX|={3,}>?|>{3,}|!{3,})`

// debugPrint finds output that begins as one does to find a bug (here, XXX, >>>),
// or is one bare value.
var debugPrint = rule{
	name: "debug-print", category: "other", severity: finding.Nit,
	title:   "This output looks left over from debugging",
	body:    "Remove it, or send it through the logger at a level that can be turned off.",
	inTests: skipped,
	find: in{
		golang:     inText(`\b(?:(?:fmt|log)\.Print(?:ln|f)?|println)\(` + debugText + `|\bspew\.Dump\(`),
		typescript: inText(`\bconsole\.(?:log|debug|error)\(` + debugText + `|^\s*console\.log\([\w.]+\);?\s*(?://.*)?$`),
		python:     inText(`\bprint\(f?` + debugText + `|\bprint\(f["']\{\w+=\}["']\)`),
		java:       inText(`\bSystem\.(?:out|err)\.print(?:ln)?\(` + debugText + `|\be(?:x|rr)?\.printStackTrace\(\);`),
	},
}
