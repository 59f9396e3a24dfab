package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
	"github.com/org/pr-review-action/internal/wire"
)

// facts are what a draft says of who makes it, how and when.
func (p *proposing) facts() checkpoint.Manifest {
	now := p.app.Clock()
	return checkpoint.Manifest{
		Thread: p.thread, Subject: checkpoint.Subject{Kind: "ticket", Head: p.base.Commit}, CreatedAt: now,
		ExpiresAt: now.Add(p.o.Expires), ToolVersion: wire.Version(), ConfigFingerprint: p.base.Config.Fingerprint(),
		PromptFingerprint: implement.Fingerprint(),
	}
}

// answer hands a decision to the graph. A revision is drafted in place.
func (p *proposing) answer(ctx context.Context, r driver.Proposal, given decision.Verdict,
	text string) (driver.Proposal, error) {
	m := r.Packed.Manifest
	if err := checkpoint.CheckExpiry(m, p.app.Now()); err != nil {
		return r, err
	}
	d, err := r.State.Decide(text, given)
	if err != nil {
		return r, err
	}
	by, err := p.app.user(ctx, session{})
	if err != nil {
		return r, err
	}
	if p.push != nil && p.push.By != "" {
		by = p.push.By
	}
	steps := p.acting(ticketpr.Steps{})
	if d.Verdict == decision.Revise {
		if steps, _, err = p.steps(ctx, r); err != nil {
			return r, err
		}
		steps.Revised = func(was checkpoint.Manifest) checkpoint.Manifest {
			now := p.facts()
			was.CreatedAt, was.ExpiresAt, was.ToolVersion = now.CreatedAt, now.ExpiresAt, now.ToolVersion
			return was
		}
	}
	flow, err := p.driver().Ticketpr(steps)
	if err != nil {
		return r, err
	}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: by, At: p.app.Clock(),
		Via: decision.ByCommandLine}
	_, err = flow.Resume(ctx, p.thread, graph.Answer{Gate: m.GateID, Value: decision.Answer{Decision: d,
		Record: record.With(d)}})
	if err != nil {
		return r, err
	}
	return p.driver().Proposed(ctx)
}

// ask asks the person at the terminal. An empty verdict means later. Words that are no
// answer and no command are feedback.
func (p *proposing) ask(ctx context.Context, r driver.Proposal) (decision.Verdict, string) {
	var drops []string
	for {
		fmt.Fprint(p.app.Stderr, "Commit this change? approve, reject, later, /drop PATH, or say what should be "+
			"different: ")
		line, ok := ask.Prompt{Front: p.app.Front}.Line(ctx)
		answer := strings.TrimSpace(line)
		switch strings.ToLower(answer) {
		case "approve", "/approve":
			return decision.Approve, strings.Join(drops, "\n")
		case "reject", "/abort", "abort":
			return decision.Abort, ""
		case "", "l", "later":
			if !ok {
				fmt.Fprintln(p.app.Stderr)
			}
			return "", ""
		case "y", "yes", "n", "no", "?":
			fmt.Fprintln(p.app.Stderr, "  approve commits it to a branch of its own, reject drops it for good")
			continue
		}
		text := answer
		if !strings.HasPrefix(answer, "/") {
			text = decision.ReviseCommand(answer)
		}
		d, err := r.State.Decide(strings.Join(append(drops, text), "\n"), "")
		switch {
		case err != nil:
			fmt.Fprintln(p.app.Stderr, guard.Text(driver.Explain(err)))
		case d.Verdict == decision.Revise:
			return d.Verdict, text
		default:
			drops = append(drops, text)
		}
	}
}

// resumeProposal decides a ticket's draft of the local store.
func (a *app) resumeProposal(ctx context.Context, s session, o *implementOptions) error {
	a.ticketed = true
	given, err := o.given()
	if err != nil {
		return err
	}
	p := &proposing{session: s, app: a, o: o}
	r, err := p.driver().Proposed(ctx)
	if err != nil {
		return err
	}
	p.ticket = r.State.Ticket
	if o.Expires == 0 {
		o.Expires = r.State.Facts.ExpiresAt.Sub(r.State.Facts.CreatedAt)
	}
	if p.base, err = ingest.BaseAt(ctx, ".", r.State.Facts.Subject.Head, o.File()); err != nil {
		return problem.As(problem.Misuse, err, "go into the clone that the draft was made in")
	}
	p.base.Branch = r.State.Branch.Base
	if err := p.mayPush(ctx); err != nil {
		return err
	}
	if r.Outcome == ticketpr.Failed && r.Error == "" {
		if r, err = p.goOn(ctx, r); err != nil {
			return err
		}
	}
	return p.decide(ctx, r, given)
}

// goOn finishes what a process before this one began: a draft, or what was decided.
func (p *proposing) goOn(ctx context.Context, r driver.Proposal) (driver.Proposal, error) {
	steps := p.acting(ticketpr.Steps{})
	if d := r.State.Decision; d == nil || d.Decision != decision.Approve {
		var err error
		if steps, _, err = p.steps(ctx, r); err != nil {
			return r, err
		}
	}
	flow, err := p.driver().Ticketpr(steps)
	if err == nil {
		_, err = flow.Continue(ctx, p.thread)
	}
	if err != nil {
		return r, err
	}
	return p.driver().Proposed(ctx)
}

// check runs the user's command on the change, in a folder that holds it and nothing else.
// It gets no credential of this process.
func (p *proposing) check(ctx context.Context, files []change.File) (*change.Check, error) {
	dir, err := os.MkdirTemp("", "pr-review-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Path] = f.Content
	}
	if err := p.base.Export(ctx, dir, texts); err != nil {
		return nil, fmt.Errorf("writing the change for --check: %w", err)
	}
	limited, stop := context.WithTimeout(ctx, checkTime)
	defer stop()
	passed, output, err := ingest.Shell(limited, dir, p.o.check, p.app.withoutCredentials(p.base.Config))
	if ctx.Err() == nil && limited.Err() != nil {
		passed, output, err = false, fmt.Sprintf("it did not end within %v", checkTime), nil
	}
	output = strings.ReplaceAll(secret.Redact(paint.ReplaceAllString(output, "")), dir, ".")
	return &change.Check{Command: secret.Redact(p.o.check), Passed: passed, Output: guard.Text(output)}, err
}

// paint is what colours a terminal.
var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkTime is how long a check may take.
const checkTime = 15 * time.Minute

var credentialName = regexp.MustCompile(
	`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|^PR_REVIEW_|^INPUT_|^ACTIONS_|_KEY$`)

// withoutCredentials is the environment for code that a model wrote.
func (a *app) withoutCredentials(c config.Config) (env []string) {
	named := c.Variables()
	for _, v := range a.Environ {
		name, _, _ := strings.Cut(v, "=")
		if !credentialName.MatchString(name) && !slices.Contains(named, name) {
			env = append(env, v)
		}
	}
	return env
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
			return t, problem.Usage(arg+" is no text", "name a Markdown file")
		}
		return ticket.FromMarkdown(strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), string(text)), nil
	case strings.HasSuffix(arg, ".md"):
		return t, problem.Usage(fmt.Sprintf("there is no file %s", arg),
			"name a Markdown file, a ticket's key, or owner/repo#7")
	case pull.LooksLikeRef(arg):
		return a.issue(ctx, arg, o)
	case ticket.Project(arg) == "":
		return t, problem.Usage(fmt.Sprintf("%q is no file, no ticket's key and no issue", arg),
			"name a Markdown file, a key such as PAY-88, or owner/repo#7")
	}
	return a.tracked(ctx, arg, c, o)
}

// issue reads an issue of GitHub; its key is gh-<n>.
func (a *app) issue(ctx context.Context, arg string, o *implementOptions) (t ticket.Ticket, err error) {
	ref, err := a.parseRef(arg)
	if err != nil {
		return t, err
	}
	api, err := a.GitHub(ref, o.Settings)
	if err != nil {
		return t, err
	}
	t, err = ticketcontext.One(ctx, ref.String(), ticketcontext.Options{
		Sources: []ticketcontext.Source{ticketcontext.GitHub(api)}, Redact: a.Redactor(o.Settings).Redact})
	t.Key, t.URL = fmt.Sprintf("gh-%d", ref.Number), driver.IssuePage(ref, ref.Number)
	return t, err
}

// tracked reads a ticket from the sources that the settings name.
func (a *app) tracked(ctx context.Context, key string, c config.Config,
	o *implementOptions) (t ticket.Ticket, err error) {
	sources, err := a.Context(c.Context, o.Settings, nil)
	if err != nil {
		return t, err
	}
	if len(sources.Sources) == 0 {
		return t, problem.Usage(fmt.Sprintf("nothing says where %s is kept", key),
			"name a source under context.sources in "+o.Config+" of the base commit, or pass the ticket as a "+
				"Markdown file")
	}
	t, err = ticketcontext.One(ctx, key, sources)
	t.Key = key
	return t, err
}
