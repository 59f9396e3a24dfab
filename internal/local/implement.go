package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wire"
)

// ImplementFlags adds the flags of implement to f.
func (o *Options) ImplementFlags(f *pflag.FlagSet) {
	o.Flags(f, "implement")
	f.StringVar(&o.on, "base", "", "`branch` or commit to build on; the default is HEAD")
	f.StringSliceVar(&o.modules, "modules", nil, "`names` of the only modules that may change")
	f.StringVar(&o.check, "check", "", "`command` of the project to run on the change before you see it, in a "+
		"separate folder")
	f.BoolVar(&o.approve, "approve", false, "approve: commit the change to a new branch")
	f.BoolVar(&o.Abort, "abort", false, "abort: commit nothing")
	o.ProposalFlags(f)
	f.BoolVar(&o.NoInput, "no-input", false, "never ask: leave the draft waiting")
	o.TraceFlag(f)
	o.storeFlags(f)
	f.BoolVar(&o.Quiet, "quiet", false, "no progress and no notices")
}

// Implement drafts a change for a ticket, up to the decision.
func (a *Terminal) Implement(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return problem.Usage("implement takes one ticket",
			a.Name+" implement TICKET.md, a ticket's key, or owner/repo#7")
	}
	return a.runDrafting(ctx, "implement", func(ctx context.Context, given decision.Verdict) (err error) {
		if err = a.InRepository(); err != nil {
			return err
		}
		p := &proposing{Terminal: a}
		if p.base, err = ingest.BaseAt(ctx, ".", a.on, a.File()); err != nil {
			next := "go into the clone that is to be changed, commit what is to be built on, or name a commit with " +
				"--base"
			if errors.Is(err, ingest.ErrOwner) {
				next = "" // its own
			}
			return problem.As(problem.Misuse, err, next)
		}
		a.warnOverruled(p.base.Config)
		if p.ticket, err = a.ticketOf(ctx, args[0], p.base.Config); err != nil {
			return err
		}
		if p.Store, err = a.OpenStore(ctx, a.Store); err != nil {
			return err
		}
		p.Thread = fmt.Sprintf("local/%s~%s:%s", strings.ReplaceAll(p.base.Folder, "#", "_"), p.ticket.Key,
			p.base.Commit)
		p.About = p.Thread
		if err = p.checkMayPush(ctx); err != nil {
			return err
		}
		report, err := p.draft(ctx)
		if err != nil {
			return err
		}
		return p.GoFrom(ctx, report, given)
	})
}

// maxTicket is the maximum size of a ticket's file, in bytes.
const maxTicket = 256 << 10

func fromFile(name string) (ticket.Ticket, error) {
	text, err := wire.ReadFile(name, maxTicket)
	if err == nil && (len(text) > maxTicket || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0) {
		err = fmt.Errorf("%s is not text of at most %d KiB", name, maxTicket>>10)
	}
	return ticket.FromMarkdown(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), string(text)), err
}

// ticketOf reads the ticket that an argument names: a Markdown file, a GitHub issue, or a key
// in one of the sources that the settings name.
func (a *Terminal) ticketOf(ctx context.Context, arg string, c config.Config) (t ticket.Ticket, err error) {
	if info, failed := os.Stat(arg); strings.HasSuffix(arg, ".md") || failed == nil && !info.IsDir() {
		if t, err = fromFile(arg); err != nil {
			err = problem.Usage(err.Error(), "name a Markdown file, a ticket's key, or owner/repo#7")
		}
		return t, err
	}
	none := problem.Usage(fmt.Sprintf("%q is not a file, a ticket's key or an issue", arg),
		"name a Markdown file, a key such as PAY-88, or owner/repo#7")
	if !pull.LooksLikeRef(arg) {
		asked, err := ticketpr.ParseTicket(arg, pull.Ref{})
		if err != nil || ticketpr.IssueNumber(asked.Key) > 0 { // an issue without its repository
			return t, none
		}
		return a.ReadTicket(ctx, asked, c, a.Settings, nil)
	}
	ref, err := a.ParseRef(arg)
	if err != nil {
		return t, none
	}
	api, err := a.GitHub(ref, a.Settings)
	if err != nil {
		return t, err
	}
	t, err = a.ReadTicket(ctx, ticketpr.OfIssue(ref), c, a.Settings, api)
	t.URL = driver.IssuePage(ref, ref.Number)
	return t, err
}
