package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
)

// numbered matches a line of a diff as a prompt shows it that has a number on
// the new side.
var numbered = regexp.MustCompile(`(?m)^ *[0-9]* +([0-9]+) [ +] `)

// Shown leaves out of an answer about a file what is about lines of its patch that
// a user turn does not show: a long file is asked about in parts, and each is
// answered for itself. An answer that is none of Answer's stays as it is.
func Shown(answer, user, patch string) string {
	var said struct {
		Findings []claim `json:"findings"`
	}
	if json.Unmarshal([]byte(answer), &said) != nil {
		return answer
	}
	lines := map[int]bool{}
	for _, m := range numbered.FindAllStringSubmatch(user, -1) {
		n, _ := strconv.Atoi(m[1]) // digits by the expression
		lines[n] = true
	}
	p := newPatch(patch)
	return encode(slices.DeleteFunc(said.Findings, func(c claim) bool { return p.has(c.Line) && !lines[c.Line] }))
}
