package app

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/problem"
)

// examples maps a command to command lines to start with, without the program's name.
var examples = map[string][]string{
	"review": {
		"review                                      # the work tree against the default branch",
		"review owner/repo#42                        # a pull request; posts with --approve",
		"review main...HEAD --provider offline       # by rules, without a model",
		"git diff --staged | %s review -                # a diff",
	},
	"implement": {`implement TICKET.md --check "go test ./..."  # commits to a new branch`},
	"resume": {
		"resume owner/repo#42                        # shows the draft and asks",
		`resume owner/repo#42 --approve --command "/drop F2: as intended"`,
	},
	"show":       {"show owner/repo#42                          # the draft"},
	"stats":      {"stats 'acme/*' --since 30d                  # of all repositories on GitHub that the token sees"},
	"threads":    {"threads owner/repo"},
	"init":       {"init --apply --reviewer acme/maintainers    # files, environments; gh asks for the model's key"},
	"config":     {"config check                                # .github/pr-review.yml; mistakes with their lines"},
	"eval run":   {"eval run starter --provider offline"},
	"index":      {"index --dir ."},
	"search":     {`search "where is the retry limit checked"`},
	"completion": {"source <(%s completion bash)"},
	"context":    {"context owner/repo#42                       # what tickets and pages a review would read"},
}

// environmentHelp lists the environment variables that the program reads, except OpenTelemetry's.
const environmentHelp = `Environment:
  OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL
      the model; without a key or address the rules review
  GITHUB_TOKEN, GH_TOKEN
      to read private pull requests, to post and to decide on GitHub
  PR_REVIEW_STORE
      where drafts wait: a folder or an address, as for --store
  PR_REVIEW_CHECKPOINT_KEY
      for drafts that are sealed or encrypted
  HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, NO_COLOR
      as usual
`

const exitCodes = `Exit codes:
  0  done, or a draft waits
  1  failed, or fail-on was reached
  2  wrong usage or settings
  3  refused or expired
  4  the cost cap was reached before any file was reviewed
`

// helpColumns is the width of the help text.
const helpColumns = 80

// printUsage prints the help of the whole program.
func (a *app) printUsage(w io.Writer) {
	fmt.Fprintf(w, "%s reviews a change, or writes one for a ticket, and stops for a person's decision.\n\n", a.Name)
	a.printSummaries(w, "")
	fmt.Fprintf(w, "\n%s\n%s\nTry: %s review demo\n", environmentHelp, exitCodes, a.Name)
}

// printSummaries prints the synopsis and the help line of each command whose name has the prefix.
func (a *app) printSummaries(w io.Writer, prefix string) {
	for _, c := range a.commands() {
		if strings.HasPrefix(c.name, prefix) {
			fmt.Fprintf(w, "  %s\n", a.synopsis(c))
			fmt.Fprintf(w, "      %s\n", strings.Join(column.Wrap(c.help, helpColumns-6), "\n      "))
		}
	}
}

// synopsis returns a command's name and arguments, as one types them.
func (a *app) synopsis(c command) string {
	return strings.TrimRight(a.Name+" "+c.name+" "+c.args, " ")
}

// printHelp prints the help of one command: what it does, its flags, examples.
func (a *app) printHelp(w io.Writer, c command, flags *pflag.FlagSet) {
	fmt.Fprintf(w, "%s\n  %s\n", a.synopsis(c),
		strings.Join(column.Wrap(c.help, helpColumns-2), "\n  "))
	for i, line := range examples[c.name] {
		if i == 0 {
			fmt.Fprint(w, "\nExamples:\n")
		}
		if !strings.Contains(line, "%s") {
			line = "%s " + line
		}
		fmt.Fprintf(w, "  "+line+"\n", a.Name)
	}
	if usages := flags.FlagUsagesWrapped(helpColumns); usages != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", usages)
	}
	fmt.Fprintf(w, "\n%s\n%s", environmentHelp, exitCodes)
}

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
			text := string(script)
			if !strings.Contains(a.Name, " ") { // not go run, whose program is installed under its own name
				text = strings.ReplaceAll(text, "pr-review-action", a.Name)
			}
			fmt.Fprint(a.Stdout, text)
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
			flags.VisitAll(func(f *pflag.Flag) {
				_, usage := pflag.UnquoteUsage(f)
				found = append(found, "--"+f.Name+"\t"+usage)
			})
		}
	}
	return slices.DeleteFunc(slices.Compact(found), func(w string) bool { return !strings.HasPrefix(w, last) })
}
