package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// read reads the change that an argument of review names; a pull request is only
// opened.
func (a *app) read(ctx context.Context, arg string, s *session) (ingest.Change, error) {
	switch {
	case arg == "demo":
		c, err := ingest.Demo()
		return a.withConfig(c, err)
	case arg == "-":
		return a.readDiff("standard input", a.Stdin)
	case pull.LooksLikeRef(arg):
		return a.readPull(ctx, arg, s)
	}
	info, err := os.Stat(arg)
	folder := err == nil && info.IsDir()
	if folder && !ingest.IsRevision(ctx, ".", arg) {
		return ingest.Change{}, problem.Usage(fmt.Sprintf("%q is a folder", arg),
			"go into it: review without an argument reads the work tree there")
	}
	if f, err := os.Open(arg); err == nil && !folder {
		defer f.Close()
		return a.readDiff(arg, f)
	}
	switch {
	case ingest.IsRange(arg):
		return a.readRange(ctx, arg)
	case number.MatchString(arg):
		address, err := a.numbered(ctx, arg)
		if err != nil {
			return ingest.Change{}, err
		}
		return a.readPull(ctx, address, s)
	case ingest.IsRevision(ctx, ".", arg):
		a.taken(arg, "the range "+arg+"...HEAD")
		return a.readRange(ctx, arg+"...HEAD")
	}
	return ingest.Change{}, problem.Usage(fmt.Sprintf("%q is not a pull request, a commit, a range or a file", arg),
		"name owner/repo#42, a pull request's address, main...HEAD, a diff's file, - or demo; nothing for the "+
			"work tree")
}

var number = regexp.MustCompile(`^#?[1-9][0-9]{0,9}$`)

// numbered is the address of the pull request that a number alone names: of the
// repository that the clone has for its origin.
func (a *app) numbered(ctx context.Context, arg string) (string, error) {
	arg = strings.TrimPrefix(arg, "#")
	ref, err := ingest.PullOf(ctx, ".", arg)
	if err != nil {
		return "", problem.Usage(err.Error(), "name it owner/repo#"+arg)
	}
	a.taken(arg, "the pull request "+ref.String())
	return ref.Web() + "/pull/" + arg, nil
}

// taken says what an argument of several meanings was taken for.
func (a *app) taken(arg, what string) {
	a.say(guard.Line(arg+" is taken for "+what+".", driver.MaxLine))
}

// readDiff reads a diff. One that cannot be read is wrong usage: it is what was
// passed.
func (a *app) readDiff(name string, r io.Reader) (ingest.Change, error) {
	c, err := ingest.Diff(name, r)
	if err != nil {
		err = problem.Usage(err.Error(), "pass a whole unified diff, such as `git diff main...` prints")
	}
	return a.withConfig(c, err)
}

func (a *app) readRange(ctx context.Context, arg string) (ingest.Change, error) {
	if err := a.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	c, err := ingest.Range(ctx, ".", arg, a.File())
	return c, ofClone(err)
}

// ofClone makes wrong usage of an error that says what a clone lacks.
func ofClone(err error) error {
	for _, mistake := range []error{ingest.ErrNoRange, ingest.ErrNoClone, ingest.ErrNoGit, ingest.ErrBare,
		ingest.ErrNoDefaultBranch} {
		if errors.Is(err, mistake) {
			return problem.As(problem.Misuse, err, "")
		}
	}
	return err
}

func (a *app) readPull(ctx context.Context, arg string, s *session) (ingest.Change, error) {
	ref, err := a.parseRef(arg)
	if err != nil {
		return ingest.Change{}, err
	}
	if err := a.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	if s.api, err = a.GitHub(ref, a.Settings); err != nil {
		return ingest.Change{}, err
	}
	return ingest.Open(ctx, s.api, ref, ingest.PullOptions{Instance: a.Instance, Config: a.File()})
}

// parseRef reads the pull request that an argument names, on the server that the
// environment names where the argument has none.
func (a *app) parseRef(arg string) (pull.Ref, error) {
	ref, err := pull.ParseRef(arg)
	if err != nil {
		return ref, problem.Usage(err.Error(), "name it owner/repo#42 or https://github.com/owner/repo/pull/42")
	}
	if !strings.Contains(arg, "://") {
		ref = ref.On(a.Getenv("GITHUB_SERVER_URL"))
	}
	return ref, nil
}

// repository reads the name of one on the server that the environment names.
func (a *app) repository(name string) (pull.Ref, error) {
	owner, repo, err := pull.ParseRepository(name)
	return pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo}.On(a.Getenv("GITHUB_SERVER_URL")), err
}

// withConfig adds the settings file that was named for a diff, which has no
// base to read one from.
func (a *app) withConfig(c ingest.Change, err error) (ingest.Change, error) {
	if err == nil {
		c.Config, err = wire.NamedConfig(a.File(), c.Config)
	}
	return c, err
}

// workTree reads what is not committed as well, and says first what is read and who
// will see it. Untracked files leave this machine only where somebody says so.
func (r *localRun) workTree(ctx context.Context) (ingest.Change, error) {
	if err := r.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	w, err := ingest.OpenWorkTree(ctx, ".")
	if err != nil {
		return ingest.Change{}, ofClone(err)
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
	names := guard.Line(strings.Join(paths[:min(len(paths), mostNamed)], ", "), 0)
	if more := len(paths) - mostNamed; more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	return names
}
