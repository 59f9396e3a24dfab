// Package triage decides, without a model, which changed files are reviewed and
// says why for each one that is not.
//
// It looks at names, sizes and patches alone, so that the same change gives the
// same answer everywhere. Start reading at Files.
package triage

import (
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// MaxChanges is the number of changed lines above which a file is too large to
// be reviewed in one piece.
const MaxChanges = 5000

// Options are the repository's own rules.
type Options struct {
	Ignore     []string   // globs
	Attributes Attributes // of the base commit

	Settings     string   // path of the settings file that the review goes by; empty where there is none
	Instructions []string // paths of the files that guide it
}

// Files parts the changed files into those to review and those to skip. Both
// keep the order of the change; every file is in exactly one of them, except
// that one which cannot be reviewed at all is reported as failed.
func Files(files []diff.File, o Options) (review []diff.File, rest []finding.FileReview) {
	for _, f := range files {
		if state, reason := judge(f, o); state != "" {
			rest = append(rest, finding.FileReview{Path: f.Path, State: state, Reason: reason})
			continue
		}
		review = append(review, f)
	}
	return review, rest
}

// Reviews reports whether a file is one to review.
func (o Options) Reviews(f diff.File) bool {
	state, _ := judge(f, o)
	return state == ""
}

// judge gives the state of a file that is not reviewed, or "" for one that is.
// The first reason is the one that a person would give. What a repository
// ignores comes before sizes and problems, which would call for attention.
func judge(f diff.File, o Options) (finding.State, finding.Reason) {
	if diff.CheckPath(f.Path) != nil || f.OldPath != "" && diff.CheckPath(f.OldPath) != nil {
		return finding.Failed, "its path is none that a repository can hold"
	}
	if reason := skipReason(f, o); reason != "" {
		return finding.Skipped, reason
	}
	if f.Problem != "" {
		return finding.Failed, finding.Reason(f.Problem)
	}
	if f.Patch == "" && f.Changes() > 0 {
		return finding.Skipped, finding.TooLarge // its patch was left out to make the change fit
	}
	if f.Patch == "" {
		return finding.Skipped, finding.NoContent
	}
	return "", ""
}

func skipReason(f diff.File, o Options) finding.Reason {
	switch {
	case f.Status == diff.Removed:
		return finding.Deleted
	case f.Status == diff.Renamed && f.Patch == "" && f.Changes() == 0:
		return finding.Renamed
	case f.Binary:
		return finding.Binary
	case lockfile(f.Path):
		return finding.Lockfile
	case generated(f, o.Attributes):
		return finding.Generated
	case inFolder(f.Path, vendored):
		return finding.Vendored
	case minifiedName.MatchString(f.Path) || minified(f.Patch):
		return finding.Minified
	case asset(f.Path):
		return finding.Asset
	case config.Matches(o.Ignore, f.Path):
		return finding.Ignored
	case f.Changes() > MaxChanges:
		return finding.TooLarge
	}
	return ""
}

// generated asks the repository's attributes first; only where they say nothing
// do names and headers count.
func generated(f diff.File, a Attributes) bool {
	if is, said := a.Generated(f.Path); said {
		return is
	}
	return generatedName.MatchString(f.Path) || generatedHeader(f.Patch)
}
