package render_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update once")
	require.Equal(t, string(want), got)
}

// moved is a message of three parts, as problem.Error words it.
const moved = `error: #42 has moved since this draft was made
  draft   3f9c2a71be04d855 for commit 1a2b3c4
  now     commit 9f8e7d6, 3 commits later, with another diff
  next    decide the new draft`

func TestGolden(t *testing.T) {
	wide := terminal.Options{Width: 80}
	narrow := terminal.Options{Width: 40}
	color := terminal.Options{Width: 80, Color: true}
	approval := render.Approval(decision.Record{By: "rita-reviewer", At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		Dropped: make([]decision.Drop, 1)}, false)
	marker := marker.Review{Thread: "org/payments#42:" + head, Digest: "3f9c2a71be04d855", Approved: "77d0"}
	clean := ledger()
	clean.Findings, clean.Filtered, clean.Notices = nil, nil, nil
	for name, got := range map[string]string{
		"draft.md":             summary.Draft(ledger(), dialog()),
		"draft-dispatch.md":    summary.Draft(ledger(), dispatch()),
		"draft-asked.md":       summary.Draft(asked(), dialog()),
		"review-asked.md":      render.Posted(render.Body(asked()), approval, marker),
		"terminal-asked.txt":   terminal.Review(asked(), wide),
		"draft-kept.md":        summary.Draft(weak(), keptDraft()),
		"draft-rules.md":       summary.Draft(byRules(), dialog()),
		"draft-partial.md":     summary.Draft(partial(), dialog()),
		"draft-failures.md":    summary.Draft(onlyFailures(), dispatch()),
		"draft-sixty.md":       summary.Draft(sixty(), dialog()),
		"draft-2000.md":        summary.Draft(manyFiles(2000), dialog()),
		"draft-hostile.md":     summary.Draft(hostile(), dialog()),
		"draft-cjk.md":         summary.Draft(eastAsian(), dialog()),
		"draft-counts.md":      summary.Draft(ledger(), hidden(dialog(), "encrypt")),
		"draft-counts-seal.md": summary.Draft(partial(), hidden(dispatch(), "seal")),
		"draft-again.md":       summary.Draft(reused(), redraft()),
		"draft-timed-out.md":   summary.Draft(timedOut(), dialog()),
		"review.md":            render.Posted(render.Body(ledger()), approval, marker),
		"ended-refused.md":     ended(render.Review{Name: "#42"}, "REFUSED", moved),
		"review-partial.md":    render.Body(partial()),
		"review-dropped.md":    render.Body(allDropped()),
		"review-rules.md":      render.Body(byRules()),
		"review-sixty.md":      render.Body(sixty()),
		"review-2000.md":       render.Body(manyFiles(2000)),
		"review-hostile.md":    render.Body(hostile()),
		"review-in-body.md":    render.Body(ledger().InBody()),
		"inline.md":            render.Comment(ledger().Findings[0]),
		"file.md":              render.File(ledger()),
		"file-hostile.md":      render.File(hostile()),
		"ended-skipped.md":     ended(render.Review{Name: "#42"}, "SKIPPED", "the pull request is a draft"),
		"ended-clean.md":       ended(clean, "CLEAN", ""),
		"ended-posted.md":      summary.End(ledger(), posted()),
		"ended-aborted.md":     summary.End(ledger(), rejected()),
		"ended-counts.md":      summary.End(clean, summary.Ending{Outcome: "CLEAN", Counts: true}),
		"ended-expired.md": summary.End(render.Review{Name: "#42"},
			summary.Ending{Outcome: "EXPIRED", Reason: "it could be decided until 5 December 2026, 14:10 UTC",
				Restart: "gh workflow run pr-review.yml --repo org/payments -f pull-request=42", Reuses: true}),
		"threads.txt":          terminal.Threads(parked(), time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)),
		"ended-failed.md":      ended(onlyFailures(), "FAILED", "every file failed"),
		"terminal.txt":         terminal.Review(ledger(), wide),
		"terminal-40.txt":      terminal.Review(ledger(), narrow),
		"terminal-color.txt":   terminal.Review(ledger(), color),
		"terminal-rules.txt":   terminal.Review(byRules(), wide),
		"terminal-partial.txt": terminal.Review(partial(), wide),
		"terminal-hostile.txt": terminal.Review(hostile(), wide),
		"terminal-cjk-40.txt":  terminal.Review(eastAsian(), narrow),
		"terminal-piped.txt":   terminal.Review(ledger(), terminal.Options{}),
		"terminal-clean.txt":   terminal.Review(clean, wide),
		"progress.txt": terminal.Progress(terminal.Running{Done: 23, Total: 61, Findings: 9,
			Used: cost.Usage{Calls: 41, Cost: 120_000}, Limit: 1_000_000, Waiting: "the rate limit, 4 s",
			Elapsed: 18 * time.Second}, 120) + "\n",
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, got) })
	}
}

// ended is the summary of a run without a decision.
func ended(r render.Review, outcome, reason string) string {
	return summary.End(r, summary.Ending{Outcome: outcome, Reason: reason})
}
