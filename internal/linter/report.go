package linter

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/injection"
)

// Report holds the linters' results on a change, as a draft keeps them.
type Report struct {
	Findings []finding.Finding `json:"findings,omitempty"`
	Left     Left              `json:"left,omitzero"`
	Flags    []finding.Flag    `json:"flags,omitempty"`   // messages that address the reviewer
	Missing  []string          `json:"missing,omitempty"` // what could not be read, one line each
}

// String returns one line that counts the results, or "" if there are none.
func (r Report) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{r.Left.Elsewhere, "on lines that the change does not add"},
		{r.Left.Outside, "in files that are not reviewed here"},
		{r.Left.Suppressed, "suppressed where they were found"}, {r.Left.Beyond, "more than are read"},
		{r.Left.Unreadable, "without a place or words"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(r.Findings) == 0 && len(parts) == 0 {
		return ""
	}
	text := fmt.Sprintf("Linters, on the word of who wrote the change: %d on added lines", len(r.Findings))
	if len(parts) > 0 {
		text += "; left out: " + strings.Join(parts, ", ")
	}
	return text + "."
}

// Hints returns a file's results for the model that reviews it, one line each: place, tool, rule
// and message. The texts are untrusted; messages that address the reviewer are left out.
func (r Report) Hints(path string) (lines []string) {
	for _, f := range r.Findings {
		if f.Path == path && len(lines) < maxHints && !addressesReviewer(f) {
			lines = append(lines, fmt.Sprintf("line %d: %s: %s", f.Line, f.Origin.Name(f.Rule),
				guard.Line(words(f), maxHint)))
		}
	}
	return lines
}

// The limits of hints: how many per file, and the characters of each.
const (
	maxHints = 40
	maxHint  = 300
)

func words(f finding.Finding) string { return strings.TrimSpace(f.Title + ". " + f.Body) }

// addressesReviewer reports whether a message addresses the reviewer.
func addressesReviewer(f finding.Finding) bool { return len(injection.Scan(words(f)).Instructions) > 0 }

// maxFlags is the most messages that are flagged.
const maxFlags = 5

func flagsOf(all []finding.Finding) (flags []finding.Flag) {
	for _, f := range all {
		if len(flags) < maxFlags && addressesReviewer(f) {
			flags = append(flags, finding.Flag{Path: f.Path, Line: f.Line, Kind: finding.InjectionFlag,
				Text: f.Origin.Name(f.Rule) + ": " + words(f)})
		}
	}
	return flags
}
