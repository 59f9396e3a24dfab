package aggregate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/finding"
)

func TestWhatBecameOfAnEarlierFinding(t *testing.T) {
	t.Parallel()
	f := commitAt2()
	posted := was(f, finding.WasPosted)
	for name, c := range map[string]struct {
		change func(e *finding.Earlier)
		state  finding.State
		want   finding.Status
	}{
		"its line still stands": {nil, finding.Reviewed, ""},
		"its line was changed": {func(e *finding.Earlier) {
			e.Quote = "tx.Commit(context)"
		}, finding.Reviewed, finding.Resolved},
		"read in part": {func(e *finding.Earlier) {
			e.Quote = "tx.Commit(context)"
		}, finding.Partly, ""},
		"not reached": {func(e *finding.Earlier) {
			e.Quote = "tx.Commit(context)"
		}, finding.NotReached, ""},
		"a line too short to tell": {func(e *finding.Earlier) { e.Quote = "else {" }, finding.Reviewed, ""},
		"its patch cannot be read": {func(e *finding.Earlier) {
			e.Path, e.Quote = "broken.go", "tx.Commit(context)"
		}, finding.Reviewed, ""},
		"no line known": {func(e *finding.Earlier) { e.Quote = "" }, finding.Reviewed, ""},
		"no place known": {func(e *finding.Earlier) {
			e.Path, e.Quote = "", "tx.Commit(context)"
		}, finding.Reviewed, ""},
		"GitHub follows its line": {func(e *finding.Earlier) {
			e.Quote, e.Line, e.StartLine = "tx.Commit(context)", 9, 9
		}, finding.Reviewed, ""},
		"moved to a new file": {func(e *finding.Earlier) { e.Quote = "save(account)" }, finding.Reviewed, ""},
		"its file left the change": {func(e *finding.Earlier) {
			e.Path, e.Quote = "left.go", "tx.Commit(context)"
		}, finding.Reviewed, finding.Resolved},
		"its file may be a new one": {func(e *finding.Earlier) {
			e.Path, e.Quote = "left.go", "save(account)"
		}, finding.Reviewed, ""},
		"its file left, line unknown": {func(e *finding.Earlier) {
			e.Path, e.Quote = "left.go", ""
		}, finding.Reviewed, ""},
		"its file was deleted": {func(e *finding.Earlier) {
			e.Path, e.Quote = "removed.go", "gone(account)"
		}, finding.Skipped, finding.Resolved},
		"deleted line, still so": {func(e *finding.Earlier) {
			e.Side, e.Quote = finding.Left, "old.Close(ctx)"
		}, finding.Reviewed, ""},
		"deleted line, back again": {func(e *finding.Earlier) {
			e.Side, e.Quote = finding.Left, "older.Close(ctx)"
		}, finding.Reviewed, finding.Resolved},
		"dropped": {func(e *finding.Earlier) {
			e.Fate, e.Quote = finding.WasDropped, "tx.Commit(context)"
		}, finding.Reviewed, ""},
		"announced before": {func(e *finding.Earlier) {
			e.Announced = true
		}, finding.Reviewed, finding.Resolved},
		"was so in the draft before": {func(e *finding.Earlier) { e.Now = finding.Resolved }, finding.Reviewed, ""},
	} {
		e := posted
		if c.change != nil {
			c.change(&e)
		}
		in := aggregate.Input{Files: ledger, Earlier: []finding.Earlier{e}, Inline: 1000}
		for _, f := range ledger {
			in.Reviews = append(in.Reviews, finding.FileReview{Path: f.Path, State: c.state})
		}
		_, after := aggregate.Findings(in)
		require.Equal(t, c.want, after[0].Now, name)
		require.Equal(t, e.Now, in.Earlier[0].Now, "the input is left as it was")
	}
	short := posted
	short.Quote = "else {"
	alone := aggregate.Input{Files: ledger[:1], Earlier: []finding.Earlier{short},
		Reviews: []finding.FileReview{{Path: "ledger.go", State: finding.Reviewed}}, Inline: 1000}
	_, after := aggregate.Findings(alone)
	require.Empty(t, after[0].Now, "such a line stands anywhere")
	alone.Earlier[0].Quote = "n != 0 ||"
	_, after = aggregate.Findings(alone)
	require.Empty(t, after[0].Now)
	alone.Earlier[0].Quote = "delta != 0"
	_, after = aggregate.Findings(alone)
	require.Equal(t, finding.Resolved, after[0].Now, "a short line is missed all the same")
	weak := f
	weak.Confidence = 0.1
	found, after := recognised([]finding.Finding{weak}, posted)
	require.Equal(t, finding.StillThere, after[0].Now, "found again, if not surely")
	require.Equal(t, finding.LowConfidence, found[0].Filtered)
}
