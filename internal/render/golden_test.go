package render

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/marker"
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
	wide := TerminalOptions{Width: 80}
	narrow := TerminalOptions{Width: 40}
	color := TerminalOptions{Width: 80, Color: true}
	approval := Approval{By: "rita-reviewer", At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Drafted: "a model",
		Dropped: 1}
	marker := marker.Review{Thread: "org/payments#42:" + head, Digest: "3f9c2a71be04d855", Approved: "77d0"}
	clean := ledger()
	clean.Findings, clean.Filtered, clean.Notices = nil, nil, nil
	for name, got := range map[string]string{
		"draft.md":             Draft(ledger(), dialog()),
		"draft-dispatch.md":    Draft(ledger(), dispatch()),
		"draft-asked.md":       Draft(asked(), dialog()),
		"review-asked.md":      Posted(Body(asked()), approval, marker),
		"terminal-asked.txt":   Terminal(asked(), wide),
		"draft-kept.md":        Draft(weak(), keptDraft()),
		"draft-rules.md":       Draft(byRules(), dialog()),
		"draft-partial.md":     Draft(partial(), dialog()),
		"draft-failures.md":    Draft(onlyFailures(), dispatch()),
		"draft-sixty.md":       Draft(sixty(), dialog()),
		"draft-2000.md":        Draft(manyFiles(2000), dialog()),
		"draft-hostile.md":     Draft(hostile(), dialog()),
		"draft-cjk.md":         Draft(eastAsian(), dialog()),
		"draft-counts.md":      Draft(ledger(), hidden(dialog(), "encrypt")),
		"draft-counts-seal.md": Draft(partial(), hidden(dispatch(), "seal")),
		"draft-again.md":       Draft(reused(), redraft()),
		"draft-timed-out.md":   Draft(timedOut(), dialog()),
		"review.md":            Posted(Body(ledger()), approval, marker),
		"ended-refused.md":     ended(Review{Name: "#42"}, "REFUSED", moved),
		"review-partial.md":    Body(partial()),
		"review-dropped.md":    Body(allDropped()),
		"review-rules.md":      Body(byRules()),
		"review-sixty.md":      Body(sixty()),
		"review-2000.md":       Body(manyFiles(2000)),
		"review-hostile.md":    Body(hostile()),
		"review-in-body.md":    Body(ledger().InBody()),
		"inline.md":            Comment(ledger().Findings[0]),
		"file.md":              File(ledger()),
		"file-hostile.md":      File(hostile()),
		"ended-skipped.md":     ended(Review{Name: "#42"}, "SKIPPED", "the pull request is a draft"),
		"ended-clean.md":       ended(clean, "CLEAN", ""),
		"ended-posted.md":      End(ledger(), posted()),
		"ended-aborted.md":     End(ledger(), rejected()),
		"ended-counts.md":      End(clean, Ending{Outcome: "CLEAN", Counts: true}),
		"ended-expired.md": End(Review{Name: "#42"},
			Ending{Outcome: "EXPIRED", Reason: "it could be decided until 5 December 2026, 14:10 UTC",
				Restart: "gh workflow run pr-review.yml --repo org/payments -f pull-request=42", Reuses: true}),
		"threads.txt":          Threads(parked(), time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)),
		"ended-failed.md":      ended(onlyFailures(), "FAILED", "every file failed"),
		"terminal.txt":         Terminal(ledger(), wide),
		"terminal-40.txt":      Terminal(ledger(), narrow),
		"terminal-color.txt":   Terminal(ledger(), color),
		"terminal-rules.txt":   Terminal(byRules(), wide),
		"terminal-partial.txt": Terminal(partial(), wide),
		"terminal-hostile.txt": Terminal(hostile(), wide),
		"terminal-cjk-40.txt":  Terminal(eastAsian(), narrow),
		"terminal-piped.txt":   Terminal(ledger(), TerminalOptions{}),
		"terminal-clean.txt":   Terminal(clean, wide),
		"progress.txt": Progress(Running{23, 61, 9, cost.Usage{Calls: 41, Cost: 120_000}, 1_000_000,
			"the rate limit, 4 s", 18 * time.Second}, 120) + "\n",
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, got) })
	}
}

// ended is the summary of a run without a decision.
func ended(r Review, outcome, reason string) string {
	return End(r, Ending{Outcome: outcome, Reason: reason})
}
