package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample makes a clone with a change on the branch work.
const sample = `git init -q -b main .; git remote add origin https://github.com/acme/payments
 echo 'package a' >a.go; git add .; git commit -qm one; git checkout -qb work
printf 'package a\n\nimport "crypto/tls"\n\nvar c = tls.Config{InsecureSkipVerify: true}\n' >a.go; git commit -qam two`

// run marks a block whose commands are run, one after the other, in one clone for a page.
var run = regexp.MustCompile("(?ms)^<!-- run -->\n```console\n(.*?)^```$")

var assignment = regexp.MustCompile(`^\w+=`)

// A block's other lines are what the command above them prints, in this order; … stands for what is left out.
func TestMarkedBlocksOfTheDocumentsPrintWhatTheyShow(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", ".github/GUIDES.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../..", page))
			require.NoError(t, err)
			blocks := run.FindAllStringSubmatch(string(text), -1)
			require.NotEmpty(t, blocks)
			shell := inSample(t)
			for _, block := range blocks {
				for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
					line, shown, _ := strings.Cut(step, "\n")
					printed := shell(strings.ReplaceAll(line, "go run . ", "pr-review-action "))
					for _, want := range strings.Split(strings.Trim(shown, "\n"), "\n") {
						if want == "…" {
							continue
						}
						_, after, found := strings.Cut(printed, want)
						require.True(t, found, "%s: no %q (in this order) in:\n%s", line, want, printed)
						printed = after
					}
				}
			}
		})
	}
}

// inSample runs lines of a shell in a clone with a change, on one day, without key or network.
func inSample(t *testing.T) func(line string) string {
	t.Helper()
	dir := t.TempDir()
	clone, assigned := filepath.Join(dir, "payments"), ""
	require.NoError(t, os.Mkdir(clone, 0o755))
	shell := func(line string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", assigned+line)
		if assignment.MatchString(line) {
			assigned += line + "\n"
		}
		cmd.Dir = clone
		cmd.Env = append(underRace(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "USER=rita", "NOW=2026-11-21T14:10:00Z",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-11-20T10:00:00Z",
			"GIT_COMMITTER_DATE=2026-11-20T10:00:00Z")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
		return string(out)
	}
	shell(sample)
	return shell
}
