package rule

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

func TestD11_AListOfWhatToolsAreNotToReportIsFlaggedWhereItGrows(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		patch string
		more  string
	}{
		".eslintignore":       {"@@ -1 +1,5 @@\n a\n+# why\n+b\n+\n+c", "suppresses 2 more"},
		"web/.gitleaksignore": {"@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d", ""},
		".semgrepignore":      {"@@ -1,2 +1 @@\n-a\n b", ""},
		".golangci.yml": {"@@ -3,2 +3,5 @@\n   exclude-rules:\n     - path: a\n+    - path: " +
			"_test\\.go\n+      linters: [gosec]\n+    - text: G101", "suppresses 2 more"},
		".golangci.yaml":             {"@@ -3 +3,2 @@\n   enable:\n+    - gosec", ""},
		"config/detekt-baseline.xml": {"@@ -3 +3,2 @@\n <ID>a</ID>\n+<ID>b</ID>", "suppresses 1 more"},
		"app/lint-baseline.xml":      {"@@ -3 +3,2 @@\n <issues>\n+<issue id=\"x\"", "suppresses 1 more"},
		"config/checkstyle/suppressions.xml": {"@@ -3 +3,2 @@\n <suppressions>\n+<suppress checks=\"x\"/>",
			"suppresses 1 more"},
		"phpstan-baseline.neon": {"@@ -3 +3,4 @@\n x:\n+  -\n+    message: '#a#'\n+    count: 1", "suppresses 1 more"},
		".secrets.baseline":     {"@@ -3 +3,2 @@\n {\n+  \"hashed_secret\": \"x\",", "suppresses 1 more"},
		".rubocop_todo.yml":     {"@@ -3 +3,3 @@\n Exclude:\n+  - 'a.rb'\n+  - 'b.rb'", "suppresses 2 more"},
		".gitattributes": {"@@ -1 +1,3 @@\n *.go text\n+src/** linguist-generated\n+*.png -text",
			"suppresses 1 more"},
		"src/eslintignore.go": {"@@ -1 +1,2 @@\n a\n+b", ""},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			flags := Grown(diff.File{Path: path, Status: diff.Modified, Patch: c.patch})
			if c.more == "" {
				require.Empty(t, flags)
				return
			}
			require.Len(t, flags, 1)
			require.Equal(t, []any{path, finding.SuppressionFlag, c.more},
				[]any{flags[0].Path, flags[0].Kind, flags[0].Text})
			require.Positive(t, flags[0].Line)
		})
	}
}
