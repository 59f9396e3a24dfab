package linter

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/injection"
)

// Report is what linters say of a change, as a draft keeps it.
type Report struct {
	Findings []finding.Finding `json:"findings,omitempty"`
	Left     Left              `json:"left,omitzero"`
	Flags    []finding.Flag    `json:"flags,omitempty"`   // messages that address who reviews
	Missing  []string          `json:"missing,omitempty"` // what could not be had, one line each
}

// String is one line about what the results came to, empty where there are none.
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

// Hints are what a model that reviews a file is told of its linters' results, one line each: place, tool, rule and
// message. The texts are untrusted; those that address who reviews are not in it.
func (r Report) Hints(path string) (lines []string) {
	for _, f := range r.Findings {
		if f.Path == path && len(lines) < maxHints && !addresses(f) {
			lines = append(lines, fmt.Sprintf("line %d: %s: %s", f.Line, f.Origin.Name(f.Rule),
				guard.Line(words(f), maxHint)))
		}
	}
	return lines
}

// The bounds of hints: how many a file has, and of how many characters.
const (
	maxHints = 40
	maxHint  = 300
)

func words(f finding.Finding) string { return strings.TrimSpace(f.Title + ". " + f.Body) }

// addresses reports whether a message is written to who reviews.
func addresses(f finding.Finding) bool { return len(injection.Scan(words(f)).Instructions) > 0 }

// maxFlags bounds the messages that are flagged.
const maxFlags = 5

func flagged(all []finding.Finding) (flags []finding.Flag) {
	for _, f := range all {
		if len(flags) < maxFlags && addresses(f) {
			flags = append(flags, finding.Flag{Path: f.Path, Line: f.Line, Kind: finding.InjectionFlag,
				Text: f.Origin.Name(f.Rule) + ": " + words(f)})
		}
	}
	return flags
}
