package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wording"
)

// table prints the sites of a list, each as soon as it is done.
type table struct {
	*Command
	names  int      // columns for a repository's name
	unseen []string // what was not seen in one or more of them; a row has their numbers
}

func (c *Command) newTable(refs []pull.Ref) *table {
	t := &table{Command: c, names: len("repository")}
	for _, ref := range refs {
		t.names = max(t.names, min(len(ref.Repo), 26))
	}
	if c.JSON {
		return t
	}
	fmt.Fprintf(c.Stdout, "%s of %s\n\n", repositories(len(refs)), c.Org)
	if !c.Apply {
		t.print("repository", "visibility", "route", "pull request with", "not seen")
	}
	return t
}

func (t *table) print(name, visibility, route, files, unseen string) {
	row := fmt.Sprintf("%s  %-10s  %-8s  %s  %s", column.Pad(column.CutFront(name, t.names), t.names), visibility,
		route, column.Pad(files, 21), unseen)
	fmt.Fprintln(t.Stdout, strings.TrimRight(guard.Line(row, driver.MaxLine), " "))
}

// row prints a site: what would be written there, or what became of it.
func (t *table) row(s *Site) {
	var seen []string
	for _, what := range append(s.Unseen, s.Notes...) {
		at := slices.Index(t.unseen, what)
		if at < 0 {
			at, t.unseen = len(t.unseen), append(t.unseen, what)
		}
		seen = append(seen, strconv.Itoa(at+1))
	}
	switch {
	case t.JSON:
	case t.Apply:
		t.became(s)
	default:
		t.print(s.r.ref.Repo, s.Visibility, string(s.Route), s.would(), strings.Join(seen, " "))
	}
}

// would is what a pull request would have.
func (s *Site) would() string {
	switch s.State {
	case failed:
		return "none: see below"
	case left:
		return "not looked at"
	case there:
		return "open: #" + s.number()
	case kept:
		return "none: " + strings.TrimSuffix(s.Why+" #"+s.number(), " #")
	}
	text := "workflow"
	if len(s.Files) == 3 {
		text = "2 workflows"
	}
	if !s.r.own {
		text += ", settings"
	}
	return text
}

// number is that of the pull request, from its address.
func (s *Site) number() string { return s.URL[strings.LastIndex(s.URL, "/")+1:] }

func repositories(n int) string {
	return strings.Replace(wording.Count(n, "repository"), "repositorys", "repositories", 1)
}

// became prints a site that was written to, or why it was not.
func (t *table) became(s *Site) {
	text := s.URL
	switch s.State {
	case failed:
		text = s.Repository + ": " + s.Error
	case kept:
		text = strings.TrimSpace(s.Repository + ": " + s.Why + " " + s.URL)
	case left:
		text = s.Repository
	}
	hanging(t.Stdout, s.State, 8, text)
}

// end prints what the rows only number, what failed with its next step, and what to do
// then. It is an error where a site failed or was left.
func (t *table) end(sites []*Site) error {
	counts := map[string]int{}
	for _, s := range sites {
		counts[s.State]++
		s.lists()
	}
	bad := counts[failed] + counts[left]
	var err error
	if bad > 0 {
		what := fmt.Sprintf("%d of %s could not be set up", bad, repositories(len(sites)))
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
	for i, what := range t.unseen {
		if i == 0 {
			fmt.Fprint(&b, "\nNot seen, or to know:\n")
		}
		hanging(&b, fmt.Sprintf("%3d", i+1), 5, what)
	}
	t.failures(&b, sites, bad)
	t.then(&b, counts, sites)
	fmt.Fprint(t.Stdout, guard.Text(b.String()))
	return err
}

func (t *table) failures(b *strings.Builder, sites []*Site, bad int) {
	if bad > 0 {
		fmt.Fprintf(b, "\n%d of %s %s be set up:\n", bad, repositories(len(sites)),
			map[bool]string{true: "could not", false: "cannot"}[t.Apply])
	}
	after := 0
	for _, s := range sites {
		switch s.State {
		case failed:
			fmt.Fprintln(b)
			hanging(b, "", 2, s.Repository+": "+s.Error)
			hanging(b, "", 4, "next: "+s.Next)
		case left:
			after++
		}
	}
	if after > 0 {
		fmt.Fprintf(b, "\n  %s not come to\n    next: run the same again\n", repositories(after))
	}
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
