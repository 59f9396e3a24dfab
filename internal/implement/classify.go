package implement

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/ticket"
)

// Classify asks the model what a ticket is. The model's type overrides the tracker's.
func (m *Model) Classify(ctx context.Context, t ticket.Ticket) (c change.Class, used cost.Usage, err error) {
	q := question{step: "classify", schema: prompt("classify.json"), tokens: shortAnswer,
		blocks: []block{{"ticket", ticketText(t)}}}
	used, err = askForAnswer(ctx, m, q, func(said change.Class, _ bool) ([]string, error) {
		c = change.Class{Type: change.Story, Summary: cutLine(said.Summary),
			Complexity: strings.ToLower(said.Complexity)}
		if strings.EqualFold(said.Type, change.Bug) {
			c.Type = change.Bug
		} else if !strings.EqualFold(said.Type, change.Story) {
			c.Note = fmt.Sprintf("The model calls the ticket %.40q; it is treated as a Story.", said.Type)
		}
		if c.Note == "" && t.Type != "" && !strings.EqualFold(t.Type, c.Type) {
			c.Note = fmt.Sprintf("The tracker calls the ticket %.40q; the model takes it for a %s.", t.Type, c.Type)
		}
		for _, one := range said.Components[:min(len(said.Components), maxComponents)] {
			c.Components = append(c.Components, cutLine(one))
		}
		switch {
		case c.Summary == "":
			return []string{"technical_summary is empty"}, nil
		case !slices.Contains([]string{"low", "medium", "high"}, c.Complexity):
			return []string{"complexity is not one of low, medium, high"}, nil
		}
		return nil, nil
	})
	return c, used, err
}

// Bounds on what is kept of an answer.
const (
	maxComponents = 20
	maxWords      = 2_000 // characters of a sentence
)

// cutLine joins a text into one line and cuts it.
func cutLine(s string) string { return guard.Cut(strings.Join(strings.Fields(s), " "), maxWords) }

// classText returns the classification as later prompts show it.
func classText(c change.Class) string {
	return fmt.Sprintf("%s, complexity %s\n%s\ncomponents: %s\n", c.Type, c.Complexity, c.Summary,
		strings.Join(c.Components, ", "))
}

// ticketText returns a ticket as a prompt shows it.
func ticketText(t ticket.Ticket) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s\n", t.Key, t.Type, t.Summary)
	if len(t.Labels) > 0 {
		fmt.Fprintf(&b, "labels: %s\n", strings.Join(t.Labels, ", "))
	}
	if t.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Description)
	}
	if len(t.Criteria) > 0 {
		b.WriteString("\nAcceptance criteria:\n")
		for _, c := range t.Criteria {
			fmt.Fprintf(&b, "%d. %s\n", c.N, c.Text)
		}
	}
	return b.String()
}

// Digest returns the SHA-256, in hex, of a ticket as prompts show it.
func Digest(t ticket.Ticket) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(ticketText(t))))
}

// Choose asks which of the base's modules the ticket concerns. The prompt shows the files of each.
func (m *Model) Choose(ctx context.Context, t ticket.Ticket, c change.Class, base Base) (s change.Scope,
	used cost.Usage, err error) {
	modules, paths := base.Rules.Modules, slices.Sorted(maps.Keys(base.Rules.Entries))
	reasons := map[string]any{}
	var names []string
	for _, one := range modules {
		names = append(names, one.Name)
		reasons[one.Name] = map[string]string{"type": "string"}
	}
	enum, _ := json.Marshal(names) // only strings: neither can fail
	properties, _ := json.Marshal(reasons)
	q := question{step: "modules", tokens: shortAnswer, blocks: []block{{"ticket", ticketText(t)},
		{"classification", classText(c)}, {"modules", moduleList(modules, paths, ticketText(t)+c.Summary)}},
		schema: prompt("modules.json", "{{names}}", string(enum), "{{reasons}}", string(properties))}
	used, err = askForAnswer(ctx, m, q, func(said struct {
		Modules []string       `json:"affected_modules"`
		Reasons map[string]any `json:"reasoning"`
		Files   []string       `json:"files_likely_to_change"`
	}, _ bool) ([]string, error) {
		s = change.Scope{}
		for _, p := range said.Files[:min(len(said.Files), maxLikely)] {
			s.Likely = append(s.Likely, path.Clean(p))
		}
		var why []string
		for _, name := range order.Distinct(said.Modules) {
			if !slices.Contains(names, name) {
				why = append(why, fmt.Sprintf("there is no module %.60q", name))
				continue
			}
			reason, _ := said.Reasons[name].(string)
			s.Modules = append(s.Modules, change.Module{Name: name, Reason: cutLine(reason)})
		}
		if len(s.Modules) == 0 {
			why = append(why, "it names no module")
		}
		return why, nil
	})
	return s, used, err
}

const (
	maxLikely = 40       // files that the model expects to change
	maxListed = 24 << 10 // bytes of the list of files
	fewListed = 32       // files of a module, about, that are listed even so
)

// moduleList returns the modules as the prompt shows them, with their files by folder, followed by their tests. If
// that is too long, each list has only the files whose paths fit the ticket best.
func moduleList(modules []config.Module, paths []string, ticket string) string {
	var heads, tests []string
	var lists [][]string
	paths = sortByFit(paths, ticket)
	add := func(head string, globs []string) {
		heads = append(heads, head)
		lists = append(lists, slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return linguist.Asset(p) || linguist.Unread(p) || !pattern.Matches(globs, p)
		}))
	}
	for _, m := range modules {
		add("module "+moduleTitle(m), m.Paths)
		tests = append(tests, m.Tests...)
	}
	add("tests of these modules", tests)
	for most := len(paths); ; most = most * 3 / 4 {
		var b strings.Builder
		for i, files := range lists {
			b.WriteString(heads[i] + folderList(files, most))
		}
		if b.Len() <= maxListed || most < fewListed {
			return b.String()
		}
	}
}

// folderList returns the first files, at most as many as given, a line for each folder.
func folderList(files []string, most int) string {
	shown := slices.Sorted(slices.Values(files[:min(most, len(files))]))
	var b strings.Builder
	for _, folder := range order.Grouped(shown, path.Dir) {
		before := "\n  " + path.Dir(folder[0]) + "/: "
		for _, p := range folder {
			b.WriteString(before + path.Base(p))
			before = ", "
		}
	}
	if left := len(files) - len(shown); left > 0 {
		fmt.Fprintf(&b, "\n  … and %d more files", left)
	}
	return b.String() + "\n"
}

func moduleTitle(m config.Module) string {
	return strings.TrimSuffix(m.Name+": "+cutLine(m.Description), ": ")
}
