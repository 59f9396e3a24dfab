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
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wording"
)

const width = 80 // of the output, in columns

// print reports what was seen, chosen, written and done, and what is left to do.
func (c *Command) print(p Report, r *repository) error {
	if c.JSON {
		p.fillLists()
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
	fmt.Fprintf(&b, "\nThen commit .github, merge it into %s, and look: %s init --check\n",
		cmp.Or(r.branch, "the default branch"), c.Name)
	_, err := io.WriteString(c.Stdout, guard.Text(b.String()))
	return err
}

// fillLists replaces nil slices by empty ones, so that JSON has lists.
func (p *Report) fillLists() {
	p.Files, p.Steps = append([]File{}, p.Files...), append([]Step{}, p.Steps...)
	p.Notes, p.Unseen = append([]string{}, p.Notes...), append([]string{}, p.Unseen...)
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
			fmt.Fprintf(b, "  %s\n", wrapCommand(command))
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

// wrapCommand breaks a shell command into continued lines, one for each field.
func wrapCommand(command string) string { return commandBreaks.Replace(command) }

// commandBreaks holds patterns that cannot occur in a label, which has neither quotes nor an equals sign.
var commandBreaks = strings.NewReplacer(" -F '", " \\\n    -F '", ` -F "`, " \\\n    -F \"", " -f name=",
	" \\\n    -f name=", " --description '", " \\\n    --description '")

// table prints the sites of a list, each as soon as it and those before it are done.
type table struct {
	*Command
	unseen []string // what could not be seen, and notes, each once
}

func (c *Command) newTable(refs []pull.Ref) *table {
	if !c.JSON {
		fmt.Fprintf(c.Stdout, "%s of %s\n\n", repositories(len(refs)), c.Org)
	}
	return &table{Command: c}
}

// printRow prints one site: what would be written there, or what happened to it.
func (t *table) printRow(s *Site) {
	for _, what := range append(s.Unseen, s.Notes...) {
		if !slices.Contains(t.unseen, what) {
			t.unseen = append(t.unseen, what)
		}
	}
	if t.JSON {
		return
	}
	printWrapped(t.Stdout, s.State, 8, s.outcome())
	if s.Next != "" {
		printWrapped(t.Stdout, "", 10, "next: "+s.Next)
	}
}

func (s *Site) outcome() string {
	switch s.State {
	case done, there:
		return s.URL
	case failed:
		return s.Repository + ": " + s.Error
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
func (t *table) printEnd(sites []*Site) error {
	counts := map[string]int{}
	for _, s := range sites {
		counts[s.State]++
		s.fillLists()
	}
	var err error
	what := fmt.Sprintf("%d of %s could not be set up", counts[failed]+counts[left], repositories(len(sites)))
	if counts[failed]+counts[left] > 0 {
		err = driver.Reported{Err: problem.New(what, "", "")}
	}
	if t.JSON {
		if printed := driver.PrintJSON(t.Stdout, map[string]any{"organization": t.Org, "applied": t.Apply,
			"repositories": sites}); printed != nil {
			return printed
		}
		return err
	}
	var b strings.Builder
	for i, note := range t.unseen {
		if i == 0 {
			fmt.Fprint(&b, "\nNot seen, or to know:\n")
		}
		printWrapped(&b, "", 2, note)
	}
	if err != nil {
		fmt.Fprintf(&b, "\n%s.\n", what)
	}
	t.printNext(&b, counts, sites)
	fmt.Fprint(t.Stdout, guard.Text(b.String()))
	return err
}

// printNext prints what is left to do.
func (t *table) printNext(b *strings.Builder, counts map[string]int, sites []*Site) {
	if !t.Apply {
		fmt.Fprintf(b, "\nNothing was written. --apply opens %s.\n", wording.Count(counts[toDo], "pull request"))
		return
	}
	fmt.Fprintf(b, "\nOpened: %d. There before: %d. Not needed: %d.\n", counts[done], counts[there], counts[kept])
	var open []string
	for _, s := range sites {
		if s.URL != "" && s.State != kept {
			open = append(open, s.r.ref.Repo)
		}
	}
	if t.ownsWorkflows() || len(open) == 0 {
		return
	}
	fmt.Fprint(b, "\n")
	printWrapped(b, "", 0, "Each pull request says what to see to before it is merged. The model's key, for all of "+
		"them (in place of the repositories that it is open to):")
	fmt.Fprintf(b, "\n  gh secret set %s --org %s --repos %s\n", keySecret, t.Org, strings.Join(open, ","))
}
