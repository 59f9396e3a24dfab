package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	ruleRow  = regexp.MustCompile(`(?m)^\| ((?:P|G|T|D|Check)\d+) \| (.*) \|$`)
	testName = regexp.MustCompile(`(?m)^func (?:Test|Fuzz)(\w+)\(`)
	ruleID   = regexp.MustCompile(`(?:^|_|And|Of)((?:P|G|T|D|Check)\d+)`)
	saidID   = regexp.MustCompile(`(?:\b|_|Test|Fuzz)((?:P|G|T|D|Check)\d+)`)
)

// Every rule that .github/RULES.md lists has a test whose name or comment says its
// number, and no test says a number that is not listed.
func TestRulesAreListedAndTested(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../.github/RULES.md")
	require.NoError(t, err)
	rules, tested := map[string]string{}, map[string]bool{}
	for _, row := range ruleRow.FindAllStringSubmatch(string(page), -1) {
		require.NotContains(t, rules, row[1], "listed twice")
		rules[row[1]] = row[2]
	}
	require.Greater(t, len(rules), 100)
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, name := range testName.FindAllStringSubmatch(string(source), -1) {
			for _, id := range ruleID.FindAllStringSubmatch(name[1], -1) {
				require.Contains(t, rules, id[1], "%s: %s", path, name[1])
			}
		}
		for _, id := range saidID.FindAllStringSubmatch(string(source), -1) {
			tested[id[1]] = true
		}
		return err
	})
	require.NoError(t, err)
	for id, rule := range rules {
		assert.Equal(t, !strings.HasSuffix(rule, "(*to come*)"), tested[id], "%s: %s", id, rule)
	}
}

// The page for people names every threat of the list, and no other.
func TestTheSecurityPageNamesEveryThreat(t *testing.T) {
	t.Parallel()
	numbers := func(path, row string) (all []string) {
		for _, line := range regexp.MustCompile(row).FindAllStringSubmatch(read(t, path), -1) {
			all = append(all, regexp.MustCompile(`T\d+`).FindAllString(line[1], -1)...)
		}
		return all
	}
	require.ElementsMatch(t, numbers("../.github/RULES.md", `(?m)^\| (T\d+) \|`),
		numbers("../.github/SECURITY.md", `(?m)^\| [^|]+ \| (T\d+(?:, T\d+)*) \|`))
}
