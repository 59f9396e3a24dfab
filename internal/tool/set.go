package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/secret"
)

// maxProblem is the number of characters of a problem that a model is shown.
const maxProblem = 1000

// Set is the tools of one conversation in a fixed order. The zero value has none. It is safe for
// concurrent use.
type Set struct {
	tools  []Tool
	redact *secret.Redactor
}

// Record is the outcome of a call. Text and Problem are what the model is shown: one of them is
// empty, both may contain untrusted text, and both are redacted.
type Record struct {
	Name string `json:"name"` // as called, one line
	// as passed, redacted, one line, cut at 500 characters: for display, not for comparison
	Arguments string `json:"arguments"`
	Text      string `json:"text,omitzero"`    // the result, with hidden characters made visible
	Problem   string `json:"problem,omitzero"` // why there is none, and what to do instead; one line
	Bytes     int    `json:"bytes,omitzero"`   // length of the result before it was cut
	Cut       bool   `json:"cut,omitzero"`     // the result was longer than its limit
}

// NewSet returns a set; a model sees the tools in this order. It panics if two tools have the same
// name.
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

// Redacting returns the set with results also free of the redactor's values, such as the job's own
// keys. Without it, or with nil, results are free of credentials that are recognized by their
// form.
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

// Call runs a call. It never fails: an unknown name, arguments that do not match the schema, an
// error, a panic and a timeout all result in a record with a Problem.
func (s Set) Call(ctx context.Context, c llm.Call) Record {
	r := Record{Name: guard.Line(cutHead(c.Name, 4*maxName), maxName), Arguments: s.line(c.Arguments, maxShown)}
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
	r.Text, r.Cut = s.redactAndCut(text, t.bytes)
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
	return guard.Line(s.redact.Redact(cutHead(text, maxArguments)), max)
}

// cutNote is the space reserved for the note about a cut, in bytes.
const cutNote = 120

// redactAndCut redacts a result and cuts it. It searches four times the limit for credentials, so that none
// is split unnoticed at the cut.
func (s Set) redactAndCut(text string, limit int) (string, bool) {
	near := cutHead(text, 4*limit)
	clean := s.redact.Redact(guard.Visible(near))
	if len(near) == len(text) && len(clean) <= limit {
		return clean, false
	}
	kept := cutHead(clean, max(0, limit-cutNote))
	all, shown := strings.Count(text, "\n")+1, strings.Count(kept, "\n")
	return fmt.Sprintf("%s\n[cut: %d of %d lines and %d of %d bytes shown; ask for less at one time]",
		strings.TrimSuffix(kept, "\n"), shown, all, len(kept), len(text)), true
}
