package lang

import (
	"regexp"
	"strings"
)

var testNames = regexp.MustCompile(`(?i:(?:^|/)(?:tests?|__tests__|testdata|testing|spec|fixtures?|e2e|mocks?` +
	`|__mocks__|integration)/` +
	`|_test\.\w+$|[.\-_](?:test|spec)\.\w+$|(?:^|/)(?:test_[^/]*|conftest)\.py$|\.bats$)|Tests?\.(?:java|cs|kt)$`)

// IsTest reports whether a file is of tests, by its path. Below src/main a folder
// of such a name is part of a package's name.
func IsTest(file string) bool {
	return testNames.MatchString(file) && !strings.Contains("/"+file, "/src/main/")
}
