package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/ticket"
)

// proposed is a change for a ticket as its approver finds it, revised once.
func proposed() proposal.Proposal {
	code := change.Of("store/store.go", "A task without a due date is not late.", "aa",
		"package store\n\nfunc late(t Task) bool {\n\treturn !t.Done && t.Due.Before(now())\n}\n",
		"package store\n\nfunc late(t Task) bool {\n\treturn !t.Done && !t.Due.IsZero() && t.Due.Before(now())\n}\n")
	test := change.Of("store/late_test.go", "Some day is never late.", "", "", "package store\n")
	task := ticket.Ticket{Key: "TASK-101", Summary: "Tasks without a due date are listed as overdue"}
	return proposal.Proposal{
		Base: head, Feedback: []string{"Keep it to one condition."},
		Warnings: []string{"the check failed on this change",
			"The tracker calls the ticket \"Story\"; the model takes it for a Bug."},
		Draft: change.Draft{
			Class:     change.Class{Type: change.Bug, Complexity: "low"},
			Ticket:    task,
			RootCause: "late in store/store.go compares Due with now, and the zero time is before every now.",
			Scope:     change.Scope{Modules: []change.Module{{Name: "store", Reason: "Due dates are compared there."}}},
			Chunks: []change.Chunk{{Path: "store/store.go", StartLine: 3, EndLine: 5, Score: 0.81},
				{Path: "store/task.go", StartLine: 1, EndLine: 14, Score: 0.42}},
			Changes: []change.File{code}, Tests: []change.File{test},
			Check: &change.Check{Command: "go test ./...", Output: "--- FAIL: TestLate\n"},
		},
		Review: render.Review{
			Overview: "A task without a due date is left out.", Model: "a-model", Round: 1,
			Findings: []finding.Finding{{ID: "F1", Path: "store/store.go", Line: 4, Severity: finding.Minor,
				Title: "The zero time is checked here alone", Body: "Other callers compare Due as well.",
				Source: finding.Model}},
			Asked: render.Asked{Tickets: []ticket.Ticket{task}, Criteria: []finding.Criterion{{N: 1,
				Text:    "A task without a due date is never overdue.",
				Verdict: finding.Met, Evidence: []finding.Lines{{Path: "store/store.go", StartLine: 4, EndLine: 4}}}}},
			Usage: cost.Usage{Calls: 7, InputTokens: 18_000, OutputTokens: 2_000, Cost: 61_000}, Limit: 1_000_000,
		},
	}
}

// hostileProposal has texts that would be something else than text.
func hostileProposal() proposal.Proposal {
	p := proposed()
	const evil = "</details><img src=x onerror=alert(1)> @octo/team closes #1 `x` [a](javascript:b) " +
		"![i](http://e/i)\n" +
		"## Approved\n/approve \u202e"
	p.Review.Asked.Tickets[0].Summary = evil
	p.Ticket.Summary, p.RootCause, p.Warnings[1], p.Scope.Modules[0].Reason = evil, evil, evil, evil
	p.Changes[0] = change.Of("a`b|<b>.go", evil, "", "", "```\n"+evil+"\n~~~~\n")
	p.Feedback[0], p.Check.Output, p.Review.Overview = evil, "```\n"+evil, evil
	return p
}

// What is shown goes into summaries and artifacts that more people read than the file, and outlives a rewritten base;
// the bytes that are applied, and a diff for git apply, have to be those of the base.
func TestD7_ADraftShowsNoCredentialOfItsBase(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "x7Kq2LmR9TzVb4NcW8yJd5HfG1sPaE6uQo3C"
	before := "package store\n\nconst token = \"" + token + "\"\n\nconst days = 1\n"
	p := proposed()
	p.Changes = []change.File{change.Of("store/store.go", "", "aa", before, strings.Replace(before, "1\n", "2\n", 1)),
		change.Of("store/gone.go", "", "bb", before, "package store\n")}
	for page, text := range map[string]string{
		"review.md": proposal.File(p), "summary": proposal.Draft(p, summary.Decide{}),
		"terminal": terminal.Proposal(p, terminal.Options{Width: 80}),
	} {
		require.NotContains(t, text, token, page)
		require.Contains(t, text, " const token = \"<redacted github-pat>\"\n", page)
		require.Contains(t, text, "-const token = \"<redacted github-pat>\"\n", page)
		require.Contains(t, text, "+const days = 2\n", page)
	}
	require.Contains(t, p.Changes[0].Content, token)
	const added = "master_password = \"Correct9-Horse!backdoor\""
	p.Changes = []change.File{change.Of("auth.py", "", "aa", "import os\n", "import os\n"+added+"\n")}
	require.Contains(t, proposal.File(p), "+"+added+"\n", "P2: what is committed is what was shown")
	require.Contains(t, terminal.Proposal(p, terminal.Options{Width: 80}), "+"+added+"\n")
	p.Changes = []change.File{change.Of("store/store.go", "", "aa", before, strings.Replace(before, "1\n", "2\n", 1))}
	require.Contains(t, change.Unified(p.Changes), "\n const token = \""+token)
}

// GitHub drops a summary that is too long, and the draft with it.
func TestALongDiffIsLeftToTheArtifact(t *testing.T) {
	t.Parallel()
	p := proposed()
	p.Changes[0] = change.Of("long.txt", "One line.", "aa", strings.Repeat("x", 1<<20)+"\n", "y\n")
	got := proposal.Draft(p, summary.Decide{Code: "3f9c2a71be04d855"})
	require.Less(t, len(got), 100_000)
	require.Contains(t, got, "too long to be shown here. Read it in the artifact")
	got = proposal.Draft(p, summary.Decide{Code: "3f9c2a71be04d855", Trust: "encrypt"})
	require.NotContains(t, got, "Read it in the artifact")
	require.Contains(t, got, "too long to be shown here. The artifact is encrypted: reject this draft")
	require.Contains(t, got, "`long.txt` (+1 −1): One line.")
	require.Greater(t, len(proposal.File(p)), 1<<20)
}

func TestGoldenProposals(t *testing.T) {
	t.Parallel()
	decide := summary.Decide{Code: "3f9c2a71be04d855", Artifact: "pr-implement-TASK-101-3f9c2a71be04d855",
		Expires: time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC), Environment: "ai-review",
		Revise: "gh workflow run pr-implement.yml --repo o/r -f ticket=TASK-101 -f code=3f9c2a71be04d855 -f feedback=…"}
	for name, got := range map[string]string{
		"proposal.md":         proposal.Draft(proposed(), decide),
		"proposal-hostile.md": proposal.File(hostileProposal()),
		"proposal.txt":        terminal.Proposal(proposed(), terminal.Options{Width: 80}),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, got) })
	}
}

func TestTheComponentsOfATicketAreAParagraphOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := proposed()
	p.Class.Summary, p.Class.Components = "Debit's result is dropped", []string{"ledger", "api"}
	require.Contains(t, proposal.Draft(p, summary.Decide{}),
		"**What it is:** Debit's result is dropped\n\n**Components:** ledger, api\n")
}
