package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"

	"github.com/org/pr-review-action/internal/local"
)

// context shows what a review would know about a pull request's tickets.
func (a *app) context(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return problem.Usage("context takes one pull request", a.Name+" context owner/repo#42, or its address")
	}
	var s local.Session
	c, err := a.ReadPull(ctx, args[0], &s)
	if err != nil {
		return err
	}
	gather, err := a.Context(c.Config.Context, a.Settings, s.API)
	if err != nil {
		return err
	}
	asked := ticketcontext.Read(ctx, s.API, *c.Pull, gather)
	got := ticketcontext.Fetch(ctx, asked, gather)
	if a.JSON {
		return driver.PrintJSON(a.Stdout, map[string]any{"status": "complete", "missing": got.Missing,
			"keys": got.Keys, "pages": got.PageIDs, "sources": got.Sources, "flags": got.Flags,
			"criteria": got.Criteria()})
	}
	if len(gather.Sources) == 0 {
		fmt.Fprintf(a.Stdout, "No sources are configured: %s has no context.sources (see .github/CONTEXT.md).\n",
			guard.Line(c.Settings, driver.MaxLine))
		return nil
	}
	for _, row := range contextRows(got) {
		text := strings.ReplaceAll(guard.Text(row[1]), "\n", "\n"+strings.Repeat(" ", 12))
		fmt.Fprintf(a.Stdout, "%-11s %s\n", guard.Line(row[0], 0), text)
	}
	return nil
}

// partNames replaces the name of a part of a pull request with the word that people use.
var partNames = strings.NewReplacer(string(ticket.Body), "description", string(ticket.RemoteLink), "ticket's links")

// contextRows returns one row per fact: the name of the group it belongs to, and its text.
func contextRows(g ticket.Context) (rows [][2]string) {
	add := func(name, format string, args ...any) {
		rows = append(rows, [2]string{name, fmt.Sprintf(format, args...)})
	}
	for _, k := range g.Keys {
		add("Tickets", "%s, named in the %s", k.Key, partNames.Replace(string(k.From)))
	}
	for _, p := range g.PageIDs {
		add("Pages", "%s, linked in the %s", p.ID, partNames.Replace(string(p.From)))
	}
	for _, s := range g.Sources {
		said := fmt.Sprintf("%s, %d characters, %.1f s; %s", s.ID, s.Characters, s.Seconds, s.Note)
		if !s.OK {
			said = fmt.Sprintf("not read, %.1f s: %s", s.Seconds, s.Note)
		}
		add("Sources", "%s: %s", s.Source, strings.TrimSuffix(said, "; "))
	}
	for _, t := range slices.Concat(g.Tickets, g.Pages) {
		add(t.Key, "%s", strings.TrimPrefix(t.Type+": "+t.Summary, ": "))
	}
	for _, c := range g.Criteria() {
		add("Criteria", "%d. %s", c.N, c.Text)
	}
	for _, f := range g.Flags {
		add("Flags", "%s, line %d, addresses the reviewer: %s", f.ID, f.Line, f.Text)
	}
	for _, line := range g.Missing {
		add("Missing", "%s", line)
	}
	if len(g.Criteria()) == 0 && !g.Empty() {
		add("Criteria", "none were found")
	}
	return rows
}
