package lang

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// testFolders hold tests and what they read.
var testFolders = strings.Fields("test tests __tests__ testdata testing spec fixture fixtures e2e mock mocks " +
	"__mocks__ integration")

var testNames = regexp.MustCompile(`(?i:[.\-_](?:test|spec)\.\w+$|^(?:test_.*|conftest)\.py$|\.bats$)` +
	`|Tests?\.(?:java|cs|kt)$`)

// IsTest reports whether a file is of tests, by its path. Below src/main a folder
// of such a name is part of a package's name.
func IsTest(file string) bool {
	folders, name := path.Split(file)
	tests := testNames.MatchString(name)
	for folder := range strings.SplitSeq(folders, "/") {
		tests = tests || slices.Contains(testFolders, strings.ToLower(folder))
	}
	return tests && !strings.Contains("/"+file, "/src/main/")
}
