// Package evalcmd is the front of the evals: the commands that run cases, show
// and compare runs, import cases, and answer public benchmarks. It reads flags
// and files and prints; what is measured is done in eval and the rooms below it.
// Start reading at Commands, then at cmd_run.go.
package evalcmd

import (
	"context"

	"github.com/spf13/pflag"
)

// Command is one of the eval commands, for the program's table of commands.
type Command struct {
	Name, Args, Help string
	Flags            func(*pflag.FlagSet, *Options)
	Run              func(context.Context, Program, []string, *Options) error
}

// Commands lists the eval commands.
func Commands() []Command {
	return []Command{
		{"eval run", "<CASES.jsonl | starter | tickets>…",
			"review changes whose defects are known, and score what is found",
			runFlags, run},
		{"eval show", "<case>", "print all that one case was given, answered and scored", showFlags, show},
		{"eval diff", "<DIR> <DIR>", "compare two runs case by case", diffFlags, diff},
		{"eval import", "<owner/repo>", "make cases of merged pull requests and their human comments",
			importFlags, importCases},
		{"eval findings", "", "review a diff for a public benchmark and write findings as JSON",
			findingsFlags, findings},
	}
}
