package implement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/ticket"
)

// Classify asks what a ticket is. The model's word on the type stands above the tracker's.
func (m *Model) Classify(ctx context.Context, t ticket.Ticket) (c change.Class, used cost.Usage, err error) {
	q := question{step: "classify", schema: prompt("classify.json"), tokens: shortAnswer,
		blocks: []block{{"ticket", told(t)}}}
	used, err = answered(ctx, m, q, func(said struct {
		Type       string   `json:"confirmed_type"`
		Summary    string   `json:"technical_summary"`
		Components []string `json:"affected_components"`
		Complexity string   `json:"complexity"`
	}) ([]string, error) {
		c = change.Class{Type: change.Story, Summary: oneLine(said.Summary),
			Complexity: strings.ToLower(said.Complexity)}
		if strings.EqualFold(said.Type, change.Bug) {
			c.Type = change.Bug
		} else if !strings.EqualFold(said.Type, change.Story) {
			c.Note = fmt.Sprintf("The model calls the ticket %.40q; it is treated as a Story.", said.Type)
		}
		if c.Note == "" && t.Type != "" && !strings.EqualFold(t.Type, c.Type) {
			c.Note = fmt.Sprintf("The tracker calls the ticket %.40q; the model takes it for a %s.", t.Type, c.Type)
		}
		for _, one := range said.Components[:min(len(said.Components), maxComponents)] {
			c.Components = append(c.Components, oneLine(one))
		}
		switch {
		case c.Summary == "":
			return []string{"technical_summary is empty"}, nil
		case !slices.Contains([]string{"low", "medium", "high"}, c.Complexity):
			return []string{"complexity is none of low, medium, high"}, nil
		}
		return nil, nil
	})
	return c, used, err
}

// The bounds of what is kept of an answer's words.
const (
	maxComponents = 20
	maxWords      = 2_000 // bytes of a sentence
)

// oneLine is a sentence without line breaks, of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// classified is the classification as later questions show it.
func classified(c change.Class) string {
	return fmt.Sprintf("%s, complexity %s\n%s\ncomponents: %s\n", c.Type, c.Complexity, c.Summary,
		strings.Join(c.Components, ", "))
}

// told is a ticket as a prompt shows it.
func told(t ticket.Ticket) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s\n", t.Key, t.Type, t.Summary)
	if len(t.Labels) > 0 {
		fmt.Fprintf(&b, "labels: %s\n", strings.Join(t.Labels, ", "))
	}
	if t.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Description)
	}
	for i, c := range t.Criteria {
		if i == 0 {
			b.WriteString("\nAcceptance criteria:\n")
		}
		fmt.Fprintf(&b, "%d. %s\n", c.N, c.Text)
	}
	return b.String()
}

// Digest is the SHA-256, in hex, over all of a ticket that a model is shown.
func Digest(t ticket.Ticket) string {
	sum := sha256.Sum256([]byte(told(t)))
	return hex.EncodeToString(sum[:])
}
