package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// read returns the change that an argument of review names. A pull request is only opened;
// its files are read later.
func (a *Terminal) read(ctx context.Context, arg string, s *Session) (ingest.Change, error) {
	switch {
	case arg == "demo":
		c, err := ingest.Demo()
		return a.withConfig(c, err)
	case arg == "-":
		return a.readDiff("standard input", a.Stdin)
	case pull.LooksLikeRef(arg), number().MatchString(arg):
		return a.ReadPull(ctx, arg, s)
	}
	if info, err := os.Stat(arg); err == nil && !info.IsDir() {
		f, err := os.Open(arg)
		if err != nil {
			return ingest.Change{}, problem.Usage(err.Error(), "")
		}
		defer f.Close()
		return a.readDiff(arg, f)
	}
	ends := arg
	if strings.HasSuffix(arg, "..") { // Git takes HEAD for an end that is left out
		ends += "HEAD"
	}
	if ingest.IsRange(ends) {
		return a.readRange(ctx, ends)
	}
	if clone, revision := ingest.OpenAt(ctx, ".", arg); revision {
		a.printTaken(arg, "the range "+arg+"...HEAD; for that commit alone: "+arg+"~.."+arg)
		return a.rangeOf(ctx, clone, arg+"...HEAD")
	}
	return ingest.Change{}, problem.Usage(fmt.Sprintf("%q is not a pull request, a commit, a range or a file", arg),
		"name owner/repo#42, a pull request's address, main...HEAD, a diff's file, - or demo; nothing for the "+
			"work tree")
}

// number matches the number of a pull request of the repository that is the clone's origin.
var number = pattern.Lazy(`^#?[1-9][0-9]{0,9}$`)

// printTaken tells what an ambiguous argument was taken for.
func (a *Terminal) printTaken(arg, what string) {
	a.Say(guard.Line(arg+" is taken for "+what+".", driver.MaxLine))
}

// readDiff reads a diff. A diff that does not parse is wrong usage, because it is what the
// caller passed.
func (a *Terminal) readDiff(name string, r io.Reader) (ingest.Change, error) {
	c, err := ingest.Diff(name, r)
	if err != nil {
		err = problem.Usage(err.Error(), "pass a whole unified diff, such as `git diff --output=FILE main...` writes")
	}
	return a.withConfig(c, err)
}

func (a *Terminal) readRange(ctx context.Context, arg string) (ingest.Change, error) {
	clone, err := ingest.OpenClone(ctx, ".")
	if err != nil {
		return ingest.Change{}, asUsageError(err)
	}
	return a.rangeOf(ctx, clone, arg)
}

func (a *Terminal) rangeOf(ctx context.Context, clone ingest.Clone, arg string) (ingest.Change, error) {
	if err := a.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	c, err := clone.Range(ctx, arg, a.File())
	return c, asUsageError(err)
}

// InRepository cleans the file names in the settings. A settings file whose path is absolute or begins with ./ or ../
// is one of this machine. InRepository reads it only once, since a shell's <(…) is empty after that. For one in the
// repository, it says so if this folder contains another file of that name.
func (a *Terminal) InRepository() error {
	slash := filepath.ToSlash(a.Config)
	here := filepath.IsAbs(a.Config) || strings.HasPrefix(slash, "./") || strings.HasPrefix(slash, "../")
	if here && a.ConfigHere == nil {
		text, err := wire.ReadConfig(a.Config)
		if err != nil {
			return err
		}
		a.ConfigHere = append([]byte{}, text...)
	}
	err := a.Settings.InRepository()
	if _, absent := os.Stat(a.Config); err == nil && a.ConfigAtBase && a.Config != config.DefaultPath && absent == nil {
		a.Say("Settings are read from " + a.Config + " of the change's base, not from the file in this folder: " +
			"that is ./" + a.Config + ".")
	}
	return err
}

// asUsageError turns an error about something that the clone lacks into wrong usage.
func asUsageError(err error) error {
	for _, mistake := range []error{ingest.ErrNoRange, ingest.ErrNoClone, ingest.ErrNoGit, ingest.ErrBare,
		ingest.ErrShut, ingest.ErrOwner, ingest.ErrNoDefaultBranch} {
		if errors.Is(err, mistake) {
			return problem.As(problem.Misuse, err, "")
		}
	}
	return err
}

// ReadPull opens the pull request that an argument names, with its API in s. Its files are not
// read yet.
func (a *Terminal) ReadPull(ctx context.Context, arg string, s *Session) (ingest.Change, error) {
	ref, err := a.ParseRef(arg)
	if number().MatchString(arg) {
		arg = strings.TrimPrefix(arg, "#")
		if ref, err = ingest.PullOf(ctx, ".", arg); err != nil {
			return ingest.Change{}, problem.Usage(err.Error(), "name it owner/repo#"+arg)
		}
		a.printTaken(arg, "the pull request "+ref.String())
	}
	if err != nil {
		return ingest.Change{}, err
	}
	if err := a.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	if s.API, err = a.GitHub(ref, a.Settings); err != nil {
		return ingest.Change{}, err
	}
	return ingest.Open(ctx, s.API, ref, ingest.PullOptions{Instance: a.Instance, Config: a.File()})
}

// ParseRef parses the pull request that an argument names. If the argument is not an address,
// the server is the one that the environment names.
func (a *Terminal) ParseRef(arg string) (pull.Ref, error) {
	ref, err := pull.ParseRef(arg)
	if err != nil {
		return ref, problem.Usage(err.Error(), "name it owner/repo#42 or https://github.com/owner/repo/pull/42")
	}
	if !strings.Contains(arg, "://") {
		ref = ref.On(a.Getenv("GITHUB_SERVER_URL"))
	}
	return ref, nil
}

// withConfig adds the settings file named for a diff, because a diff has no base to read one
// from.
func (a *Terminal) withConfig(c ingest.Change, err error) (ingest.Change, error) {
	if err == nil {
		c.Config, err = wire.NamedConfig(a.File(), c.Config)
	}
	return c, err
}

// workTree reads the work tree, including what is not committed. It first tells what is read
// and who will see it. Untracked files leave this machine only if a flag or a person says so.
func (r *Run) workTree(ctx context.Context) (ingest.Change, error) {
	if err := r.InRepository(); err != nil {
		return ingest.Change{}, err
	}
	w, err := ingest.OpenWorkTree(ctx, ".")
	if err != nil {
		return ingest.Change{}, asUsageError(err)
	}
	with, asks := r.withUntracked(w.Untracked)
	c, err := w.Change(ctx, with, r.File())
	if err != nil {
		return c, err
	}
	if !r.Quiet || asks {
		fmt.Fprintln(r.Stderr, r.firstLine(w, len(c.Files), with, asks))
	}
	if !asks || !(ask.Prompt{Front: r.Front}).Yes(ctx, "Send what is untracked to "+r.endpoint().Host+" too?") {
		return c, nil
	}
	if err := os.RemoveAll(c.Objects); err != nil {
		return c, err
	}
	return w.Change(ctx, true, r.File())
}

// firstLine returns a line that says what of the work tree is read, by whom, and which files
// are untracked.
func (r *Run) firstLine(w ingest.WorkTree, files int, with, asks bool) string {
	reader := "rules on this machine"
	if !r.reviewer.Rules {
		reader = guard.Line(r.reviewer.Model, driver.MaxLine) + " at " + r.endpoint().Host
	}
	line := fmt.Sprintf("The work tree against %s: %s, read by %s.", guard.Line(w.Base, driver.MaxLine),
		wording.Count(files, "changed file"), reader)
	if len(w.Untracked) == 0 {
		return line
	}
	untracked := wording.Count(len(w.Untracked), "untracked file")
	switch {
	case asks:
	case with:
		untracked = "With " + untracked
	default:
		untracked = "Without " + untracked + " (--untracked)"
	}
	names := w.Untracked[:min(len(w.Untracked), mostNamed)]
	return line + " " + untracked + ": " +
		guard.Line(strings.Join(names, ", "), 0) + map[bool]string{true: ", …"}[len(names) < len(w.Untracked)] + "."
}

// mostNamed is the maximum number of untracked files named in one line.
const mostNamed = 10

func (r *Run) endpoint() *url.URL {
	u, err := url.Parse(cmp.Or(r.WithModel(r.Getenv).BaseURL, llm.DefaultBaseURL))
	if err != nil {
		return &url.URL{Host: "an address that does not parse"} // the client was made with it
	}
	return u
}

// withUntracked reports whether the untracked files are read too, or whether a person has
// to be asked, because the files would leave this machine and no flag allows it.
func (r *Run) withUntracked(paths []string) (with, asks bool) {
	if len(paths) == 0 || r.untracked || r.reviewer.Rules || transport.Loopback(r.endpoint().Hostname()) {
		return true, false
	}
	return false, r.Interactive(r.Options)
}
