package triage

import (
	"cmp"
	"regexp"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
)

// CompareRisk orders files by what is lost when they are not reviewed: gravest
// first. What guards money, data and access comes before other code, code
// before tests and settings, and these before prose; of two alike the one with
// more changes comes first.
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
	case sensitive.MatchString(f.Path):
		return 4
	case kind == lang.Settings:
		return 2
	}
	return 3
}

var sensitive = regexp.MustCompile(`(?i)auth|login|passw|session|token|secret|crypt|permission|polic|acl|rbac|admin|` +
	`payment|billing|ledger|invoice|account|migrat|\.sql$|security|sanitiz|\.github/workflows/`)
