package app

import (
	"context"
	"fmt"
	"regexp"
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

// completions are what may stand in place of the last word, each with a tab and what it is.
func completions(commands []command, words []string) []string {
	last, before := words[len(words)-1], words[:len(words)-1]
	if n := len(before); last == "=" { // bash makes three words of --flag=value
		last = ""
	} else if n > 1 && before[n-1] == "=" {
		before = before[:n-1]
	}
	all := commandsAfter(commands, before)
	if len(before) > 0 {
		if c, _, _ := lookup(commands, before); c.run != nil {
			all = c.after(before[len(before)-1], last)
		}
	}
	return slices.DeleteFunc(slices.Compact(all), func(w string) bool { return !strings.HasPrefix(w, last) })
}

// commandsAfter are the words that go on with the name of a command.
func commandsAfter(all []command, before []string) (found []string) {
	for _, c := range all {
		rest, within := strings.CutPrefix(c.name, strings.Join(append(slices.Clone(before), ""), " "))
		switch next, _, more := strings.Cut(rest, " "); {
		case within && more:
			found = append(found, next)
		case within:
			found = append(found, next+"\t"+c.help)
		}
	}
	return found
}

// after is what may stand behind a word of the command: a value of that flag, a flag, or a
// word that the command takes.
func (c command) after(word, last string) (found []string) {
	flags, _ := c.parse(nil)
	name, _, joined := strings.Cut(last, "=")
	of := flags.Lookup(strings.TrimPrefix(word, "--"))
	switch {
	case joined && strings.HasPrefix(name, "--"):
		for _, v := range valuesOf(flags.Lookup(name[2:])) {
			found = append(found, name+"="+v)
		}
	case strings.HasPrefix(word, "--") && of != nil && of.NoOptDefVal == "":
		return valuesOf(of)
	case strings.HasPrefix(last, "-"):
		flags.VisitAll(func(f *pflag.Flag) { found = append(found, "--"+f.Name+"\t"+f.Usage) })
	case word == c.name:
		words, _, _ := strings.Cut(c.args, " [")
		return slices.DeleteFunc(strings.Split(words, " | "), func(w string) bool { return !plainWord.MatchString(w) })
	}
	return found
}

var (
	plainWord = regexp.MustCompile(`^[a-z]+$`)
	choice    = regexp.MustCompile(`^([a-z]+(?:, [a-z]+)*) or ([a-z]+)\b`)
)

// valuesOf are what a flag may be, as its type or its help lists them.
func valuesOf(f *pflag.Flag) []string {
	switch {
	case f == nil:
	case strings.Contains(f.Value.Type(), "|"):
		return strings.Split(f.Value.Type(), "|")
	case strings.Contains(f.Usage, "severity"):
		return []string{"nit", "minor", "major", "blocker"}
	default:
		if m := choice.FindStringSubmatch(f.Usage); m != nil {
			return append(strings.Split(m[1], ", "), m[2])
		}
	}
	return nil
}
