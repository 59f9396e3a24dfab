package driver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/llmtest"
)

// TestT3_T33_NoTextOfATicketSteersItsGraph puts each row for tickets and pages into a ticket:
// it is data in every question, no tool is offered with it, the change is what it is without it and
// waits for a person, who is told of rows that are to be flagged.
func TestT3_T33_NoTextOfATicketSteersItsGraph(t *testing.T) {
	t.Parallel()
	want := newProposal(t, "go", "TASK-101", nil).draft()
	seen := 0
	for _, a := range llmtest.Attacks(t) {
		if a.Channel != "ticket" && a.Channel != "confluence" || a.Benign {
			continue
		}
		seen++
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			p := newProposal(t, "go", "TASK-101", nil)
			p.ticket.Description += "\n\n" + a.Payload
			r := p.draft()
			require.Equal(t, ticketpr.Paused, r.Outcome, r.Message)
			require.Equal(t, patch(want), patch(r))
			require.Equal(t, want.Branch, r.Branch)
			p.untouched()
			line, _, _ := strings.Cut(strings.TrimSpace(a.Payload), "\n")
			for _, q := range p.model.Requests() {
				require.False(t, strings.Contains(q.User, line) && len(q.Tools) > 0, q.Question)
				require.NotContains(t, llmtest.Outside(q.User), line, q.Question)
			}
			if a.Must == "flagged" && a.Channel == "ticket" { // it reads no pages
				require.Contains(t, warnings(r), "addresses the reviewer")
			}
		})
	}
	require.Greater(t, seen, 20)
}

// TestT3_AModelThatCallsToolsForATicketEndsTheRun has a model that wants to obey: there is
// nothing to call, and no second ticket is read.
func TestT3_AModelThatCallsToolsForATicketEndsTheRun(t *testing.T) {
	t.Parallel()
	p := newProposal(t, "go", "TASK-101", nil)
	answers := scripted(t, "go", "TASK-101", nil)
	p.model = llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		if r.Question == llmtest.ImplementCode {
			return llmtest.Answer{Calls: []llmtest.Call{{Name: "get_ticket", Arguments: `{"key":"SEC-900"}`}}}
		}
		return answers(r)
	})
	r := p.draft()
	require.Equal(t, ticketpr.Failed, r.Outcome)
	require.Contains(t, r.Message, "the model's answer (code) could not be used")
	require.Empty(t, r.State.Changes)
	p.untouched()
}
