package guard

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Boundary is a random value of 32 hex digits that marks where untrusted text
// begins and ends in a prompt. One is drawn for each conversation.
type Boundary string

// NewBoundary draws a boundary from random, crypto/rand's reader where it is
// nil, and again as long as the value occurs in one of the texts.
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
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), string(b)) {
			return true
		}
	}
	return false
}

// Open is the line that begins a block with a label, and Close the one that ends it, both without a line feed.
func (b Boundary) Open(label string) string {
	return "<<<data " + string(b) + " " + labelNoise.ReplaceAllString(label, "-") + ">>>"
}

// Close is the line that ends a block.
func (b Boundary) Close() string { return "<<<end " + string(b) + ">>>" }

// Wrap is the one way from untrusted text into a prompt: open mark, text, close mark, each on lines of its own. The
// text is Visible; marks of any boundary, this boundary's value and the tokens of chat templates are broken with a
// visible backslash. The label is one of ours.
func (b Boundary) Wrap(label, text string) string {
	text = breakAfterFirst(marks, Visible(text))
	for broken := ""; broken != text; { // one token may hold another
		broken, text = text, breakTokens(text)
	}
	if b.in([]string{text}) {
		text = breakAfterFirst(regexp.MustCompile("(?i)"+regexp.QuoteMeta(string(b))), text)
	}
	return b.Open(label) + "\n" + strings.TrimSuffix(text, "\n") + "\n" + b.Close()
}

var (
	labelNoise = regexp.MustCompile(`[^A-Za-z0-9 _-]+`)
	marks      = regexp.MustCompile(`(?i)<<<\s*(?:data|end)\b`)
	// templateToken matches a text that begins with what chat templates treat as a turn's border.
	templateToken = regexp.MustCompile(`(?i)^(?:<[|｜][^\s|｜<>]{1,64}[|｜]>|<<\s*/?\s*sys\s*>>` +
		`|</?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>` +
		`|\[/?(?:inst|system_prompt|available_tools|tool_calls|tool_results)\])`)
)

// breakTokens puts a backslash behind the first character of each template token. To look
// where one can begin, rather than everywhere, is five times faster on code.
func breakTokens(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "<[")
		if at < 0 {
			break
		}
		end := at + max(len(templateToken.FindString(s[at:])), 1)
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

// breakAfterFirst puts a backslash behind the first character of each match.
func breakAfterFirst(pattern *regexp.Regexp, s string) string {
	return pattern.ReplaceAllStringFunc(s, func(m string) string { return m[:1] + `\` + m[1:] })
}
