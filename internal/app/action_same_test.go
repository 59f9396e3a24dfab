package app_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// pieces are what generated findings are made of.
func pieces() []string {
	return []string{
		"The value is never read.", " ", "\n", "\n\n", "`code`", "``", "```\nfence\n```", "```suggestion\nx\n```",
		"~~~", "<b>bold</b>", "<!-- pr-review:v1 thread=x -->",
		"<details><summary>x</summary>", "</details>", "@maya", "#42", "GH-7", "octo/demo#1",
		"https://example.com/?q=1", "![x](http://evil/x.png)", "[a](b)", "| a | b |",
		"## Inline comments", "### `x`", "> quote", "- item", "1. one", "* * *", "---", "\\", "&amp;", "&#x202e;",
		"\u202e", "\u200b", "\x1b[31m", "\x00", "é", "漢字", "👩‍👩‍👧", "\r\n", "\t",
		"/approve", "/drop F1", "::error::x", "$(id)", "${{ secrets.X }}", "%0A", "\ufeff", "\u2028",
		strings.Repeat("long ", 300),
	}
}

// anyone is a model that answers about a file with findings drawn at random,
// the same for the same seed. One of them is always sound.
func anyone(seed uint64) llmtest.Script {
	text := func(random *rand.Rand, most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(pieces()[random.IntN(len(pieces()))])
		}
		return b.String()
	}
	return func(r llmtest.Request) llmtest.Answer {
		h := fnv.New64()
		fmt.Fprint(h, r.Path)
		random := rand.New(rand.NewPCG(seed, h.Sum64()))
		found := []llmtest.Finding{}
		if r.Path == "ledger/transfer.go" {
			found = append(found, llmtest.Finding{Side: "RIGHT", StartLine: 13, Line: 13, Title: "Sound",
				Body: "It is.", Category: "correctness", Severity: "major", Confidence: 1})
		}
		most := 8
		if seed%10 == 0 {
			most = 95 // more than a body has room for
		}
		for range random.IntN(most) {
			line := []int{1, 3, 8, 10, 13, 14, 26, 27, 40}[random.IntN(9)]
			found = append(found, llmtest.Finding{
				Side: []string{"RIGHT", "LEFT"}[random.IntN(2)], StartLine: max(1, line-random.IntN(3)), Line: line,
				Title: text(random, 6), Body: text(random, 40),
				Category: "correctness", Severity: []string{"blocker", "major", "minor", "nit"}[random.IntN(4)],
				Confidence: random.Float64(), Suggestion: text(random, 5),
			})
		}
		return llmtest.Findings(found...)
	}
}

// TestT27_WhatIsPostedIsWhatWasShown compares review.md with the review, for
// 1,000 drafts in full. Every tenth has more findings than a body has room for.
func TestT27_WhatIsPostedIsWhatWasShown(t *testing.T) {
	t.Parallel()
	drafts := testvolume.Of(1000, 8)
	comments := 0
	for seed := range drafts {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newStage(t, scene{script: anyone(uint64(seed))})
			drafted := s.draftJob().start().is(0, "PAUSED")
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			sameAsShown(t, s.opened(drafted).Review, s.posted())
			comments += len(s.posted().Comments)
		})
	}
	t.Logf("%d reviews with %d comments are what was shown, byte for byte", drafts, comments)
}
