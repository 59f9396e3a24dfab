package recall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/recall"
)

func TestADecidedDraftTellsLaterOnes(t *testing.T) {
	t.Parallel()
	comments := []finding.Finding{
		{ID: "F1", Path: "a.go", Title: "posted", Category: "data", Fingerprint: strings.Repeat("1", 16)},
		{ID: "F2", Path: "a.go", Title: "dropped", Filtered: finding.Dropped, Fingerprint: strings.Repeat("2", 16)},
		{Path: "a.go", Title: "weak", Filtered: finding.LowConfidence, Fingerprint: strings.Repeat("3", 16)},
	}
	before := []finding.Earlier{
		{Fate: finding.WasPosted, Fingerprint: strings.Repeat("4", 16), Now: finding.Resolved, Line: 4,
			ReviewThread: "T"},
		{Fate: finding.WasCommented, By: "maya", Line: 3},
	}
	record := decision.Record{Decision: decision.Approve, By: "rita"}
	all := recall.FromState(comments, &record, before)
	require.Equal(t, []finding.Earlier{
		{Fate: finding.WasPosted, ID: "F1", Path: "a.go", Title: "posted", Category: "data",
			Fingerprint: strings.Repeat("1", 16)},
		{Fate: finding.WasDropped, Path: "a.go", Title: "dropped", Fingerprint: strings.Repeat("2", 16),
			By: "rita"},
		{Fate: finding.WasPosted, Fingerprint: strings.Repeat("4", 16), Announced: true},
	}, all)
	record.Decision = decision.Abort
	all = recall.FromState(comments, &record, before)
	require.Len(t, all, 1, "a rejection says nothing of single findings")
	require.False(t, all[0].Announced)
	require.Empty(t, recall.FromState(comments, nil, before))
}

func TestWhatDraftsTellIsAddedToWhatGitHubShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base, base.With(githubtest.Tree{"old.go": file(40, commit, scan)}))
	w.drop = []string{"scan"}
	w.push(t)
	w.drop = nil
	found, _, _ := w.draft(t)
	known := recall.FromState([]finding.Finding{
		{Path: "old.go", Title: found[0].Title, Fingerprint: found[0].Fingerprint, Category: "data"},
		{Path: "old.go", Title: found[1].Title, Fingerprint: found[1].Fingerprint, Filtered: finding.Dropped,
			Quote: found[1].Quote, Side: finding.Right},
		{Path: "old.go", Title: "rejected", Fingerprint: strings.Repeat("5", 16), Filtered: finding.Dropped},
	}, &decision.Record{Decision: decision.Approve, By: "rita"}, nil)
	w.known = [][]finding.Earlier{known, known}
	w.pull.Push(base.With(githubtest.Tree{"moved.go": file(40, commit, scan)}).Without("old.go"))
	w.reworded = true
	found, earlier, _ := w.draft(t)
	require.Empty(t, finding.Kept(found), "the drop is known in other words too")
	require.Len(t, by(earlier, finding.WasPosted), 1)
	require.Len(t, by(earlier, finding.WasDropped), 2, "each once, however many drafts tell of it")
	for _, f := range found {
		require.NotEqual(t, "dropped from an earlier draft", f.Note, "it is known by whom")
	}
	require.Equal(t, "moved.go", earlier[0].Path)
}
