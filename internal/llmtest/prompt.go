package llmtest

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Line is a line of a prompt's diff. Old and New are its numbers, 0 for none; Op is ' ', '+' or '-'.
type Line struct {
	Old, New int
	Op       byte
	Text     string
}

var (
	boundary    = regexp.MustCompile(`[0-9a-f]{32}`)
	stayedLine  = regexp.MustCompile(`^ *([0-9]+) +([0-9]+) {3}(.*)$`)
	removedLine = regexp.MustCompile(`^ *([0-9]+) {8}- (.*)$`)
	addedLine   = regexp.MustCompile(`^ {7} *([0-9]+) \+ (.*)$`)
)

// understand reads a user turn as a model would: path, lines of the diff, whether it asks for a repair.
func understand(user string) (path string, lines []Line, repair bool) {
	parts := Data(user)
	for _, line := range strings.Split(parts["diff"], "\n") {
		if l, ok := readLine(line); ok {
			lines = append(lines, l)
		}
	}
	_, repair = parts["answer"]
	return strings.TrimSuffix(parts["path"], "\n"), lines, repair
}

// blocks goes through the lines of a turn, each with the label of the marks that it stands between, "" for none. Marks
// are the lines that hold the turn's random number; the one that opens names the label, and comes as an empty line.
func blocks(turn string) iter.Seq2[string, string] {
	return func(yield func(label, line string) bool) {
		number, label := boundary.FindString(turn), ""
		for line := range strings.Lines(turn) {
			_, behind, marked := strings.Cut(line, number)
			switch marked = marked && number != ""; {
			case marked && label != "":
				label = ""
				continue
			case marked:
				label, line = strings.Trim(behind, "> \n"), ""
			}
			if !yield(label, line) {
				return
			}
		}
	}
}

// Data returns what stands between the marks of a turn, by label. Blocks of one label stand behind each other.
func Data(turn string) map[string]string {
	parts := map[string]string{}
	for label, line := range blocks(turn) {
		if label != "" {
			parts[label] += line
		}
	}
	return parts
}

// Outside returns a turn without what stands between its marks.
func Outside(turn string) (out string) {
	for label, line := range blocks(turn) {
		if label == "" {
			out += line
		}
	}
	return out
}

func readLine(line string) (Line, bool) {
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // digits by the expression
		return n
	}
	if m := addedLine.FindStringSubmatch(line); m != nil {
		return Line{New: number(m[1]), Op: '+', Text: m[2]}, true
	}
	if m := removedLine.FindStringSubmatch(line); m != nil {
		return Line{Old: number(m[1]), Op: '-', Text: m[2]}, true
	}
	if m := stayedLine.FindStringSubmatch(line); m != nil {
		return Line{Old: number(m[1]), New: number(m[2]), Op: ' ', Text: m[3]}, true
	}
	return Line{}, false
}
