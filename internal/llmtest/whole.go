package llmtest

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// WholeFile is a file of a question about the whole change, as far as it is shown.
type WholeFile struct {
	Path  string
	Lines []Line
}

// WholeFiles reads the files of a question about the whole change.
func WholeFiles(r Request) (all []WholeFile) {
	for label, line := range blocks(r.User) {
		l, numbered := readLine(strings.TrimSuffix(line, "\n"))
		switch {
		case label == "path" && line != "":
			all = append(all, WholeFile{Path: strings.TrimSuffix(line, "\n")})
		case label == "diff" && numbered:
			file := &all[len(all)-1]
			file.Lines = append(file.Lines, l)
		}
	}
	return all
}

// WholeFinding is a finding on a whole change.
type WholeFinding struct {
	Path string `json:"path"`
	Finding
}

// Seen is the answer to a question about the whole change, in the form that the question asks for.
func Seen(r Request, text string, found []WholeFinding, criteria []finding.Criterion,
	unasked []finding.Unasked) Answer {
	answer, keys := object{}, keysOf(r.Schema)
	criteria = append([]finding.Criterion{}, criteria...)
	for i := range criteria {
		criteria[i].Evidence = append([]finding.Lines{}, criteria[i].Evidence...)
	}
	for key, value := range map[string]any{"overview": text, "findings": append([]WholeFinding{}, found...),
		"criteria": criteria, "unasked": append([]finding.Unasked{}, unasked...)} {
		if len(keys) == 0 || slices.Contains(keys, key) {
			answer[key] = value
		}
	}
	return saying(answer)
}

// Nothing is the script that says of a whole change that it changes something, and of every finding that it holds.
func Nothing(r Request) Answer {
	if r.Question == Recheck {
		return Verdicts(r, func(Claim) bool { return true })
	}
	return Seen(r, "The change changes something.", nil, nil, nil)
}
