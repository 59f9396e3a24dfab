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

// parseTurn parses a user turn's blocks as a model would: path, lines of the diff, whether it asks for a repair.
func parseTurn(parts map[string]string) (path string, lines []Line, repair bool) {
	for line := range strings.SplitSeq(parts["diff"], "\n") {
		if l, ok := readLine(line); ok {
			lines = append(lines, l)
		}
	}
	_, repair = parts["answer"]
	return strings.TrimSuffix(parts["path"], "\n"), lines, repair
}

// blocks iterates over the lines of a turn, each with the label of its block, "" outside a block. Lines with the
// turn's random number mark blocks; an opening mark names the label, and is yielded as an empty line.
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

// Data returns the content of a turn's blocks by label, blocks of the same label joined.
func Data(turn string) map[string]string {
	lines, parts := map[string][]string{}, map[string]string{}
	for label, line := range blocks(turn) {
		lines[label] = append(lines[label], line)
	}
	for label, all := range lines {
		parts[label] = strings.Join(all, "")
	}
	delete(parts, "")
	return parts
}

// Outside returns a turn without its blocks.
func Outside(turn string) string {
	var out strings.Builder
	for label, line := range blocks(turn) {
		if label == "" {
			out.WriteString(line)
		}
	}
	return out.String()
}

func readLine(line string) (Line, bool) {
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // the expression matches digits
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
