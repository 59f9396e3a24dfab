package render

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
)

func TestP6_EveryFileIsInOneGroup(t *testing.T) {
	t.Parallel()
	var all []finding.FileReview
	for _, s := range fileStates {
		all = append(all, finding.FileReview{Path: "a", State: s}, finding.FileReview{Path: "b", State: s},
			finding.FileReview{Path: "c", State: s, Reason: finding.Lockfile},
			finding.FileReview{Path: "d", State: s, Claim: finding.Lockfile})
	}
	total := 0
	for _, g := range byReason(all) {
		total += len(g)
	}
	require.Len(t, all, total)
	require.Len(t, byReason(all), 3*len(fileStates))
}
