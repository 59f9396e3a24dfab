package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/secret"
)

// maxProblem is how many characters of a problem a model is told.
const maxProblem = 1000

// Set is the tools of one conversation in a fixed order. The zero value has none.
// It may be used from many goroutines.
type Set struct {
	tools  []Tool
	redact *secret.Redactor
}

// Record is what a call did. Text and Problem are what the model is told: one of
// them is empty, both may hold untrusted text, and both are redacted.
type Record struct {
	Name string `json:"name"` // as called, one line
	// as given, redacted, one line, cut at 500 characters: to be shown, not to be compared
	Arguments string `json:"arguments"`
	Text      string `json:"text,omitzero"`    // the result, hidden characters visible
	Problem   string `json:"problem,omitzero"` // why there is none, and what to do instead; one line
	Bytes     int    `json:"bytes,omitzero"`   // length of the result before it was cut
	Cut       bool   `json:"cut,omitzero"`     // the result was longer than its limit
}

// NewSet makes a set; a model sees the tools in this order. Two tools of one name
// are a mistake in the program: NewSet panics.
func NewSet(tools ...Tool) Set {
	s := Set{}
	for _, t := range tools {
		if _, taken := s.find(t.offer.Name); taken {
			panic(fmt.Sprintf("two tools are named %q", t.offer.Name))
		}
		s.tools = append(s.tools, t)
	}
	return s
}

// Redacting returns the set with results free of the redactor's values too, such
// as the job's own keys. Without it, and for nil, they are free of credentials
// that are known by their form.
func (s Set) Redacting(r *secret.Redactor) Set {
	s.redact = r
	return s
}

// Offers describes the tools for a request, the same bytes every time.
func (s Set) Offers() []llm.Tool {
	var offers []llm.Tool
	for _, t := range s.tools {
		offers = append(offers, t.offer)
	}
	return offers
}

// Call runs a call. It never fails: an unknown name, arguments that are not of
// the schema, an error, a panic and a call that takes too long are a record with
// a Problem.
func (s Set) Call(ctx context.Context, c llm.Call) Record {
	r := Record{Name: guard.Line(head(c.Name, 4*maxName), maxName), Arguments: s.line(c.Arguments, maxShown)}
	t, ok := s.find(c.Name)
	if !ok {
		r.Problem = s.line(fmt.Sprintf("there is no tool %q; the tools are: %s", r.Name, s.names()), maxProblem)
		return r
	}
	text, err := t.call(ctx, c.Arguments)
	if err != nil {
		r.Problem = s.line(err.Error(), maxProblem)
		return r
	}
	r.Bytes = len(text)
	r.Text, r.Cut = s.fit(text, t.bytes)
	return r
}

func (s Set) find(name string) (Tool, bool) {
	for _, t := range s.tools {
		if t.offer.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func (s Set) names() string {
	var names []string
	for _, t := range s.tools {
		names = append(names, t.offer.Name)
	}
	return strings.Join(names, ", ")
}

func (s Set) line(text string, max int) string {
	return guard.Line(s.redact.Redact(head(text, maxArguments)), max)
}

// cutNote is the room that is kept for the note about a cut, in bytes.
const cutNote = 120

// fit redacts a result and cuts it. Credentials are looked for in four times the
// limit, so that none is cut in two where the cut is seen.
func (s Set) fit(text string, limit int) (string, bool) {
	near := head(text, 4*limit)
	clean := s.redact.Redact(guard.Visible(near))
	if len(near) == len(text) && len(clean) <= limit {
		return clean, false
	}
	kept := head(clean, max(0, limit-cutNote))
	all, shown := strings.Count(text, "\n")+1, strings.Count(kept, "\n")
	return fmt.Sprintf("%s\n[cut: %d of %d lines and %d of %d bytes shown; ask for less at one time]",
		strings.TrimSuffix(kept, "\n"), shown, all, len(kept), len(text)), true
}
