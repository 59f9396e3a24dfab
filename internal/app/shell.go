package app

import (
	"strings"

	"github.com/org/pr-review-action/internal/driver"
)

// abbreviated shortens a thread's last part to what names it.
func abbreviated(thread string) string {
	i := strings.LastIndexByte(thread, ':')
	return thread[:i+1] + thread[i+1:min(len(thread), i+8)]
}

// withCommands are the flags that give the commands of texts, one a line.
func withCommands(texts []string) (flags string) {
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		if command := strings.TrimSpace(line); command != "" {
			flags += " --command " + driver.Quoted(command)
		}
	}
	return flags
}
