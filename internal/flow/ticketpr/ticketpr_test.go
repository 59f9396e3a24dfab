package ticketpr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
)

// TestTheGraphIsTheReferencesNodeForNode holds names and edges of the design.
func TestTheGraphIsTheReferencesNodeForNode(t *testing.T) {
	t.Parallel()
	flow, err := ticketpr.New(ticketpr.Steps{}, graph.NewMemory())
	require.NoError(t, err)
	drawn := flow.Mermaid()
	for _, node := range []string{"fetch_ticket", "classify_ticket", "identify_modules", "retrieve_context",
		"generate_code_changes", "generate_tests", "prepare_diff_summary", "human_review_gate", "apply_changes",
		"create_pull_request", "post_ticket_comment", "regenerate_with_feedback", "abort", "handle_error"} {
		require.Contains(t, drawn, node)
	}
	t.Log(drawn)
}

// TestADraftWarnsOfCriteriaThatItDoesNotMeet leaves out those about which the review cannot tell.
func TestADraftWarnsOfCriteriaThatItDoesNotMeet(t *testing.T) {
	t.Parallel()
	s := ticketpr.State{Seen: ticketpr.Seen{Criteria: []finding.Criterion{{N: 1, Verdict: finding.Met},
		{N: 2, Verdict: finding.NotMet}, {N: 3, Verdict: finding.Unknown}, {N: 4, Verdict: finding.NotMet}}}}
	require.Equal(t, []string{"the review found no evidence for criteria 2, 4"}, s.Warnings())
	s.Seen.Criteria = s.Seen.Criteria[:1]
	require.Empty(t, s.Warnings())
}
