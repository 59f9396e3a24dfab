package decision

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

const maxText = 64 << 10

// MaxFeedback is the longest feedback of a revision, in bytes.
const MaxFeedback = 4 << 10

var idPattern = pattern.Lazy(`^(?:F[1-9][0-9]{0,5}|` + OverviewID + `)$`)

func commands() []string {
	return []string{"/approve", "/abort", "/revise", "/drop", "/keep", "/edit", "/summary", "/severity"}
}

// Parse parses a decision: commands, one per line, and a note made of the other lines. It refuses
// a note line that could be meant as a command. Check validates lines against each other and
// against a draft. The error is an *Error that lists every line that could not be parsed.
func Parse(text string) (Decision, error) {
	if len(text) > maxText {
		reason := fmt.Sprintf("has %d bytes, more than %d", len(text), maxText)
		return Decision{}, &Error{Lines: []BadLine{{Reason: reason}}}
	}
	var d Decision
	var note []string
	var bad Error
	for i, line := range splitLines(text) {
		line = strings.TrimFunc(line, isInvisible)
		c := Command{Line: i + 1, Text: line}
		switch {
		case fence().MatchString(line):
		case strings.HasPrefix(line, "/"):
			said, err := d.addCommand(c)
			note = append(note, said...)
			if err != nil {
				bad.add(c, err.Error())
			} else if hasSecondCommand(line) {
				bad.add(c, "contains a second command: put it on its own line, or its verb in code marks")
			}
		default:
			bad.add(c, refuseNote(line)...)
			note = append(note, line)
		}
	}
	d.Note = strings.Trim(strings.Join(note, "\n"), "\n")
	if err := bad.orNil(); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// fence matches a line that opens or closes a code fence.
var fence = pattern.Lazy("^(```+|~~~+)[ \t]*[A-Za-z0-9_+-]*$")

// Commands turns the input "commands" into text for Parse. In that input every line is a
// command, and a single line, which is all that a dispatch form has, may hold several: it
// is cut before each verb that follows white space. The error is an *Error.
func Commands(text string) (string, error) {
	all := splitLines(strings.TrimFunc(text, isInvisible))
	var bad Error
	if cut := splitAtVerbs(all[0]); len(all) == 1 && len(cut) > 1 {
		for _, part := range cut {
			if !isCommand(part) {
				bad.add(Command{Line: 1, Text: part},
					"the line is cut before each verb, and this part is not a complete command: put it last, or the "+
						"verb in code marks")
			}
		}
		return strings.Join(cut, "\n"), bad.orNil()
	}
	for i, line := range all {
		c := Command{Line: i + 1, Text: strings.TrimFunc(line, isInvisible)}
		if _, err := new(Decision).addCommand(c); strings.HasPrefix(c.Text, "/") && err != nil {
			bad.add(c, err.Error())
		} else if c.Text != "" && !strings.HasPrefix(c.Text, "/") && !fence().MatchString(c.Text) {
			bad.add(c, "every line here is a command, and begins with a slash")
		}
	}
	return strings.Join(all, "\n"), bad.orNil()
}

var nextVerb = pattern.Lazy(`(?i)\s/` + verbs + `(?:[.,;:!\s]|$)`)

// splitAtVerbs cuts a line before each verb that follows white space.
func splitAtVerbs(line string) (all []string) {
	for at := nextVerb().FindStringIndex(line); at != nil; at = nextVerb().FindStringIndex(line) {
		all, line = append(all, strings.TrimSpace(line[:at[0]])), strings.TrimSpace(line[at[0]:])
	}
	return append(all, line)
}

// hasSecondCommand reports whether a command contains a second one. Feedback may: it changes nothing.
func hasSecondCommand(line string) bool {
	return slices.ContainsFunc(splitAtVerbs(line)[1:], isCommand) && foldWord(firstWord(line)) != "/revise"
}

// isCommand reports whether a text is a command whatever paths the draft has.
func isCommand(text string) bool {
	var d Decision
	_, err := d.addCommand(Command{Text: text})
	return err == nil && !d.Commands[0].isVague()
}

// splitLines splits a text at everything that a reader could see as the end of a line.
func splitLines(text string) []string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
		"\u2029", "\n")
	return strings.Split(breaks.Replace(text), "\n")
}

// isInvisible reports whether r is invisible to a reader.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// addCommand adds one command to the decision and returns the part of it that is a note.
func (d *Decision) addCommand(c Command) (note []string, err error) {
	name, rest := cutWord(c.Text)
	c.Name = foldWord(name)
	if given, _, glued := cutColon(name); glued && foldWord(given) == "/abort" {
		c.Name = "/abort"
		_, rest, _ = cutColon(c.Text)
	}
	switch c.Name {
	case "/approve", "/revise":
		err = d.setVerdict(verdictOf(c.Name), rest)
	case "/abort":
		note, d.Verdict, d.Feedback = []string{rest}, Abort, ""
		if len(findIDs(rest)) > 0 { // a drop may be meant
			err = errors.New("/abort posts nothing at all, and this names a finding")
		}
	case "/drop", "/keep", "/summary":
		err = d.parseSelection(&c, rest)
	case "/edit":
		c.IDs, err = d.parseEdit(rest)
	case "/severity":
		c.IDs, err = d.parseRegrade(rest)
	default:
		err = errors.New("unknown command; there are " + strings.Join(commands(), ", "))
	}
	d.Commands = append(d.Commands, c)
	return note, err
}

func cutWord(text string) (first, rest string) {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

func verdictOf(name string) Verdict {
	switch v := Verdict(strings.TrimPrefix(name, "/")); v {
	case Approve, Abort, Revise:
		return v
	}
	return ""
}

// setVerdict sets the verdict, replacing an earlier one; Check refuses contradictions.
func (d *Decision) setVerdict(v Verdict, rest string) error {
	switch {
	case v == Revise && rest == "":
		return errors.New("say what should be different: /revise TEXT")
	case len(rest) > MaxFeedback:
		return fmt.Errorf("the feedback has %d bytes, more than %d", len(rest), MaxFeedback)
	case v == Approve && rest != "":
		return errors.New("nothing may follow /approve; changes and notes go on their own lines")
	}
	d.Verdict, d.Feedback = v, rest
	return nil
}

// opensBlock matches a text that ends with the opening fence of a code block.
var opensBlock = pattern.Lazy("^[^`]*```[\\w+#-]*$")

func (d *Decision) parseEdit(rest string) ([]string, error) {
	head, body, found := cutColon(rest)
	id := selector(head)
	if !found || !idPattern().MatchString(id) {
		return nil, errors.New("expected /edit F3: NEW TEXT, one finding and the text on one line")
	}
	if body == "" {
		return nil, fmt.Errorf("the new text is missing; /drop %s leaves the finding out", id)
	}
	if opensBlock().MatchString(body) {
		return nil, errors.New("the new text is one line, so no block of code begins in it; put code in `backticks`")
	}
	d.Edit = append(d.Edit, Edit{ID: id, Body: body})
	return []string{id}, nil
}

// cutColon cuts at the first colon, ASCII or full-width.
func cutColon(text string) (before, after string, found bool) {
	at := strings.IndexAny(text, ":：")
	if at < 0 {
		return text, "", false
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[:at], strings.TrimSpace(text[at+size:]), true
}

func (d *Decision) parseRegrade(rest string) ([]string, error) {
	words := strings.Fields(rest)
	for i := range words {
		words[i] = selector(words[i])
	}
	if len(words) != 2 || !idPattern().MatchString(words[0]) {
		return nil, errors.New("expected /severity F6 minor, one finding a line")
	}
	severity, err := ParseSeverity(guard.Line(strings.ToLower(words[1]), shownWord))
	if err != nil {
		return nil, err
	}
	d.Severity = append(d.Severity, Regrade{ID: words[0], Severity: severity})
	return words[:1], nil
}
