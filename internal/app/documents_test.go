package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/local"
)

// pages are the documents for people, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, glob := range []string{"../../README.md", "../../.github/*.md", "../../.github/decisions/*.md"} {
		paths, err := filepath.Glob(glob)
		require.NoError(t, err)
		require.NotEmpty(t, paths, glob)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[strings.TrimPrefix(filepath.ToSlash(path), "../../")] = string(text)
		}
	}
	return all
}

var (
	codeBlock = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```$")
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	// ours is a command line of this program, up to the shell's next word or the end of a comment.
	ours = regexp.MustCompile(`(?m)(?:^|[\s(;|&'/])(?:pr-review-action|go run \.) ([^;|&#\n]*)`)
	word = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)
)

// commandLines are the command lines of this program that a page shows, without its name.
func commandLines(page string) (lines []string) {
	var code []string
	for _, m := range codeBlock.FindAllStringSubmatch(page, -1) {
		code = append(code, m[1])
	}
	for _, m := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		code = append(code, m[1])
	}
	for _, text := range code {
		for _, m := range ours.FindAllStringSubmatch(text, -1) {
			line, _, _ := strings.Cut(m[1], "  ") // a remark is apart
			lines = append(lines, strings.TrimRight(line, " )'"))
		}
	}
	return lines
}

func TestEveryCommandLineOfTheDocumentsIsUnderstood(t *testing.T) {
	t.Parallel()
	seen := 0
	for path, page := range pages(t) {
		for _, line := range commandLines(page) {
			seen++
			t.Run(path+": "+line, func(t *testing.T) { require.NoError(t, understood(t, line)) })
		}
	}
	require.GreaterOrEqual(t, seen, 50)
	require.ErrorContains(t, understood(t, "review --aprove"), "unknown flag")
	require.ErrorContains(t, understood(t, "revue demo"), "unknown command")
	require.ErrorContains(t, understood(t, "search x --k many"), "--k")
}

// understood is what the program's own parser says of a command line, which is not carried out.
func understood(t *testing.T, line string) error {
	t.Helper()
	var args []string
	for _, w := range word.FindAllString(line, -1) {
		if !strings.ContainsAny(w, "<>") { // where the output goes
			args = append(args, strings.Trim(w, `"'`))
		}
	}
	if len(args) == 0 || args[0] == "…" || args[0] == "." { // what is left of: go build -o pr-review-action .
		return nil
	}
	a := &app{&local.Terminal{Front: driver.NewFront(Process{}), Name: "pr-review-action"}}
	all := a.commands()
	c, rest, name := lookup(all, args)
	if c.run == nil {
		// eval's are named by its page
		if name == "help" || slices.ContainsFunc(all, func(c command) bool { return c.name == name+" run" }) {
			return nil
		}
		return fmt.Errorf("unknown command %q", name)
	}
	flags, err := c.parse(rest)
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		return flagError(err, flags, "")
	}
	return nil
}

func TestTheHelpOfEveryCommandFitsATerminal(t *testing.T) {
	t.Parallel()
	a := &app{&local.Terminal{Front: driver.NewFront(Process{}), Name: "pr-review-action"}}
	for _, c := range a.commands() {
		t.Run(c.name, func(t *testing.T) {
			flags, err := c.parse([]string{"--help"})
			require.ErrorIs(t, err, pflag.ErrHelp)
			var page strings.Builder
			a.printHelp(&page, c, flags)
			_, below, _ := strings.Cut(page.String(), "\nFlags:\n") // usage and examples are lines to be copied
			for line := range strings.Lines(below) {
				require.LessOrEqual(t, utf8.RuneCountInString(line), helpColumns+1, line)
			}
		})
	}
}
