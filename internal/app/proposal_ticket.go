package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
)

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
			return t, problem.Usage(arg+" is no text", "name a Markdown file")
		}
		return ticket.FromMarkdown(strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), string(text)), nil
	case strings.HasSuffix(arg, ".md"):
		return t, problem.Usage(fmt.Sprintf("there is no file %s", arg),
			"name a Markdown file, a ticket's key, or owner/repo#7")
	}
	none := problem.Usage(fmt.Sprintf("%q is no file, no ticket's key and no issue", arg),
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
