package decision

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/finding"
)

// maxText is the longest decision that is read, in bytes.
const maxText = 64 << 10

// MaxFeedback is the longest feedback of a revision, in bytes.
const MaxFeedback = 4 << 10

var idPattern = regexp.MustCompile(`^F[1-9][0-9]{0,5}$`)

func commands() []string {
	return []string{"/approve", "/abort", "/revise", "/drop", "/edit", "/summary", "/severity"}
}

// Parse reads a decision: commands, one a line, and a note made of the lines
// that do not begin with a slash. White space and invisible characters in
// front of a slash do not hide a command, and a line that is a command but for
// a character that looks like a slash is no note: it is refused. Parse looks at
// each line alone; what lines say together, and about a draft, is Check's. The
// error is an *Error that lists every line that could not be read.
func Parse(text string) (Decision, error) {
	if len(text) > maxText {
		return Decision{}, &Error{Lines: []BadLine{{Reason: fmt.Sprintf("the text has %d bytes, more than %d", len(text), maxText)}}}
	}
	var d Decision
	var note []string
	var bad Error
	for i, line := range lines(text) {
		line = strings.TrimFunc(line, unseen)
		c := Command{Line: i + 1, Text: line}
		switch {
		case !strings.HasPrefix(line, "/") && !looksLikeCommand(line):
			note = append(note, line)
		default:
			bad.add(c, d.read(c)...)
		}
	}
	d.Note = strings.Trim(strings.Join(note, "\n"), "\n")
	if err := bad.orNil(); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// lines cuts at everything that a reader could see as a line's end.
func lines(text string) []string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	return strings.Split(breaks.Replace(text), "\n")
}

// unseen reports whether a reader sees nothing where r stands.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// read adds one command to the decision; it gives the reasons against that.
func (d *Decision) read(c Command) []string {
	if !strings.HasPrefix(c.Text, "/") {
		return []string{"its first character only looks like a slash; type the line anew"}
	}
	switch err := d.command(c); {
	case err == nil:
		return nil
	case strings.ContainsFunc(c.Text, wide):
		return []string{err.Error(), "some characters are full-width ones; type the line anew"}
	default:
		return []string{err.Error()}
	}
}

func (d *Decision) command(c Command) error {
	name, rest := c.Text, ""
	if i := strings.IndexFunc(c.Text, unicode.IsSpace); i >= 0 {
		name, rest = c.Text[:i], strings.TrimSpace(c.Text[i:])
	}
	c.Name = name
	var err error
	switch name {
	case "/approve", "/abort", "/revise":
		err = d.verdict(verdictOf(name), rest)
	case "/drop", "/summary":
		c.IDs, err = d.takeOut(name, rest)
	case "/edit":
		c.IDs, err = d.edit(rest)
	case "/severity":
		c.IDs, err = d.regrade(rest)
	default:
		return unknown(name)
	}
	d.Commands = append(d.Commands, c)
	return err
}

func verdictOf(name string) Verdict {
	switch v := Verdict(strings.TrimPrefix(name, "/")); v {
	case Approve, Abort, Revise:
		return v
	}
	return ""
}

// verdict keeps the first verdict; Check refuses a second one.
func (d *Decision) verdict(v Verdict, rest string) error {
	switch {
	case v == Revise && rest == "":
		return errors.New("say what should be different: /revise TEXT")
	case v == Revise && len(rest) > MaxFeedback:
		return fmt.Errorf("the feedback has %d bytes, more than %d", len(rest), MaxFeedback)
	case v != Revise && rest != "":
		return fmt.Errorf("nothing stands behind /%s; a note has its own line", v)
	}
	if d.Verdict == "" {
		d.Verdict, d.Feedback = v, rest
	}
	return nil
}

// takeOut reads "F2 F5" with an optional reason behind a colon.
func (d *Decision) takeOut(name, rest string) ([]string, error) {
	head, reason, _ := strings.Cut(rest, ":")
	ids := strings.FieldsFunc(head, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(ids) == 0 {
		return nil, errors.New("no finding is named")
	}
	reason = strings.TrimSpace(reason)
	for _, id := range ids {
		switch {
		case !idPattern.MatchString(id):
			return nil, errors.New(noID(name, id))
		case name == "/drop":
			d.Drop = append(d.Drop, Drop{ID: id, Reason: reason})
		default:
			d.Move = append(d.Move, Move{ID: id, Reason: reason})
		}
	}
	return ids, nil
}

func (d *Decision) edit(rest string) ([]string, error) {
	head, body, found := strings.Cut(rest, ":")
	id, body := strings.TrimSpace(head), strings.TrimSpace(body)
	if !found || !idPattern.MatchString(id) {
		return nil, errors.New("expected /edit F3: NEW TEXT, one finding and the text on one line")
	}
	if body == "" {
		return nil, fmt.Errorf("the new text is missing; /drop %s leaves the finding out", id)
	}
	d.Edit = append(d.Edit, Edit{ID: id, Body: body})
	return []string{id}, nil
}

func (d *Decision) regrade(rest string) ([]string, error) {
	words := strings.Fields(rest)
	if len(words) != 2 || !idPattern.MatchString(words[0]) {
		return nil, errors.New("expected /severity F6 minor, one finding a line")
	}
	severity, err := finding.ParseSeverity(plain(words[1], shownWord))
	if err != nil {
		return nil, err
	}
	d.Severity = append(d.Severity, Regrade{ID: words[0], Severity: severity})
	return words[:1], nil
}
