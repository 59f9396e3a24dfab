// Package render writes a review: the text that is posted, its inline comments, and the
// sentences and lists that a job's summary, a terminal and a ticket's proposal share with it.
// Their pages are in the packages below it: summary, terminal, proposal. The tests of all pages
// are here, since they use the same reviews.
//
// Every function is pure: equal arguments give equal bytes, and nothing is read or written.
// Text of a pull request or a model passes through package guard on its way out and never
// looks like ours. Start reading at Review, then Body.
package render

import (
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// Review is the input of all renderings. They do not change it.
type Review struct {
	Name     string               // "#42", "main...HEAD", "changes.diff", "demo"
	Web      string               // https://host/owner/repo, or empty for local input
	Head     string               // the reviewed commit, or empty
	Files    []finding.FileReview // every changed file, in path order
	Findings []finding.Finding    // the kept ones, in the order shown
	Filtered []finding.Finding    // the filtered ones, with Filtered and Note
	Unlisted int                  // further changed files, which GitHub does not list
	Notices  []string             // warnings in our words; quotes in them are already guarded
	Flags    []finding.Flag       // shown to the approver only; never posted
	Rules    bool                 // made by rules, without a model
	Model    string               // the model's name; untrusted text
	Usage    cost.Usage
	Limit    cost.MicroUSD // of the run's cost; 0 is not shown
	Partial  bool          // files were not reached
	Reused   int           // files whose result an earlier run had paid for
	Title    string        // of the pull request; untrusted text, empty for local input
	Author   string        // its login; untrusted text
	Added    int           // lines, as is Removed
	Removed  int
	Earlier  []finding.Earlier // what earlier reviews and people said, and its outcome
	Round    int               // how often the draft was revised
	Handover string            // where instructions for a coding agent go: config.Handover's values
	From     finding.Severity  // the weakest severity that the settings report; empty for all
	Linters  string            // outcome of the linters, in our words; never posted

	Overview string // a model's summary of the whole change; untrusted
	Posts    bool   // Overview is posted, under decision.OverviewID
	Edited   bool   // Overview is in the approver's words
	Asked    Asked

	// Hunks returns the diff of a file; nil if there is none. Only the draft and the terminal
	// use it, so that the posted review is the same wherever it is rendered.
	Hunks func(path string) []diff.Hunk
}

// Asked is the purpose of a change, as far as it may be shown, and what the change does about
// it. Texts are untrusted.
type Asked struct {
	Tickets  []ticket.Ticket // their keys and summaries are shown
	Criteria []finding.Criterion
	Unasked  []finding.Unasked
	Missing  []string // what could not be read, in our own words
	Posted   bool     // the posted review contains all of it, not only Missing
}

// Limits that all screens share.
const (
	TitleRunes    = 200 // of a title
	OverviewRunes = 1_300
	AskedRows     = 60 // criteria that are listed
	AskedRunes    = 300
	CodeLines     = 12 // of code shown with a finding
	EarlierRows   = 20 // findings of earlier reviews; on a terminal also reasons why files were not read, files of each
	WarningRows   = 10 // warnings that get a line
)

const flagRunes = 120 // of a flag's quote

// Warnings returns the lines of the banner: the notices, and a line for each flag.
func (r Review) Warnings() []string {
	all := slices.Clone(r.Notices)
	for _, f := range r.Flags {
		where := "The pull request"
		if f.Path != "" {
			where = fmt.Sprintf("%s line %d", guard.Code(f.Path), f.Line)
		}
		switch text := guard.Line(f.Text, flagRunes); f.Kind {
		case finding.SuppressionFlag:
			all = append(all, where+" "+guard.Inline(text, flagRunes))
		case finding.HiddenFlag:
			all = append(all, where+" hides something: "+guard.Code(text))
		default:
			all = append(all, where+" addresses the reviewer: "+guard.Code(text))
		}
	}
	return all
}
