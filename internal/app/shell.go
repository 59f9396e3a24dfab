package app

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/pull"
)

// dispatch is the command that starts a workflow for a pull request.
func dispatch(workflow string, ref pull.Ref, number int) string {
	return fmt.Sprintf("gh workflow run %s --repo %s -f pull-request=%d", path.Base(workflow), ref.FullName(), number)
}

// quoted makes one word of s for a shell, where it is none as it stands.
func quoted(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.:#@~_-", r)
	}) < 0
	if plain && s != "" && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// abbreviated shortens a thread's last part to what names it.
func abbreviated(thread string) string {
	i := strings.LastIndexByte(thread, ':')
	return thread[:i+1] + thread[i+1:min(len(thread), i+8)]
}

// withCommands are the flags that give the commands of texts, one a line.
func withCommands(texts []string) (flags string) {
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		if command := strings.TrimSpace(line); command != "" {
			flags += " --command " + quoted(command)
		}
	}
	return flags
}
