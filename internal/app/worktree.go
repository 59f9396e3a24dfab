package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/transport"
)

// workTree reads what is not committed as well, and says first what is read and who
// will see it. Untracked files leave this machine only where somebody says so.
func (r *localRun) workTree(ctx context.Context) (ingest.Change, error) {
	if err := r.options.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	w, err := ingest.OpenWorkTree(ctx, ".")
	for _, mistake := range []error{ingest.ErrNoClone, ingest.ErrNoGit, ingest.ErrNoDefaultBranch} {
		if errors.Is(err, mistake) {
			return ingest.Change{}, problem.As(problem.Misuse, err, "")
		}
	}
	if err != nil {
		return ingest.Change{}, err
	}
	with := r.withUntracked(ctx, w.Untracked)
	c, err := w.Change(ctx, with, r.options.Config)
	if err != nil || r.options.quiet {
		return c, err
	}
	line := fmt.Sprintf("The work tree against %s: %s, read by %s.", w.Base, render.Count(len(c.Files), "changed file"),
		r.reader())
	if n := len(w.Untracked); n > 0 && !with {
		line += fmt.Sprintf(" Without %s (--untracked): %s.", render.Count(n, "untracked file"), named(w.Untracked))
	} else if n > 0 {
		line += fmt.Sprintf(" With %s: %s.", render.Count(n, "untracked file"), named(w.Untracked))
	}
	fmt.Fprintln(r.app.Stderr, line)
	return c, nil
}

// reader is who reads the change: a model and the host that it is asked at.
func (r *localRun) reader() string {
	if r.reviewer.Rules {
		return "rules on this machine"
	}
	return guard.Line(r.reviewer.Model, driver.MaxLine) + " at " + r.host()
}

func (r *localRun) host() string {
	u, err := url.Parse(cmp.Or(r.options.BaseURL, llm.DefaultBaseURL))
	if err != nil {
		return "an address that does not parse" // the client was made with it
	}
	return u.Host
}

// withUntracked asks whether the untracked files may be sent, where they would leave
// this machine and no flag says so.
func (r *localRun) withUntracked(ctx context.Context, paths []string) bool {
	host, _, _ := strings.Cut(r.host(), ":")
	if len(paths) == 0 || r.options.untracked || r.reviewer.Rules || transport.Loopback(host) {
		return true
	}
	if !r.app.interactive(r.options) {
		return false
	}
	fmt.Fprintf(r.app.Stderr, "%s: %s\nSend them to %s too? [y/N] ",
		render.Count(len(paths), "untracked file"), named(paths), r.host())
	line, _ := ask.Prompt{Front: r.app.Front}.Line(ctx)
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
}

// mostNamed is how many untracked files are named in one line.
const mostNamed = 10

func named(paths []string) string {
	var names []string
	for i, p := range paths {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("and %d more", len(paths)-mostNamed))
			break
		}
		names = append(names, guard.Line(p, driver.MaxLine))
	}
	return strings.Join(names, ", ")
}
