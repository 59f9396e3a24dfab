// Package secret finds credentials in text and redacts them, before the text goes to a model, a log, a
// checkpoint or a review.
//
// It knows the formats of gitleaks' rules and of a short list of ours, also in base64, hex, percent-encoding
// or backwards. It reads only the text it is given, asks no issuer whether a credential still works, and
// never reveals one: a Leak has a kind and a place. Start reading at Redact, then at scan.go.
package secret

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/order"
)

// Find returns the credentials in a text, in order and without overlap. Its time is linear
// in the length of the text.
func Find(text string) []Leak { return find(text, nil) }

// Redact replaces every credential by its kind, as in "<redacted github-pat>". Line breaks stay: a credential
// that spans lines is replaced in each. Redacting again changes nothing, and placeholders are left alone.
func Redact(text string) string { return redact(text, nil) }

// Tail returns the end of a text, redacted if it is longer than max bytes: its last whole lines, or what stands
// behind a blank or a quote of a last line that is longer. Half a credential is not known as one, so of a text that
// was cut at its start, pass more than twice max.
func Tail(text string, max int) string {
	if len(text) <= max {
		return text
	}
	text = Redact(text)
	text = text[len(text)-min(max, len(text)):]
	if _, lines, _ := strings.Cut(text, "\n"); strings.TrimSpace(lines) != "" {
		return lines
	}
	if i := strings.IndexAny(text, " \t\"'`"); i >= 0 {
		return text[i:]
	}
	return fmt.Sprintf("(a line of more than %d bytes)", max)
}

// maxPasses limits how often a text is searched again after a replacement. Two passes are
// usual: one to find leaks, one to find no more.
const maxPasses = 8

func redact(text string, known []spelling) string {
	for range maxPasses {
		leaks := find(text, known)
		if len(leaks) == 0 {
			break
		}
		text = replace(text, leaks)
	}
	return text
}

func find(text string, known []spelling) []Leak {
	s := newScan(text)
	s.findSpellings(known)
	s.findForms()
	s.findKeys()
	s.findEncoded()
	s.findCopies()
	return withoutRedacted(text, mergeLeaks(s.leaks))
}

// mergeLeaks joins overlapping leaks. The kind is that of the highest grade, then of the first found.
func mergeLeaks(leaks []Leak) []Leak {
	order.Stable(leaks, func(a, b Leak) int { return cmp.Compare(a.Start, b.Start) })
	var out []Leak
	for _, l := range leaks {
		last := len(out) - 1
		if last < 0 || l.Start >= out[last].End {
			out = append(out, l)
			continue
		}
		end := max(l.End, out[last].End)
		if l.Grade > out[last].Grade {
			l.Start = out[last].Start
			l.Name = cmp.Or(l.Name, out[last].Name)
			out[last] = l
		}
		out[last].End = end
	}
	return out
}

var marks = lazy(`<redacted ([a-z0-9-]{1,60})>`)

// Marks counts the marks that Redact leaves in a text.
func Marks(text string) int { return len(marks().FindAllString(text, -1)) }

// withoutRedacted removes what was redacted before, so that nothing is redacted twice. A mark
// with an unknown kind does not count: it could hide a value.
func withoutRedacted(text string, leaks []Leak) []Leak {
	if len(leaks) == 0 || !strings.Contains(text, "<redacted ") {
		return leaks
	}
	var out []Leak
	covers := marks().FindAllStringSubmatchIndex(text, -1)
	covers = slices.DeleteFunc(covers, func(m []int) bool { return !forms().kinds[text[m[2]:m[3]]] })
	for _, l := range leaks {
		at := l.Start
		for len(covers) > 0 && covers[0][1] <= at {
			covers = covers[1:]
		}
		for _, m := range covers {
			if m[0] >= l.End {
				break
			}
			out = appendLeak(out, l, at, m[0])
			at = min(m[1], l.End)
		}
		out = appendLeak(out, l, at, l.End)
	}
	return out
}

func appendLeak(all []Leak, l Leak, start, end int) []Leak {
	if start >= end {
		return all
	}
	l.Start, l.End = start, end
	return append(all, l)
}

// margin returns the length of a diff's operator and the indentation at the start of a
// line. The hyphens of a key's last line are not an operator.
func margin(line string) int {
	n := 0
	if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--") ||
		strings.HasPrefix(line, "------") {
		n = 1
	}
	return len(line) - len(strings.TrimLeft(line[n:], " \t"))
}

// replace writes each leak's kind over it, line by line. Indentation, a diff's operators and line ends stay.
func replace(text string, leaks []Leak) string {
	var b strings.Builder
	at := 0
	for _, l := range leaks {
		b.WriteString(text[at:l.Start])
		for i, part := range strings.SplitAfter(text[l.Start:l.End], "\n") {
			content := strings.TrimRight(part, "\r\n")
			if i > 0 {
				kept := margin(content)
				b.WriteString(content[:kept])
				content = content[kept:]
			}
			if content != "" {
				b.WriteString("<redacted " + l.Kind + ">")
			}
			b.WriteString(part[len(strings.TrimRight(part, "\r\n")):])
		}
		at = l.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// Grade is how certain a Leak is.
type Grade int

// Guess is certain enough to redact and too weak to report. Named is a value that its name
// or place makes a credential. Issued is a credential in its issuer's own format.
const (
	Guess Grade = iota
	Named
	Issued
)

// Leak is one credential in a text. Start and End are byte offsets of what to remove, which may span several lines.
type Leak struct {
	Kind       string // such as "github-pat": lower-case letters, digits, hyphens
	Grade      Grade
	Name       string // of the variable or setting, untrusted; empty if none was seen
	Start, End int
}

// minKnown is the minimum length in bytes of a value to search for: shorter ones occur in
// ordinary text by chance.
const minKnown = 8

// knownKind is the kind of the program's own configured values.
const knownKind = "configured-credential"

// keyKind is the kind of private keys in PEM or OpenPGP armour.
const keyKind = "private-key"
