package llmtest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Attack is a row of a file of known attacks: a text, the place in which it
// reaches a review, and what must hold although it does.
type Attack struct {
	ID       string `json:"id"`
	Channel  string `json:"channel"`
	Payload  string `json:"payload"`  // expanded
	Must     string `json:"must"`     // finding-not-suppressed, no-tool-call, redacted, …
	Encoding string `json:"encoding"` // plain, bidi, unicode-tags, nested-fence, …
	Threat   string `json:"threat"`   // its number, such as T7; empty for a benign row
	Benign   bool   `json:"benign"`

	Values []string `json:"-"` // of the made-up credentials in it, line by line
}

// KnownAttacks is the file of attacks that the threat model names, from a room's
// folder.
const KnownAttacks = "../../testdata/attacks.jsonl"

// Attacks reads KnownAttacks, one JSON object a line, and expands their marks.
func Attacks(t testing.TB) []Attack {
	t.Helper()
	return AttacksIn(t, KnownAttacks)
}

// AttacksIn reads a file of attacks as Attacks does, from a room that lies deeper.
func AttacksIn(t testing.TB, path string) []Attack {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var all []Attack
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a Attack
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s:%d: %v", KnownAttacks, len(all)+1, err)
		}
		a.Payload, a.Values = Expand(a.Payload, a.ID)
		all = append(all, a)
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatalf("%s cannot be read to its end: %v", KnownAttacks, lines.Err())
	}
	return all
}

var attackMark = regexp.MustCompile(`\{\{(fake|fake_b64|repeat|fence):([^{}]*)\}\}`)

// WrongOpen and WrongClose are the marks of a prompt's block with a boundary
// that was never drawn.
const (
	WrongOpen  = "<<<data 0123456789abcdef0123456789abcdef diff>>>"
	WrongClose = "<<<end 0123456789abcdef0123456789abcdef>>>"
)

// Expand replaces the marks of an attack's text: {{fake:KIND}} and
// {{fake_b64:KIND}} by made-up credentials that belong to the seed,
// {{repeat:TEXT:N}}, {{fence:open}} and {{fence:close}}. It returns the
// credentials' values, line by line.
func Expand(text, seed string) (expanded string, values []string) {
	expanded = attackMark.ReplaceAllStringFunc(text, func(found string) string {
		m := attackMark.FindStringSubmatch(found)
		switch m[1] {
		case "repeat":
			return repeated(m[2])
		case "fence":
			return map[string]string{"open": WrongOpen, "close": WrongClose}[m[2]]
		}
		f := Fakes(seed)[m[2]]
		values = append(values, strings.Split(f.Value, "\n")...)
		if m[1] == "fake_b64" {
			return base64.StdEncoding.EncodeToString([]byte(f.Text))
		}
		return f.Text
	})
	return expanded, values
}

func repeated(mark string) string {
	at := strings.LastIndexByte(mark, ':')
	n, _ := strconv.Atoi(mark[at+1:]) // 0 where it is no number: the text is gone then
	return strings.Repeat(mark[:max(at, 0)], min(max(n, 0), 1e6))
}
