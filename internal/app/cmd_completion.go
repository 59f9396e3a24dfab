package app

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/problem"
)

// completionScripts holds a script per shell. Each passes the words up to the cursor to
// "completion words", and completes file names if that prints nothing.
//
//go:embed completion.bash completion.zsh completion.fish
var completionScripts embed.FS

// completionCommand prints a shell's completion script, and the words that the script asks
// for. It takes a function, as the commands to complete include itself.
func (a *app) completionCommand(all func() []command) command {
	return command{name: "completion", args: "bash | fish | zsh",
		help: "print the script that completes command lines in a shell",
		run: func(_ context.Context, args []string) error {
			if len(args) > 1 && args[0] == "words" {
				for _, line := range completions(all(), args[1:]) {
					fmt.Fprintln(a.Stdout, line)
				}
				return nil
			}
			script, err := completionScripts.ReadFile("completion." + strings.Join(args, " "))
			if err != nil {
				return problem.Usage("completion takes the name of a shell", a.Name+" completion bash, fish or zsh")
			}
			fmt.Fprint(a.Stdout, string(script))
			return nil
		}}
}

// completions returns the candidates for the last word, each with a tab and its help: command
// names, or after a command its flags.
func completions(commands []command, words []string) (found []string) {
	last, before := words[len(words)-1], words[:len(words)-1]
	for _, c := range commands {
		rest, within := strings.CutPrefix(c.name, strings.Join(append(slices.Clone(before), ""), " "))
		switch next, _, more := strings.Cut(rest, " "); {
		case within && more:
			found = append(found, next)
		case within:
			found = append(found, next+"\t"+c.help)
		}
	}
	if len(before) > 0 && strings.HasPrefix(last, "-") {
		if c, _, _ := lookup(commands, before); c.run != nil {
			flags, _ := c.parse(nil)
			flags.VisitAll(func(f *pflag.Flag) { found = append(found, "--"+f.Name+"\t"+f.Usage) })
		}
	}
	return slices.DeleteFunc(slices.Compact(found), func(w string) bool { return !strings.HasPrefix(w, last) })
}
