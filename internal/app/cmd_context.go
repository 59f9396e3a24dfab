package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// contextCommand shows what a review would know of a pull request's tickets.
func (a *app) contextCommand() command {
	o := newOptions()
	return command{
		"context", "<url | owner/repo#n | n>", "show which tickets and pages a review would read, and what it would understand",
		func(f *pflag.FlagSet) {
			o.Flags(f, "context")
			f.BoolVar(&o.json, "json", false, "print one JSON object")
		},
		func(ctx context.Context, args []string) error { return a.context(ctx, args, &o) }, &o.json,
	}
}

func (a *app) context(ctx context.Context, args []string, o *options) error {
	if len(args) != 1 {
		return problem.Usage("context takes one pull request", a.name+" context owner/repo#42, or its address")
	}
	named := args[0]
	if number.MatchString(named) {
		var err error
		if named, err = a.numbered(ctx, named, o); err != nil {
			return err
		}
	}
	var s session
	c, err := a.readPull(ctx, named, o, &s)
	if err != nil {
		return err
	}
	gather, err := a.Context(c.Config.Context, o.Settings, s.api)
	if err != nil {
		return err
	}
	asked := ticketcontext.Read(ctx, s.api, *c.Pull, gather)
	got := ticketcontext.Fetch(ctx, asked, gather)
	if o.json {
		return driver.PrintJSON(a.Stdout, contextJSON{"complete", append([]ticket.Key{}, got.Keys...),
			append([]ticket.PageID{}, got.PageIDs...), append([]ticket.SourceReport{}, got.Sources...),
			append([]ticket.Criterion{}, got.Criteria()...), append([]ticket.Flag{}, got.Flags...),
			append([]string{}, got.Missing...)})
	}
	if len(gather.Sources) == 0 {
		fmt.Fprintf(a.Stdout, "No sources are configured: %s has no context.sources (see .github/CONTEXT.md).\n",
			guard.Line(c.Settings, driver.MaxLine))
		return nil
	}
	printContext(a.Stdout, got)
	return nil
}

// contextJSON has the keys that the contract names; a list without entries is empty, not null.
type contextJSON struct {
	Status   string                `json:"status"`
	Keys     []ticket.Key          `json:"keys"`
	Pages    []ticket.PageID       `json:"pages"`
	Sources  []ticket.SourceReport `json:"sources"`
	Criteria []ticket.Criterion    `json:"criteria"`
	Flags    []ticket.Flag         `json:"flags"`
	Missing  []string              `json:"missing"`
}

const (
	contextWidth = 80
	contextLabel = 12 // columns of the names on the left
)

// printContext names what belongs together once.
func printContext(w io.Writer, g ticket.Context) {
	last := ""
	row := func(name, text string) {
		if name == last {
			name = ""
		} else {
			last = name
		}
		entry(w, name, text)
	}
	for _, k := range g.Keys {
		row("Tickets", fmt.Sprintf("%s, named in the %s", k.Key, partOf(k.From)))
	}
	for _, p := range g.PageIDs {
		row("Pages", fmt.Sprintf("%s, linked in the %s", p.ID, partOf(p.From)))
	}
	for _, s := range g.Sources {
		said := fmt.Sprintf("%s: %s, %d characters, %.1f s", s.Source, s.ID, s.Characters, s.Seconds)
		switch {
		case !s.OK:
			said = fmt.Sprintf("%s: not read, %.1f s: %s", s.Source, s.Seconds, s.Note)
		case s.Note != "":
			said += "; " + s.Note
		}
		row("Sources", said)
	}
	for _, t := range g.Tickets {
		row(t.Key, strings.TrimPrefix(t.Type+": "+t.Summary, ": "))
	}
	for _, p := range g.Pages {
		row(p.Key, p.Summary)
	}
	for _, c := range g.Criteria() {
		row("Criteria", fmt.Sprintf("%d. %s", c.N, c.Text))
	}
	for _, f := range g.Flags {
		row("Flags", fmt.Sprintf("%s, line %d, addresses the reviewer: %s", f.ID, f.Line, f.Text))
	}
	for _, line := range g.Missing {
		row("Missing", line)
	}
	if len(g.Criteria()) == 0 && !g.Empty() {
		row("Criteria", "none were found")
	}
}

// partOf is what people call a part of a pull request.
func partOf(w ticket.Where) string {
	switch w {
	case ticket.Body:
		return "description"
	case ticket.RemoteLink:
		return "ticket's links"
	}
	return string(w)
}

// entry prints a name and what belongs to it, broken at the width of a terminal.
func entry(w io.Writer, name, text string) {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, column.Wrap(guard.Line(line, 0), contextWidth-contextLabel)...)
	}
	for i, row := range rows {
		if i > 0 {
			name = ""
		}
		fmt.Fprintln(w, strings.TrimRight(column.Pad(guard.Line(name, 0), contextLabel-1)+" "+row, " "))
	}
}
