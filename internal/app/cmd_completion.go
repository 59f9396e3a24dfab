package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/problem"
)

// shells are the scripts by which a shell asks the program what may stand next: each hands
// the words up to the cursor to "completion words", and offers files where that says nothing.
var shells = map[string]string{
	"bash": `_pr_review_action() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <(pr-review-action completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _pr_review_action pr-review-action
`,
	"zsh": `#compdef pr-review-action
_pr-review-action() {
  local -a found
  found=("${(@f)$(pr-review-action completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)${(@)found:#}//:/\\:}")
  found=("${(@)found/$'\t'/:}")
  (( $#found )) && _describe pr-review-action found || _files
}
if [ "$funcstack[1]" = _pr-review-action ]; then _pr-review-action "$@"
else compdef _pr-review-action pr-review-action; fi
`,
	"fish": `complete -c pr-review-action \
  -a '(pr-review-action completion words -- (commandline -opc)[2..-1] (commandline -ct))'
`,
}

// completionCommand prints a script for a shell, and what that asks for: words of all
// commands, of which it is one.
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
			if len(args) != 1 || shells[args[0]] == "" {
				return problem.Usage("completion takes the name of a shell", a.name+" completion bash, fish or zsh")
			}
			fmt.Fprint(a.Stdout, shells[args[0]])
			return nil
		}}
}

// completions are what may stand in place of the last word, each with a tab and what it is:
// a command, or behind one its flags.
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
