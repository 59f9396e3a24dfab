package stats

import (
	"fmt"
	"regexp"
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

// byteOrder is the mark that some editors put before UTF-8.
const byteOrder = "\ufeff"

// Entry is one more item for a list of a settings file: a glob for ignore, a guideline, or
// a rule for report.without. Exactly one of the three is set.
type Entry struct {
	Glob      string
	Guideline config.Guideline
	Rule      string
	Why       []string // lines above it as comments, without the #; one line each, inert
}

// Key is the list that the entry is for, by its name in Values.
func (e Entry) Key() string {
	switch {
	case e.Glob != "":
		return "ignore"
	case e.Rule != "":
		return "report.without"
	}
	return "guidelines"
}

// onto puts the entry before the others of its list in the settings, which it returns as items of YAML.
func (e Entry) onto(c *config.Config) (others []string) {
	switch {
	case e.Glob != "":
		return first(&c.Ignore, e.Glob)
	case e.Rule != "":
		return first(&c.Report.Without, e.Rule)
	}
	return first(&c.Guidelines, e.Guideline)
}

func first[T any](list *[]T, item T) (others []string) {
	for _, other := range *list {
		others = append(others, quoted(other))
	}
	*list = slices.Insert(slices.Clone(*list), 0, item)
	return others
}

// flow is the entry as one value.
func (e Entry) flow() string {
	if e.Key() == "guidelines" {
		return quoted(e.Guideline)
	}
	return quoted(e.Glob + e.Rule)
}

// quoted is a value as JSON, which YAML holds.
func quoted(v any) string {
	text, err := json.Marshal(v, jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true))
	if err != nil {
		panic(fmt.Sprintf("stats: texts do not encode: %v", err))
	}
	return string(text)
}

// Extend returns a settings file with entries more, each the first of its list with its reasons above it, and all
// else as it was. A list that the defaults alone have holds theirs too, since it stands in the place of that. A file
// that cannot be extended so that exactly the entries are new is an error.
func Extend(f config.File, text []byte, entries []Entry) ([]byte, error) {
	out, mark := strings.CutPrefix(string(text), byteOrder)
	windows := strings.Contains(out, "\r\n") && strings.Count(out, "\r\n") == strings.Count(out, "\n")
	if windows { // the parser counts such lines otherwise
		out = strings.ReplaceAll(out, "\r\n", "\n")
	}
	want, err := f.Parse([]byte(out))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		out = extended(out, e, e.onto(&want))
		got, err := f.Parse([]byte(out))
		if err != nil || got.Fingerprint() != want.Fingerprint() {
			return nil, problem.Usage(f.Path+" cannot be extended as it is written",
				"write the list "+e.Key()+" with one item a line, then propose again")
		}
	}
	if windows {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if mark {
		out = byteOrder + out
	}
	return []byte(out), nil
}

// extended is a text with one entry more, as far as it is written as most are: Extend
// looks at what came of it. others are those of a list that is not in the text.
func extended(text string, e Entry, others []string) string {
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return text
	}
	var at ast.Node
	if len(parsed.Docs) > 0 {
		at = parsed.Docs[0].Body
	}
	lines, missing := strings.SplitAfter(text, "\n"), strings.Split(e.Key(), ".")
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
			return inBrackets(lines, behind, n.Start.Position, e.flow(), e.Why)
		}
		indent = n.Start.Position.Column - 1
	case *ast.MappingNode:
		if n.IsFlowStyle {
			list := missing[0] + ": [" + strings.Join(append([]string{e.flow()}, others...), ", ") + "]"
			return inBrackets(lines, behind, n.Start.Position, list, e.Why)
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
	return insert(lines, behind, more+e.block(indent, others))
}

// block is the entry as an item of a block list, with the others that were only in the defaults behind it.
func (e Entry) block(indent int, others []string) string {
	margin, item := strings.Repeat(" ", indent), e.flow()
	if g := e.Guideline; e.Key() == "guidelines" {
		item = "paths: " + quoted(g.Paths) + "\n" + margin + "  text: " + quoted(g.Text)
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

// insert is a text with more lines behind the first so many.
func insert(lines []string, behind int, more string) string {
	behind = min(behind, len(lines))
	before := strings.Join(lines[:behind], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		more = "\n" + more
	}
	return before + more + strings.Join(lines[behind:], "")
}

// inBrackets is a text with an item more behind an opening bracket, and reasons above the line of its key.
func inBrackets(lines []string, key int, bracket *token.Position, item string, why []string) string {
	whole := []rune(lines[min(bracket.Line, len(lines))-1])
	if bracket.Column > len(whole) { // the parser counts otherwise
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
	return insert(lines, key-1, comments(indent, why))
}

// valueOf finds a key of a mapping; nil where it is not there.
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
