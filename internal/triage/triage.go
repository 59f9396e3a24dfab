// Package triage decides, without a model, which changed files are reviewed, and says why the
// others are not.
//
// It looks only at names, sizes, patches and what ingest recorded about the base, so that the same
// change gives the same answer everywhere. A claim that the base does not confirm takes no file
// out of the review. Start reading at Files.
package triage

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/pattern"
)

// MaxClaimed is the number of bytes of the patch that are reviewed for a file that claims to need no review.
const MaxClaimed = 64 << 10

// Options holds the repository's own rules.
type Options struct {
	Ignore     []string   // globs
	MaxLines   int        // changed lines of a file that is reviewed; 0 for config.DefaultMaxLines
	Attributes Attributes // of the base commit

	Settings     string   // path of the settings file that guides the review; empty if none
	Instructions []string // paths of the instruction files that guide it
}

// Files splits the changed files into those to review and the rest: files that are skipped, or
// failed because they cannot be reviewed at all. Both keep the order of the change.
func Files(files []diff.File, o Options) (review []diff.File, rest []finding.FileReview) {
	for _, f := range files {
		if v := o.judge(f); v.state != "" {
			rest = append(rest, finding.FileReview{Path: f.Path, State: v.state, Reason: v.reason, Claim: v.claim})
			continue
		}
		review = append(review, f)
	}
	return review, rest
}

// Reviews reports whether a file is reviewed.
func (o Options) Reviews(f diff.File) bool { return o.judge(f).state == "" }

// Part returns the part of a file that is reviewed: all of it, or the beginning if the file itself
// claims to need no review. It also returns that claim.
func (o Options) Part(f diff.File) (diff.File, finding.Reason) {
	v := o.judge(f)
	if v.claim != "" {
		f.Patch = diff.Cut(f.Patch, MaxClaimed)
	}
	return f, v.claim
}

// verdict says why a file is not reviewed; an empty state means that it is. claim is unconfirmed.
type verdict struct {
	state  finding.State
	reason finding.Reason
	claim  finding.Reason
}

// judge returns the first applicable reason, the one that a person would give. Ignored files come
// before sizes and problems, which would call for attention.
func (o Options) judge(f diff.File) verdict {
	if diff.CheckPath(f.Path) != nil || f.OldPath != "" && diff.CheckPath(f.OldPath) != nil {
		return verdict{state: finding.Failed, reason: "no repository can hold its path"}
	}
	if reason := nothingToRead(f); reason != "" {
		return verdict{state: finding.Skipped, reason: reason}
	}
	borne, alone := o.claimReasons(f)
	switch {
	case borne != "" && f.Patch == "" && f.Changes() > 0 && f.Blob == "":
		// its patch was left out, so it was not searched for credentials
		return verdict{state: finding.Skipped, reason: finding.TooLarge}
	case borne != "":
		return verdict{state: finding.Skipped, reason: borne}
	case pattern.Matches(o.Ignore, f.Path):
		return verdict{state: finding.Skipped, reason: finding.Ignored}
	case f.Binary:
		return verdict{finding.Skipped, finding.Binary, finding.Binary}
	case f.Problem != "":
		return verdict{state: finding.Failed, reason: finding.Reason(f.Problem)}
	case f.Patch == "" && f.Changes() > 0, alone == "" && f.Changes() > cmp.Or(o.MaxLines, config.DefaultMaxLines):
		return verdict{finding.Skipped, finding.TooLarge, alone}
	case f.Patch == "":
		return verdict{state: finding.Skipped, reason: finding.NoContent}
	}
	return verdict{claim: alone}
}

// nothingToRead returns why a file has nothing to read, whatever it claims; otherwise "".
func nothingToRead(f diff.File) finding.Reason {
	none := f.Patch == "" && f.Changes() == 0 && !f.Binary && f.Problem == ""
	switch {
	case f.Status == diff.Removed:
		return finding.Deleted
	case f.Status == diff.Renamed && none:
		return finding.Renamed
	case (f.Status == diff.Changed || f.Status == diff.Modified) && none:
		return finding.Mode
	case isSubmodule(f):
		return finding.Submodule
	}
	return ""
}

var submoduleCommit = pattern.Lazy(`^Subproject commit [0-9a-f]{7,64}$`)

// isSubmodule reports whether a file is a submodule: its only line names another repository's
// commit.
func isSubmodule(f diff.File) bool {
	if len(f.Patch) > 400 {
		return false
	}
	hunks, err := f.Hunks()
	return err == nil && len(hunks) == 1 && !slices.ContainsFunc(hunks[0].Lines, func(l diff.Line) bool {
		return !submoduleCommit().MatchString(l.Text)
	})
}

// claimReasons returns the reason not to read a file that the base confirms, or else the one that only
// the change gives. If the repository's attributes say whether a file is generated or binary, or
// that it is not vendored, they decide.
func (o Options) claimReasons(f diff.File) (borne, alone finding.Reason) {
	for _, reason := range []finding.Reason{finding.Binary, finding.Generated, finding.Vendored} {
		if is, _ := o.Attributes.Say(f.Path, reason); is && (reason != finding.Binary || f.Binary) {
			return reason, ""
		}
	}
	for _, c := range linguist.Of(f) {
		_, said := o.Attributes.Say(f.Path, c.Reason)
		switch {
		case said:
		case c.Borne:
			return c.Reason, ""
		case alone == "":
			alone = c.Reason
		}
	}
	return "", alone
}

// confidence of triage's own findings: high enough to be shown.
const confidence = 0.8

// CompareRisk orders files by risk, highest first: by what is lost if they are not reviewed; ties go to the
// file with more changes.
func CompareRisk(a, b diff.File) int {
	return cmp.Or(cmp.Compare(risk(b), risk(a)), cmp.Compare(b.Changes(), a.Changes()))
}

func risk(f diff.File) int {
	kind := lang.Of(f.Path).Kind
	switch {
	case kind == lang.Prose:
		return 0
	case lang.IsTest(f.Path):
		return 1
	case sensitivePath().MatchString(f.Path):
		return 4
	case kind == lang.Settings:
		return 2
	}
	return 3
}

var sensitivePath = pattern.Lazy(`(?i)auth|login|passw|session|token|secret|crypt|permission|polic|acl|rbac|` +
	`admin|payment|billing|ledger|invoice|account|migrat|\.sql$|security|sanitiz|\.github/workflows/`)
