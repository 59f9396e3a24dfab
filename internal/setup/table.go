package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wording"
)

// table prints the sites of a list, each as soon as it is done.
type table struct {
	*Command
	unseen []string // what was not seen in one or more of them
}

func (c *Command) newTable(refs []pull.Ref) *table {
	if !c.JSON {
		fmt.Fprintf(c.Stdout, "%s of %s\n\n", repositories(len(refs)), c.Org)
	}
	return &table{Command: c}
}

// row prints a site: what would be written there, or what became of it.
func (t *table) row(s *Site) {
	for _, what := range append(s.Unseen, s.Notes...) {
		if !slices.Contains(t.unseen, what) {
			t.unseen = append(t.unseen, what)
		}
	}
	if t.JSON {
		return
	}
	hanging(t.Stdout, s.State, 8, s.became())
	if s.Next != "" {
		hanging(t.Stdout, "", 10, "next: "+s.Next)
	}
}

func (s *Site) became() string {
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
		wording.Count(len(s.written()), "file"))
}

func repositories(n int) string {
	return strings.Replace(wording.Count(n, "repository"), "repositorys", "repositories", 1)
}

// end prints what the rows have in common, and what to do then. It is an error where a
// site failed or was left.
func (t *table) end(sites []*Site) error {
	counts := map[string]int{}
	for _, s := range sites {
		counts[s.State]++
		s.lists()
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
		hanging(&b, "", 2, note)
	}
	if err != nil {
		fmt.Fprintf(&b, "\n%s.\n", what)
	}
	t.then(&b, counts, sites)
	fmt.Fprint(t.Stdout, guard.Text(b.String()))
	return err
}

// then is what is left to do.
func (t *table) then(b *strings.Builder, counts map[string]int, sites []*Site) {
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
	if t.whole() || len(open) == 0 {
		return
	}
	fmt.Fprint(b, "\n")
	hanging(b, "", 0, "Each pull request says what to see to before it is merged. The model's key, for all of them "+
		"(in place of the repositories that it is open to):")
	fmt.Fprintf(b, "\n  gh secret set %s --org %s --repos %s\n", keySecret, t.Org, strings.Join(open, ","))
}
