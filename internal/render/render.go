// Package render makes everything that people see: the draft in the job
// summary, the posted review, the terminal's view and the texts of errors.
//
// Every function is pure: equal arguments give equal bytes, and nothing is read
// or written. Text of a pull request or a model passes through package guard on
// its way out and never looks like ours. Start reading at Review, then Draft
// and Body.
package render

import (
	"fmt"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Review is what all renderings are made from. It is a value; nothing here
// changes it.
type Review struct {
	Name     string               // "#42", "main...HEAD", "changes.diff", "demo"
	Web      string               // https://host/owner/repo, or empty for local input
	Head     string               // the reviewed commit, or empty
	Files    []finding.FileReview // every changed file, in path order
	Findings []finding.Finding    // the kept ones, in the order shown
	Filtered []finding.Finding    // the ones kept out, with Filtered and Note
	Unlisted int                  // further changed files, which GitHub does not name
	Notices  []string             // warnings in our words; what they quote is already guarded
	Flags    []finding.Flag       // what the approver alone is told; never posted
	Rules    bool                 // made by rules, without a model
	Model    string               // the model's name; untrusted text
	Usage    cost.Usage
	Limit    cost.MicroUSD // of what the run may cost; 0 is not shown
	Partial  bool          // files were not reached
	Reused   int           // files whose result an earlier run had paid for
	Title    string        // of the pull request; untrusted text, empty for local input
	Author   string        // its login; untrusted text
	Added    int           // lines, as is Removed
	Removed  int
	Earlier  []finding.Earlier // what earlier reviews and people said, and what became of it
	Round    int               // how often the draft was revised
	Handover string            // where instructions for a coding agent stand: config.Handover's values
	From     finding.Severity  // the weakest that the settings report; empty for all
	Linters  string            // what linters' results came to, in our words; never posted

	Overview Overview
	Asked    Asked

	// Hunks gives the diff of a file; nil where none is at hand. Only the draft and
	// the terminal read it, so that what is posted is the same wherever it is rendered.
	Hunks func(path string) []diff.Hunk
}

// Expected says, before anything is asked, what a run is about to ask and about what
// that costs, which is a guess, and what bounds it: "61 files to ask a model about; about
// 0.4 million tokens, about $0.12; at most $1.00 is spent (max-cost)". A limit of 0 is
// none, and by names the setting that it comes from.
func Expected(files int, u cost.Usage, limit cost.MicroUSD, by string) string {
	if files == 0 {
		return "No file is left to ask a model about."
	}
	text := fmt.Sprintf("%s to ask a model about; about %s tokens", Count(files, "file"), magnitude(u.Tokens()))
	if u.Cost > 0 {
		text += fmt.Sprintf(", about %s", u.Cost)
	}
	if limit > 0 {
		text += fmt.Sprintf("; at most %s is spent (%s)", limit, by)
	}
	return text + "."
}

// magnitude is a large number as a person would say it.
func magnitude(n int64) string {
	switch {
	case n < 10_000:
		return Thousands(max(n/100, 1) * 100)
	case n < 1_000_000:
		return Thousands(n / 1000 * 1000)
	}
	return fmt.Sprintf("%.1f million", float64(n)/1e6)
}
