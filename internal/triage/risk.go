package triage

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
)

// CompareRisk orders files by what is lost when they are not reviewed: gravest
// first. What guards money, data and access comes before other code, code
// before tests and settings, and these before prose; of two alike the one with
// more changes comes first.
func CompareRisk(a, b diff.File) int {
	return cmp.Or(cmp.Compare(risk(b), risk(a)), cmp.Compare(b.Changes(), a.Changes()))
}

func risk(f diff.File) int {
	switch {
	case prose(f.Path):
		return 0
	case tests.MatchString(f.Path):
		return 1
	case sensitive.MatchString(f.Path):
		return 4
	case settings[strings.ToLower(path.Ext(f.Path))]:
		return 2
	}
	return 3
}

var (
	sensitive = regexp.MustCompile(`(?i)auth|login|passw|session|token|secret|crypt|permission|polic|acl|rbac|admin|payment|billing|ledger|invoice|account|migrat|\.sql$|security|sanitiz|\.github/workflows/`)
	tests     = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|testdata|spec|fixtures?|e2e)/|_test\.\w+$|[.\-_](?:test|spec)\.\w+$|(?:^|/)test_[^/]*\.py$|Tests?\.(?:java|cs|kt)$`)
	settings  = map[string]bool{".json": true, ".yml": true, ".yaml": true, ".toml": true, ".ini": true, ".xml": true, ".cfg": true, ".properties": true, ".env": true}
)

// prose reports whether a file is text for people.
func prose(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".rst", ".txt", ".adoc", ".markdown":
		return true
	}
	return false
}
