package guard

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// Boundary is a random value of 32 hex digits that marks the beginning and end of untrusted
// text in a prompt. Each conversation draws a new one.
type Boundary string

// NewBoundary draws a boundary from random, or from crypto/rand if it is nil. It draws
// again as long as the value occurs in one of the texts.
func NewBoundary(random io.Reader, texts ...string) (Boundary, error) {
	if random == nil {
		random = rand.Reader
	}
	for {
		var value [16]byte
		if _, err := io.ReadFull(random, value[:]); err != nil {
			return "", fmt.Errorf("drawing a prompt boundary: %w", err)
		}
		if b := Boundary(hex.EncodeToString(value[:])); !b.in(texts) {
			return b, nil
		}
	}
}

func (b Boundary) in(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(strings.ToLower(text), string(b))
	})
}

// Open returns the line that begins a block with a label, without a line feed.
func (b Boundary) Open(label string) string {
	return "<<<data " + string(b) + " " + labelNoise().ReplaceAllString(label, "-") + ">>>"
}

// Close returns the line that ends a block, without a line feed.
func (b Boundary) Close() string { return "<<<end " + string(b) + ">>>" }

// Wrap is the only way for untrusted text into a prompt: opening mark, text, closing mark, each
// on its own line. The text is made Visible; marks of any boundary, this boundary's value and
// tokens of chat templates are broken with a visible backslash. The label must be one of ours.
func (b Boundary) Wrap(label, text string) string {
	text = breakAfterFirst(marks(), Visible(text))
	for broken := ""; broken != text; { // one token may contain another
		broken, text = text, breakTokens(text)
	}
	if b.in([]string{text}) {
		text = breakAfterFirst(regexp.MustCompile("(?i)"+regexp.QuoteMeta(string(b))), text)
	}
	return b.Open(label) + "\n" + strings.TrimSuffix(text, "\n") + "\n" + b.Close()
}

var (
	labelNoise = pattern.Lazy(`[^A-Za-z0-9 _-]+`)
	marks      = pattern.Lazy(`(?i)<<<\s*(?:data|end)\b`)
	// templateToken matches, at the start of a text, what chat templates treat as the border of a turn. Those that code
	// has in the other case, List<S> and regs[inst], count only as templates write them.
	templateToken = pattern.Lazy(`(?i)^(?:<[|｜][^\s|｜<>]{1,64}[|｜]>|<<\s*/?\s*sys\s*>>` +
		`|</?(?:(?-i:s)|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>` +
		`|\[/?(?:(?-i:INST)|system_prompt|available_tools|tool_calls|tool_results)\])`)
)

// breakTokens puts a backslash after the first character of each template token. Matching
// only where one can begin, rather than everywhere, is five times faster on code.
func breakTokens(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "<[")
		if at < 0 {
			break
		}
		end := at + max(len(templateToken().FindString(s[at:])), 1)
		b.WriteString(s[:at+1])
		if end > at+1 {
			b.WriteByte('\\')
		}
		b.WriteString(s[at+1 : end])
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// breakAfterFirst puts a backslash after the first character of each match.
func breakAfterFirst(pattern *regexp.Regexp, s string) string {
	return pattern.ReplaceAllStringFunc(s, func(m string) string { return m[:1] + `\` + m[1:] })
}
