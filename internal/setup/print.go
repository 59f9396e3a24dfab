package setup

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

const width = 80 // of the output, in columns

// print reports what was seen, chosen, written and done, and what is left to do.
func (c *Command) print(p Report, r *repository) error {
	if c.JSON {
		return driver.PrintJSON(c.Stdout, p)
	}
	var b strings.Builder
	printWrapped(&b, "", 0, p.about)
	printWrapped(&b, "", 0, fmt.Sprintf("Route %s: %s.", p.Route, p.Why))
	b.WriteByte('\n')
	for _, f := range p.Files {
		fmt.Fprintf(&b, "  %-8s %s\n", f.State, f.Path)
	}
	for _, s := range p.Steps {
		if s.State != toDo {
			fmt.Fprintf(&b, "  %-8s %s\n", s.State, s.What)
		}
		if s.State == failed {
			printWrapped(&b, "", 11, s.Why)
		}
	}
	c.printLeft(&b, p.Steps)
	for _, note := range p.Notes {
		b.WriteByte('\n')
		printWrapped(&b, "", 0, "Note: "+note+".")
	}
	for i, what := range p.Unseen {
		if i == 0 {
			fmt.Fprint(&b, "\nNot seen:\n")
		}
		printWrapped(&b, "", 2, what)
	}
	fmt.Fprintf(&b, "\nThen commit .github, merge it into %s, and check: %s init --check\n",
		cmp.Or(r.branch, "the default branch"), c.Name)
	_, err := io.WriteString(c.Stdout, guard.Text(b.String()))
	return err
}

// printLeft prints the commands of the steps that are still to do.
func (c *Command) printLeft(b *strings.Builder, steps []Step) {
	var left int
	for _, s := range steps {
		if s.State == there || s.State == done {
			continue
		}
		if left++; left == 1 && c.Apply {
			fmt.Fprint(b, "\nLeft to do on GitHub:\n")
		} else if left == 1 {
			fmt.Fprintf(b, "\nTo do on GitHub, by an administrator; %s init --apply does it, or:\n", c.Name)
		}
		fmt.Fprintf(b, "\n  # %s\n", s.What)
		if s.Why != "" && s.State == toDo {
			printWrapped(b, "  # ", 4, "left: "+s.Why)
		}
		for _, command := range s.Commands {
			fmt.Fprintf(b, "  %s\n", commandBreaks.Replace(command))
		}
	}
}

// printWrapped prints a text wrapped to width and indented by indent columns, with a label
// before its first line.
func printWrapped(w io.Writer, label string, indent int, text string) {
	for _, row := range column.Wrap(guard.Line(text, driver.MaxLine), width-indent) {
		fmt.Fprintf(w, "%-*s%s\n", indent, label, row)
		label = ""
	}
}

// commandBreaks breaks a shell command into continued lines, one for each field. Its patterns cannot occur in a label,
// which has neither quotes nor an equals sign.
var commandBreaks = strings.NewReplacer(" -F '", " \\\n    -F '", ` -F "`, " \\\n    -F \"", " -f name=",
	" \\\n    -f name=", " --description '", " \\\n    --description '", `' '"`, "' \\\n    '\"", "' | ", "' |\n    ")

// printRow prints one site of a list: what would be written there, or what happened to it.
func (c *Command) printRow(s *Site) {
	if c.JSON {
		return
	}
	printWrapped(c.Stdout, s.State, 8, s.outcome())
	if s.Next != "" {
		printWrapped(c.Stdout, "", 10, "next: "+s.Next)
	}
}

func (s *Site) outcome() string {
	switch s.State {
	case done, there:
		return s.URL
	case failed:
		return strings.TrimSpace(s.Repository + ": " + s.Error + " " + s.URL)
	case kept:
		return strings.TrimSpace(s.Repository + ": " + s.Why + " " + s.URL)
	case left:
		return s.Repository + ": not come to; run the same again"
	}
	return fmt.Sprintf("%s: %s, route %s, %s", s.Repository, s.Visibility, s.Route,
		wording.Count(len(s.pullFiles()), "file"))
}

func repositories(n int) string {
	return strings.Replace(wording.Count(n, "repository"), "repositorys", "repositories", 1)
}

// printEnd prints what the rows have in common, and what to do next. It returns an error if a
// site failed or was left.
func (c *Command) printEnd(sites []*Site) error {
	counts := map[string]int{}
	var unseen []string // and notes, each once
	for _, s := range sites {
		counts[s.State]++
		unseen = append(append(unseen, s.Unseen...), s.Notes...)
	}
	var err error
	what := fmt.Sprintf("%d of %s could not be set up", counts[failed]+counts[left], repositories(len(sites)))
	if counts[failed]+counts[left] > 0 {
		err = driver.Reported{Err: problem.New(what, "", "")}
	}
	if c.JSON {
		return cmp.Or(driver.PrintJSON(c.Stdout, map[string]any{"organization": c.Org, "applied": c.Apply,
			"repositories": sites}), err)
	}
	var b strings.Builder
	slices.Sort(unseen)
	for i, note := range slices.Compact(unseen) {
		if i == 0 {
			fmt.Fprint(&b, "\nNot seen, or to know:\n")
		}
		printWrapped(&b, "", 2, note)
	}
	if err != nil {
		fmt.Fprintf(&b, "\n%s.\n", what)
	}
	c.printNext(&b, counts, sites)
	fmt.Fprint(c.Stdout, guard.Text(b.String()))
	return err
}

// printNext prints what is left to do.
func (c *Command) printNext(b *strings.Builder, counts map[string]int, sites []*Site) {
	if !c.Apply {
		fmt.Fprintf(b, "\nNothing was written. --apply opens %s.\n", wording.Count(counts[toDo], "pull request"))
		return
	}
	opened := 0
	var open []string
	for _, s := range sites {
		if s.opened {
			opened++
		}
		if s.URL != "" && s.State != kept {
			open = append(open, s.r.ref.Repo)
		}
	}
	fmt.Fprintf(b, "\nOpened: %d. There before: %d. Not needed: %d.\n", opened, counts[there], counts[kept])
	if len(open) > 0 {
		fmt.Fprintf(b, "\nEach pull request says what to see to before it is merged. The model's key:\n\n"+
			"  gh secret set %s --org %s --repos %s\n", keySecret, c.Org, strings.Join(open, ","))
	}
}
