package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/wording"
)

// maxArguments is the limit of a call's arguments, in bytes.
const maxArguments = 16 << 10

// Limits of what is shown on one line, in characters.
const (
	maxName  = 60
	maxShown = 500
)

// safeLine returns untrusted text as one line, without credentials.
func safeLine(text string) string { return guard.Line(secret.Redact(text), maxShown) }

// withBars redacts a text, cuts it at max characters, and puts "| " before each line, so that no
// line of it can pass for one of ours.
func withBars(text string, max int) string {
	text = guard.Text(cutLine(secret.Redact(strings.TrimSpace(cutHead(text, 16*max))), max))
	if text == "" {
		return "| (empty)\n"
	}
	return "| " + strings.ReplaceAll(text, "\n", "\n| ") + "\n"
}

// onePath returns a path that stays on one line.
func onePath(p string) string { return strings.ReplaceAll(guard.Visible(p), "\n", "<U+000A>") }

// cutLine cuts a line and adds how much was cut.
func cutLine(line string, max int) string {
	kept, left := wording.Clip(line, max)
	if left > 0 {
		kept += fmt.Sprintf("… (%d characters more)", left)
	}
	return kept
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// cutHead returns the beginning of a text, at most max bytes: whole lines, or whole characters if the
// last line takes more than half.
func cutHead(text string, max int) string {
	if len(text) <= max {
		return text
	}
	if end := strings.LastIndexByte(text[:max], '\n'); end > max/2 {
		return text[:end+1]
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}

// decode parses the arguments of a call: one JSON object with exactly the keys of Args, without
// duplicates. Errors are written for the model, and contain nothing of its text. Missing keys and
// null are zero values.
func decode[Args any](text, keys string) (a Args, err error) {
	if len(text) > maxArguments {
		return a, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		text = "{}" // some servers send this for a call without arguments
	}
	if text[0] != '{' || json.Unmarshal([]byte(text), &a, json.RejectUnknownMembers(true)) != nil {
		return a, fmt.Errorf("the arguments are not one JSON object of these keys and types: %s", keys)
	}
	return a, nil
}
