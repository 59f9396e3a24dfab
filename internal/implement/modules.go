package implement

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/ticket"
)

// Choose asks which of the base's modules the ticket concerns. The first few files of each
// are shown.
func (m *Model) Choose(ctx context.Context, t ticket.Ticket, c change.Class, base Base) (s change.Scope,
	used cost.Usage, err error) {
	modules, paths := base.Rules.Modules, slices.Sorted(maps.Keys(base.Rules.Entries))
	reasons := map[string]any{}
	var names, list []string
	for _, one := range modules {
		names, list = append(names, one.Name), append(list, listed(one, paths))
		reasons[one.Name] = map[string]string{"type": "string"}
	}
	enum, _ := json.Marshal(names) // texts alone: neither can fail
	properties, _ := json.Marshal(reasons)
	q := question{step: "modules", tokens: shortAnswer, blocks: []block{{"ticket", told(t)},
		{"classification", classified(c)}, {"modules", strings.Join(list, "\n")}},
		schema: prompt("modules.json", "{{names}}", string(enum), "{{reasons}}", string(properties))}
	used, err = answered(ctx, m, q, func(said struct {
		Modules []string       `json:"affected_modules"`
		Reasons map[string]any `json:"reasoning"`
		Files   []string       `json:"files_likely_to_change"`
	}) ([]string, error) {
		s = change.Scope{Likely: said.Files[:min(len(said.Files), maxLikely)]}
		var why []string
		for _, one := range modules {
			if slices.Contains(said.Modules, one.Name) {
				reason, _ := said.Reasons[one.Name].(string)
				s.Modules = append(s.Modules, change.Module{Name: one.Name, Reason: oneLine(reason)})
			}
		}
		for _, name := range said.Modules {
			if !slices.ContainsFunc(modules, func(one config.Module) bool { return one.Name == name }) {
				why = append(why, fmt.Sprintf("there is no module %.60q", name))
			}
		}
		if len(s.Modules) == 0 {
			why = append(why, "it names no module")
		}
		return why, nil
	})
	return s, used, err
}

const (
	maxLikely = 40 // files that are expected to change
	maxListed = 60 // files of a module that are shown
)

// listed is a module with the first of its files.
func listed(m config.Module, paths []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s: %s\n", m.Name, oneLine(m.Description))
	n := 0
	for _, p := range paths {
		if !pattern.Matches(slices.Concat(m.Paths, m.Tests), p) {
			continue
		}
		if n++; n <= maxListed {
			b.WriteString("  " + p + "\n")
		}
	}
	if n > maxListed {
		fmt.Fprintf(&b, "  … and %d more files\n", n-maxListed)
	}
	return b.String()
}
