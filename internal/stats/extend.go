package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

// Entry is a new item for a list in a settings file.
type Entry struct {
	Key  string   // of the list: ignore, guidelines or report.without
	Item any      // a config.Guideline; otherwise a glob or a rule, as a string
	Why  []string // comment lines above it, without the #; each one line, inert
}

// addTo inserts the entry at the start of its list in the settings, and returns the other items as YAML.
func (e Entry) addTo(c *config.Config) (others []string) {
	if g, ok := e.Item.(config.Guideline); ok {
		return prepend(&c.Guidelines, g)
	}
	list := &c.Report.Without
	if e.Key == "ignore" {
		list = &c.Ignore
	}
	return prepend(list, e.Item.(string))
}

func prepend[T any](list *[]T, item T) (others []string) {
	for _, other := range *list {
		others = append(others, toJSON(other))
	}
	*list = slices.Insert(slices.Clone(*list), 0, item)
	return others
}

// toJSON returns a value as JSON, which is valid YAML.
func toJSON(v any) string {
	text, err := json.Marshal(v, jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true))
	if err != nil {
		panic(fmt.Sprintf("stats: texts do not encode: %v", err))
	}
	return string(text)
}

// Extend returns a settings file with the entries added, each first in its list with its reasons above it, and all
// else unchanged. If only the defaults have a list, Extend copies their items, since a list replaces that of the
// defaults. It returns an error if it cannot add exactly the entries.
func Extend(f config.File, text []byte, entries []Entry) ([]byte, error) {
	out := string(text)
	want, err := f.Parse([]byte(out))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		out = insertEntry(out, e, e.addTo(&want))
		got, err := f.Parse([]byte(out))
		if err != nil || got.Fingerprint() != want.Fingerprint() {
			return nil, problem.Usage(f.Path+" cannot be extended as it is written",
				"write the list "+e.Key+" with one item a line, then propose again")
		}
	}
	return []byte(out), nil
}

// insertEntry returns a text with one entry added. It handles the common ways to write a file;
// Extend checks the result. others holds the items of a list that the text does not have.
func insertEntry(text string, e Entry, others []string) string {
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return text
	}
	var at ast.Node
	if len(parsed.Docs) > 0 {
		at = parsed.Docs[0].Body
	}
	lines, missing := strings.SplitAfter(text, "\n"), strings.Split(e.Key, ".")
	behind, indent := len(lines), 0
	for len(missing) > 0 {
		found := valueOf(at, missing[0])
		if found == nil {
			break
		}
		position := found.Key.GetToken().Position
		at, missing, behind, indent = found.Value, missing[1:], position.Line, position.Column+1
	}
	switch n := at.(type) {
	case *ast.SequenceNode:
		if n.IsFlowStyle {
			return insertInBrackets(lines, behind, n.Start.Position, toJSON(e.Item), e.Why)
		}
		indent = n.Start.Position.Column - 1
	case *ast.MappingNode:
		if n.IsFlowStyle {
			list := missing[0] + ": [" + strings.Join(append([]string{toJSON(e.Item)}, others...), ", ") + "]"
			return insertInBrackets(lines, behind, n.Start.Position, list, e.Why)
		}
		indent = n.Values[0].Key.GetToken().Position.Column - 1
	}
	more := ""
	for _, key := range missing {
		more += strings.Repeat(" ", indent) + key + ":\n"
		indent += 2
	}
	if len(missing) == 0 {
		others = nil
	}
	return insertLines(lines, behind, more+e.blockYAML(indent, others))
}

// blockYAML returns the entry as an item of a block list, followed by the items that only the defaults have.
func (e Entry) blockYAML(indent int, others []string) string {
	margin, item := strings.Repeat(" ", indent), toJSON(e.Item)
	if g, ok := e.Item.(config.Guideline); ok {
		item = "paths: " + toJSON(g.Paths) + "\n" + margin + "  text: " + toJSON(g.Text)
	}
	text := comments(indent, e.Why) + margin + "- " + item + "\n"
	if len(others) > 0 {
		text += margin + "# of the defaults, in whose place this list stands\n"
	}
	for _, other := range others {
		text += margin + "- " + other + "\n"
	}
	return text
}

func comments(indent int, why []string) (text string) {
	for _, line := range why {
		text += strings.TrimRight(strings.Repeat(" ", indent)+"# "+line, " ") + "\n"
	}
	return text
}

// insertLines returns the lines as one text, with more inserted after the first n of them.
func insertLines(lines []string, n int, more string) string {
	n = min(n, len(lines))
	before := strings.Join(lines[:n], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		more = "\n" + more
	}
	return before + more + strings.Join(lines[n:], "")
}

// insertInBrackets returns the text with an item inserted after an opening bracket, and reasons above its key's line.
func insertInBrackets(lines []string, key int, bracket *token.Position, item string, why []string) string {
	whole := []rune(lines[min(bracket.Line, len(lines))-1])
	if bracket.Column > len(whole) { // the parser counts differently
		return ""
	}
	behind := string(whole[bracket.Column:])
	rest := strings.TrimLeft(behind, " ")
	switch {
	case strings.HasPrefix(rest, "\n"):
		item += ","
	case rest != "" && !strings.ContainsAny(rest[:1], "]}"):
		item += ", "
	}
	lines[bracket.Line-1] = string(whole[:bracket.Column]) + behind[:len(behind)-len(rest)] + item + rest
	indent := len(lines[key-1]) - len(strings.TrimLeft(lines[key-1], " "))
	return insertLines(lines, key-1, comments(indent, why))
}

// valueOf returns the entry of a mapping with that key, or nil.
func valueOf(in ast.Node, key string) *ast.MappingValueNode {
	m, ok := in.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, v := range m.Values {
		if name, text := v.Key.(*ast.StringNode); text && name.Value == key {
			return v
		}
	}
	return nil
}

// The bounds of what a settings file says about a habit.
const (
	maxEvidence = 8   // drops to list
	maxWhy      = 110 // runes per listed drop
)

// Proposed returns the entries that habits suggest for a settings file, each with the decisions behind it, and their
// habits. It leaves out what the settings already have, and lists that the defaults lock. Text by people is inert.
func Proposed(habits []Habit, now config.Config) (asked []Habit, entries []Entry) {
	for _, h := range habits {
		e, after := h.entry(), now
		item := strings.TrimSuffix(toJSON(e.Item), `"}`) // the guideline that is there may say more
		has := func(there string) bool { return strings.HasPrefix(there, item) }
		if !slices.ContainsFunc(e.addTo(&after), has) && !now.Locks(e.Key) {
			asked, entries = append(asked, h), append(entries, e)
		}
	}
	return asked, entries
}

func (h Habit) entry() Entry {
	switch {
	case h.Rule != "":
		return Entry{Key: "report.without", Item: h.Rule, Why: h.why()}
	case h.Category == "":
		return Entry{Key: "ignore", Item: h.Glob, Why: h.why()}
	}
	text := fmt.Sprintf("Report no findings of the category %s in these files.", h.Category)
	return Entry{Key: "guidelines", Item: config.Guideline{Paths: []string{h.Glob}, Text: text}, Why: h.why()}
}

// why returns the decisions behind a habit, one per line.
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
