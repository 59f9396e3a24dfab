package ticket

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FromMarkdown reads a ticket from a file's text: its first heading is the summary, the
// entries under "Acceptance criteria" the criteria, all of it but the heading the
// description. The key is the file's name without extension where that has a key's form,
// else file- and 8 digits of the text's SHA-256.
func FromMarkdown(name, text string) Ticket {
	sum := sha256.Sum256([]byte(text))
	t := Ticket{Key: "file-" + hex.EncodeToString(sum[:])[:8], Source: "file", Criteria: CriteriaIn(text)}
	if Project(name) != "" {
		t.Key = name
	}
	for i := range t.Criteria {
		t.Criteria[i].N = i + 1
	}
	var rest []string
	for line := range strings.Lines(text) {
		heading := strings.TrimSpace(strings.TrimLeft(line, "# \t"))
		if t.Summary == "" && strings.HasPrefix(line, "#") && heading != "" {
			t.Summary = strings.Join(strings.Fields(heading), " ")
			continue
		}
		rest = append(rest, line)
	}
	t.Description = strings.TrimSpace(strings.Join(rest, ""))
	for _, prefix := range []string{t.Key + ": ", t.Key + " ", "[" + t.Key + "] "} {
		t.Summary = strings.TrimPrefix(t.Summary, prefix)
	}
	return t
}
