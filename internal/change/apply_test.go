package change_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
)

// Git takes the diff of every path and text that may be proposed.
func TestGitAppliesWhatIsUnified(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ before, after string }{
		"a b/c d.txt":    {"one\ntwo\n", "one\n2\n"},
		"größe/日本.txt":   {"one\n", "two\n"},
		"crlf.txt":       {"one\r\ntwo\r\n", "one\r\n2\r\n"},
		"no-end.txt":     {"one\ntwo", "one\n2"},
		"end-added.txt":  {"one", "one\n"},
		"end-taken.txt":  {"one\n", "one"},
		"emptied.txt":    {"one\n", ""},
		"new/empty.txt":  {"", ""},
		"new/no-end.txt": {"", "one"},
		"it's $HOME.txt": {"one\n", "two\n"},
		"--help/-x.txt":  {"one\n", "two\n"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir, base := t.TempDir(), ""
			file := filepath.Join(dir, path)
			if !strings.HasPrefix(path, "new/") {
				base = "aa"
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
				require.NoError(t, os.WriteFile(file, []byte(c.before), 0o600))
			}
			apply := exec.CommandContext(t.Context(), "git", "apply", "-")
			apply.Dir = dir
			apply.Stdin = strings.NewReader(change.Unified([]change.File{change.Of(path, "", base, c.before, c.after)}))
			out, err := apply.CombinedOutput()
			require.NoError(t, err, "%s", out)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.after, string(text))
		})
	}
}
