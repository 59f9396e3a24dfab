package stats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

// The bounds of what is said of a habit in a settings file.
const (
	maxEvidence = 8   // drops that are named
	maxWhy      = 110 // runes of such a line
	maxReason   = 100 // bytes of a reason that a model is told
)

// Proposed are the entries of a settings file that habits ask for, each with the decisions behind it, without those
// that the settings have or that are for a list which the defaults lock. What people wrote is inert in them.
func Proposed(habits []Habit, now config.Config) (asked []Habit, entries []Entry) {
	for _, h := range habits {
		e := h.entry()
		if !h.settled(now) && !now.Locks(e.Key()) {
			asked, entries = append(asked, h), append(entries, e)
		}
	}
	return asked, entries
}

// settled reports whether the settings have what a habit asks for.
func (h Habit) settled(now config.Config) bool {
	switch {
	case h.Rule != "":
		return slices.Contains(now.Report.Without, h.Rule)
	case h.Category == "":
		return slices.Contains(now.Ignore, h.Glob)
	}
	return slices.ContainsFunc(now.Guidelines, func(g config.Guideline) bool {
		return slices.Equal(g.Paths, []string{h.Glob}) && strings.HasPrefix(g.Text, h.request())
	})
}

func (h Habit) request() string {
	return fmt.Sprintf("Report no findings of the category %s in these files.", h.Category)
}

func (h Habit) entry() Entry {
	e := Entry{Why: h.why()}
	switch {
	case h.Rule != "":
		e.Rule = h.Rule
	case h.Category == "":
		e.Glob = h.Glob
	default:
		e.Guideline = config.Guideline{Paths: []string{h.Glob}, Text: h.request()}
		if reason := h.reason(); reason != "" {
			e.Guideline.Text += " People dropped them for this: " + reason
		}
	}
	return e
}

// why are the decisions behind a habit, a line each.
func (h Habit) why() []string {
	lines := []string{fmt.Sprintf(
		"%d of %d judged findings were dropped, on %d pull requests; 95 %% interval %s–%s %%:",
		h.Dropped, h.Judged, h.Pulls, percent(h.Share.Low, 0), percent(h.Share.High, 0))}
	for _, j := range h.Drops[:min(len(h.Drops), maxEvidence)] {
		thread, shown := j.Thread, strings.LastIndexByte(j.Thread, ':')+1+pull.MinPrefix
		said := fmt.Sprintf("%s %s, %s: %s", thread[:min(len(thread), shown)], j.Finding.ID, j.By, j.Reason)
		lines = append(lines, "  "+guard.Line(secret.Redact(said), maxWhy))
	}
	if more := len(h.Drops) - maxEvidence; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

// plainWords is what a reason may hold that is repeated to a model: no mark-up, no quotes.
var plainWords = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ,.;:'()/_-]+$`)

// reason is the one that was given most often, in two drafts at least and for a third of
// the findings; empty where there is none, or it is no plain words.
func (h Habit) reason() string {
	type given struct {
		text   string
		times  int
		drafts map[string]bool
	}
	all := map[string]*given{}
	var best given
	for _, j := range h.Drops {
		text := strings.Join(strings.Fields(j.Reason), " ")
		key := strings.ToLower(strings.TrimRight(text, "."))
		if all[key] == nil {
			all[key] = &given{text: text, drafts: map[string]bool{}}
		}
		g := all[key]
		g.times++
		if g.drafts[j.Thread] = true; g.times > best.times {
			best = *g
		}
	}
	if len(best.drafts) < MinDrafts || 3*best.times < h.Dropped || len(best.text) > maxReason ||
		!plainWords.MatchString(best.text) || secret.Redact(best.text) != best.text {
		return ""
	}
	return best.text
}
