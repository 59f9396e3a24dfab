package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// workTree reads what is not committed as well, and says first what is read and who
// will see it. Untracked files leave this machine only where somebody says so.
func (r *localRun) workTree(ctx context.Context) (ingest.Change, error) {
	if err := r.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	w, err := ingest.OpenWorkTree(ctx, ".")
	for _, mistake := range []error{ingest.ErrNoClone, ingest.ErrBare, ingest.ErrNoGit, ingest.ErrNoDefaultBranch} {
		if errors.Is(err, mistake) {
			return ingest.Change{}, problem.As(problem.Misuse, err, "")
		}
	}
	if err != nil {
		return ingest.Change{}, err
	}
	with, asks := r.withUntracked(w.Untracked)
	c, err := w.Change(ctx, with, r.File())
	if err != nil {
		return c, err
	}
	if !r.quiet || asks {
		fmt.Fprintln(r.Stderr, r.firstLine(w, len(c.Files), with, asks))
	}
	if !asks || !(ask.Prompt{Front: r.Front}).Yes(ctx, "Send what is untracked to "+r.host()+" too?") {
		return c, nil
	}
	if err := os.RemoveAll(c.Objects); err != nil {
		return c, err
	}
	return w.Change(ctx, true, r.File())
}

// firstLine says what of the work tree is read, by whom, and which files are untracked.
func (r *localRun) firstLine(w ingest.WorkTree, files int, with, asks bool) string {
	line := fmt.Sprintf("The work tree against %s: %s, read by %s.", w.Base, wording.Count(files, "changed file"),
		r.reader())
	if len(w.Untracked) == 0 {
		return line
	}
	untracked := wording.Count(len(w.Untracked), "untracked file")
	switch {
	case with:
		untracked = "With " + untracked
	case !asks:
		untracked = "Without " + untracked + " (--untracked)"
	}
	return line + " " + untracked + ": " + named(w.Untracked) + "."
}

// reader is who reads the change: a model and the host that it is asked at.
func (r *localRun) reader() string {
	if r.reviewer.Rules {
		return "rules on this machine"
	}
	return guard.Line(r.reviewer.Model, driver.MaxLine) + " at " + r.host()
}

func (r *localRun) host() string {
	u, err := url.Parse(cmp.Or(r.BaseURL, llm.DefaultBaseURL))
	if err != nil {
		return "an address that does not parse" // the client was made with it
	}
	return u.Host
}

// withUntracked reports whether the untracked files are read too, or whether a person has
// to be asked, since they would leave this machine and no flag says so.
func (r *localRun) withUntracked(paths []string) (with, asks bool) {
	host, _, _ := strings.Cut(r.host(), ":")
	if len(paths) == 0 || r.untracked || r.reviewer.Rules || transport.Loopback(host) {
		return true, false
	}
	return false, r.interactive(r.options)
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
