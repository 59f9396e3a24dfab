package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

func (a *app) implementCommand() command {
	o := &implementOptions{options: newOptions()}
	return command{
		"implement", "<FILE.md | KEY | owner/repo#n>",
		"write the change that a ticket asks for, and stop for a decision before it is committed", o.flags,
		func(ctx context.Context, args []string) error { return a.implement(ctx, args, o) }, &o.json,
	}
}

func (o *implementOptions) flags(f *pflag.FlagSet) {
	o.Flags(f, "implement")
	f.StringVar(&o.base, "base", "", "`branch` or commit to build on; HEAD where nothing is named")
	f.StringSliceVar(&o.modules, "modules", nil, "the only modules that may change, by `names`")
	f.StringVar(&o.check, "check", "", "`command` of the project to run on the change before you see it, in a folder "+
		"of its own")
	o.proposalFlags(f)
	o.traceFlag(f)
	o.storeFlags(f)
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

// proposalFlags decide a proposed change.
func (o *implementOptions) proposalFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.approve, "approve", false, "approve: commit the change to a branch of its own")
	f.BoolVar(&o.abort, "abort", false, "abort: commit nothing")
	f.StringVar(&o.revise, "revise", "", "ask for another draft, with this `text` as feedback")
	f.StringArrayVar(&o.drop, "drop", nil, "leave the file at this `path` out, with --approve; may be repeated")
	o.pushFlags(f)
	f.BoolVar(&o.noInput, "no-input", false, "never ask: leave the draft waiting")
}

// implement drafts a change for a ticket, up to the decision.
func (a *app) implement(ctx context.Context, args []string, o *implementOptions) (err error) {
	a.ticketed = true
	if len(args) != 1 {
		return problem.Usage("implement takes one ticket",
			a.name+" implement TICKET.md, a ticket's key, or owner/repo#7")
	}
	given, err := o.given()
	if err != nil {
		return err
	}
	o.Expires = cmp.Or(o.Expires, settings.DefaultExpires)
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	ctx, span := trace.Run(ctx, "implement", a.Now())
	defer func() { span.End(err) }()
	p := &proposing{app: a, o: o}
	if p.base, err = ingest.BaseAt(ctx, ".", o.base, o.File()); err != nil {
		next := ""
		switch {
		case errors.Is(err, ingest.ErrNoClone):
			next = "go into the clone of the repository that is to be changed"
		case errors.Is(err, ingest.ErrNoRange) && o.base == "":
			return problem.Usage("this clone has no commit yet", "commit what is to be built on")
		case errors.Is(err, ingest.ErrNoRange):
			return problem.Usage(fmt.Sprintf("%.100q is not a commit of this clone", o.base),
				"name a branch or a commit of it with --base")
		}
		return problem.As(problem.Misuse, err, next)
	}
	a.overruled(p.base.Config, &o.options)
	if p.ticket, err = a.ticketOf(ctx, args[0], p.base.Config, o); err != nil {
		return err
	}
	if p.store, err = a.OpenStore(ctx, o.store); err != nil {
		return err
	}
	p.thread = fmt.Sprintf("local/%s~%s:%s", strings.ReplaceAll(p.base.Folder, "#", "_"), p.ticket.Key, p.base.Commit)
	if err = p.mayPush(ctx); err != nil {
		return err
	}
	report, err := p.draft(ctx)
	if err != nil {
		return err
	}
	return p.decide(ctx, report, given)
}

// maxTicket bounds a ticket's file, in bytes.
const maxTicket = 256 << 10

// ticketOf reads the ticket that an argument names: a Markdown file, an issue of GitHub, or
// a key that the settings' sources know.
func (a *app) ticketOf(ctx context.Context, arg string, c config.Config,
	o *implementOptions) (t ticket.Ticket, err error) {
	switch info, failed := os.Stat(arg); {
	case failed == nil && !info.IsDir() && info.Size() > maxTicket:
		return t, problem.Usage(fmt.Sprintf("%s is larger than %d KiB", arg, maxTicket>>10),
			"cut it to what is asked for")
	case failed == nil && !info.IsDir():
		text, err := os.ReadFile(arg)
		if err != nil {
			return t, problem.Usage(err.Error(), "")
		}
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return t, problem.Usage(arg+" is not text", "name a Markdown file")
		}
		return ticket.FromMarkdown(strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), string(text)), nil
	case strings.HasSuffix(arg, ".md"):
		return t, problem.Usage(fmt.Sprintf("there is no file %s", arg),
			"name a Markdown file, a ticket's key, or owner/repo#7")
	}
	none := problem.Usage(fmt.Sprintf("%q is not a file, a ticket's key or an issue", arg),
		"name a Markdown file, a key such as PAY-88, or owner/repo#7")
	if !pull.LooksLikeRef(arg) {
		asked, err := ticketpr.ParseTicket(arg, pull.Ref{})
		if err != nil || asked.Issue() > 0 { // of which repository, it does not say
			return t, none
		}
		return a.ReadTicket(ctx, asked, c, o.Settings, nil)
	}
	ref, err := a.parseRef(arg)
	if err != nil {
		return t, none
	}
	api, err := a.GitHub(ref, o.Settings)
	if err != nil {
		return t, err
	}
	t, err = a.ReadTicket(ctx, ticketpr.OfIssue(ref), c, o.Settings, api)
	t.URL = driver.IssuePage(ref, ref.Number)
	return t, err
}
