package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/secret"
)

// maxArguments bounds the bytes of a call's arguments.
const maxArguments = 16 << 10

// Bounds of what is shown on one line, in characters.
const (
	maxName  = 60
	maxShown = 500
)

// safe is untrusted text on one line, without credentials.
func safe(text string) string { return guard.Line(secret.Redact(text), maxShown) }

// barred puts "| " before each line of a text that is cut at so many characters,
// free of credentials before it is cut. What is shown behind it cannot pass for a
// line of ours.
func barred(text string, max int) string {
	text = guard.Text(short(secret.Redact(strings.TrimSpace(head(text, 16*max))), max))
	if text == "" {
		return "| (empty)\n"
	}
	return "| " + strings.ReplaceAll(text, "\n", "\n| ") + "\n"
}

// onePath writes a path so that it stays on its line.
func onePath(p string) string { return strings.ReplaceAll(guard.Visible(p), "\n", "<U+000A>") }

// short cuts a line and says how much is behind the cut.
func short(line string, max int) string {
	if len(line) <= max {
		return line
	}
	characters := []rune(line)
	if len(characters) <= max {
		return line
	}
	return fmt.Sprintf("%s… (%d characters more)", string(characters[:max]), len(characters)-max)
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// head is the beginning of a text of at most so many bytes: whole lines, and
// whole characters where the last line alone takes more than half of it.
func head(text string, max int) string {
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
