package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pattern"
)

// Line is a line of a file that a finding rests on.
type Line struct {
	Path   string
	Number int
	Text   string
}

// Saw reports whether a request shows all of the lines, in its prompt or in a tool's
// result: the number before the text, in a text that contains the path. Empty lines
// count as shown.
func Saw(q llm.Request, lines []Line) bool {
	shown := []string{q.User}
	asked := map[string]string{}
	for _, turn := range q.Turns {
		for _, c := range turn.ToolCalls {
			asked[c.ID] = c.Arguments
		}
		if turn.Role == llm.RoleTool {
			shown = append(shown, asked[turn.CallID]+"\n"+turn.Text)
		}
	}
	return !slices.ContainsFunc(lines, func(l Line) bool {
		return !slices.ContainsFunc(shown, l.shownIn) && strings.TrimSpace(l.Text) != ""
	})
}

const maxCompared = 100 // characters of a line to compare: long lines are not shown in full

func (l Line) shownIn(text string) bool {
	if !strings.Contains(text, l.Path) {
		return false
	}
	runes := []rune(strings.TrimSpace(l.Text))
	wanted := string(runes[:min(len(runes), maxCompared)])
	for line := range strings.Lines(text) {
		before, _, found := strings.Cut(line, wanted)
		numbers := strings.FieldsFunc(before, func(r rune) bool { return !unicode.IsDigit(r) })
		if found && slices.Contains(numbers, strconv.Itoa(l.Number)) {
			return true
		}
	}
	return false
}

// The bounds of looking around: calls per turn, and lines to read around a hit.
const (
	maxCalls   = 8
	linesAbove = 15
	linesBelow = 25
)

// Look returns the tool calls that a reviewer makes next: first searches for the names in
// the changed lines, then reads around the hits in other files. It returns none without
// tools, if asked for the answer, or after two rounds.
func Look(q llm.Request, f diff.File) []llm.Call {
	rounds := 0
	for _, turn := range q.Turns {
		if turn.Role == llm.RoleAssistant {
			rounds++
		}
	}
	asked := len(q.Turns) > 0 && q.Turns[len(q.Turns)-1].Role == llm.RoleUser
	switch {
	case len(q.Tools) == 0 || asked:
		return nil
	case rounds == 0:
		return withIDs(searchCalls(f))
	case rounds == 1:
		return withIDs(readCalls(q, f))
	}
	return nil
}

// withIDs returns the first maxCalls calls with ids.
func withIDs(calls []llm.Call) []llm.Call {
	calls = calls[:min(len(calls), maxCalls)]
	for i := range calls {
		calls[i].ID = fmt.Sprintf("%s-%d", calls[i].Name, i+1)
	}
	return calls
}

func newCall(tool string, arguments map[string]any) llm.Call {
	text, _ := json.Marshal(arguments) // never fails for plain values
	return llm.Call{Name: tool, Arguments: string(text)}
}

var word = pattern.Lazy(`[\pL_][\pL\pN_]{2,}`)

// searchCalls returns calls that search for the names in the changed lines and above the hunks, the longest first.
func searchCalls(f diff.File) (calls []llm.Call) {
	var names []string
	hunks, _ := diff.Hunks(f.Patch) // a malformed patch has no names
	for _, h := range hunks {
		for _, l := range append([]diff.Line{{Op: diff.Add, Text: h.Section}}, h.Lines...) {
			if l.Op != diff.Context {
				names = append(names, word().FindAllString(l.Text, -1)...)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, name := range names {
		calls = append(calls, newCall("find_references", map[string]any{"name": name}))
	}
	return calls
}

// hitLine matches a line of a search result: path:line: text.
var hitLine = pattern.Lazy(`(?m)^\s*(\S+):(\d+): `)

// readCalls returns calls that read the other files that the searches found, at their first hit.
func readCalls(q llm.Request, f diff.File) (calls []llm.Call) {
	opened := map[string]bool{f.Path: true}
	for _, turn := range q.Turns {
		if turn.Role != llm.RoleTool {
			continue
		}
		for _, m := range hitLine().FindAllStringSubmatch(turn.Text, -1) {
			if line, err := strconv.Atoi(m[2]); err == nil && !opened[m[1]] {
				opened[m[1]] = true
				calls = append(calls, newCall("read_file", map[string]any{"path": m[1], "side": "head",
					"start_line": max(1, line-linesAbove), "end_line": line + linesBelow}))
			}
		}
	}
	return calls
}
