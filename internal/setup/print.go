package setup

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
)

const width = 80 // columns of what is printed

// print tells what was seen, chosen, written and done, and what is left to do.
func (c *Command) print(p Report, r *repository) error {
	if c.JSON {
		p.lists()
		return driver.PrintJSON(c.Stdout, p)
	}
	var b strings.Builder
	hanging(&b, "", 0, p.about)
	hanging(&b, "", 0, fmt.Sprintf("Route %s: %s.", p.Route, p.Why))
	b.WriteByte('\n')
	for _, f := range p.Files {
		fmt.Fprintf(&b, "  %-8s %s\n", f.State, f.Path)
	}
	for _, s := range p.Steps {
		if s.State != toDo {
			fmt.Fprintf(&b, "  %-8s %s\n", s.State, s.What)
		}
		if s.State == failed {
			hanging(&b, "", 11, s.Why)
		}
	}
	c.printLeft(&b, p.Steps)
	for _, note := range p.Notes {
		b.WriteByte('\n')
		hanging(&b, "", 0, "Note: "+note+".")
	}
	for i, what := range p.Unseen {
		if i == 0 {
			fmt.Fprint(&b, "\nNot seen:\n")
		}
		hanging(&b, "", 2, what)
	}
	fmt.Fprintf(&b, "\nThen commit .github, merge it into %s, and look: %s init --check\n",
		cmp.Or(r.branch, "the default branch"), c.Name)
	_, err := io.WriteString(c.Stdout, guard.Text(b.String()))
	return err
}

// lists makes lists of what is empty, for JSON.
func (p *Report) lists() {
	p.Files, p.Steps = append([]File{}, p.Files...), append([]Step{}, p.Steps...)
	p.Notes, p.Unseen = append([]string{}, p.Notes...), append([]string{}, p.Unseen...)
}

// printLeft prints the commands of what is to do.
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
			hanging(b, "  # ", 4, "left: "+s.Why)
		}
		for _, command := range s.Commands {
			fmt.Fprintf(b, "  %s\n", wrapped(command))
		}
	}
}

// hanging prints a text in lines of the width, so far to the right, with a label before the
// first one.
func hanging(w io.Writer, label string, indent int, text string) {
	for _, row := range column.Wrap(guard.Line(text, driver.MaxLine), width-indent) {
		fmt.Fprintf(w, "%-*s%s\n", indent, label, row)
		label = ""
	}
}

// wrapped breaks a command before its fields, for a shell to read as one.
func wrapped(command string) string { return fields.Replace(command) }

// fields are written so that none fits inside a label, which has no quotes and no sign of equality.
var fields = strings.NewReplacer(" -F '", " \\\n    -F '", ` -F "`, " \\\n    -F \"", " -f name=",
	" \\\n    -f name=", " --description '", " \\\n    --description '")
