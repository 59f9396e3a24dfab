package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wire"
)

// Session is a thread of the local store, with what is needed to decide it.
type Session struct {
	Store  wire.Store
	Thread string
	API    *github.Client // nil for local input
}

// Resuming returns the command that continues a thread. It never contains a password.
func (a *Terminal) Resuming(thread string) string {
	command := a.Name + " resume " + driver.Quoted(Abbreviated(thread))
	if a.Store != "" && !wire.WithPassword(a.Store) {
		command += " --store " + driver.Quoted(a.Store)
	}
	return command
}

// againCommand returns the command that reviews a pull request as it is now.
func (a *Terminal) againCommand(ref pull.Ref) string {
	return a.Name + " review " + driver.Quoted(ref.String())
}

// PrintUnderWay prints at what a thread is that runs or was interrupted, and which command, in
// what, continues it.
func (a *Terminal) PrintUnderWay(thread, doing, what string) error {
	_, err := fmt.Fprintf(a.Stdout, "UNDER WAY %s: %s\nIf it was interrupted, the same %s continues it.\n",
		thread, doing, what)
	return err
}

// Abbreviated shortens a thread's last part to seven characters, which are enough to name it.
func Abbreviated(thread string) string {
	i := strings.LastIndexByte(thread, ':')
	return thread[:i+1] + thread[i+1:min(len(thread), i+8)]
}

// WithCommands returns the flags that pass the commands in text, which are one per line.
func WithCommands(text string) (flags string) {
	for line := range strings.Lines(text) {
		if command := strings.TrimSpace(line); command != "" {
			flags += " --command " + driver.Quoted(command)
		}
	}
	return flags
}

// Run is a review on this machine, from reading the change to its decision.
type Run struct {
	*Terminal
	Session
	change   ingest.Change
	opened   bool // the files of change are not read yet
	reviewer *wire.Reviewer
	progress *Progress
	usedIDs  int // the highest finding number of the draft that this one replaces
}

// Report describes a stored thread of a review or a ticket.
func (a *Terminal) Report(ctx context.Context, s Session) (driver.Report, error) {
	if IsProposal(s.Thread) {
		return (&proposing{Terminal: a, Session: s}).readState(ctx)
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, s.Store)
	if err != nil {
		return driver.Report{}, err
	}
	return driver.ReportOf(ctx, flow, s.Store, s.Thread, checkpoint.Protection{})
}

// NamedThread opens the thread that an argument names.
func (a *Terminal) NamedThread(ctx context.Context, args []string, command string) (s Session, err error) {
	if len(args) != 1 {
		return s, problem.Usage(command+" takes one thread", fmt.Sprintf("%s threads lists them", a.Name))
	}
	if s.Store, err = a.OpenStore(ctx, a.Store); err == nil {
		s.Thread, err = a.threadOf(ctx, s.Store, args[0])
	}
	return s, err
}

// Stored describes a review's thread. For a pull request it also sets s.API.
func (a *Terminal) Stored(ctx context.Context, s *Session) (r driver.Report, err error) {
	a.About = s.Thread
	if r, err = a.Report(ctx, *s); err == nil && r.State.Pull != nil {
		s.API, err = a.GitHub(r.State.Pull.Ref, a.Settings)
	}
	return r, err
}

// StoredPull returns the store's thread for a pull request's current commit whose draft waits,
// is being revised or was decided. Its id is empty if there is none.
func (a *Terminal) StoredPull(ctx context.Context, ref pull.Ref) (s Session, err error) {
	if s.Store, err = a.OpenStore(ctx, a.Store); err != nil {
		return s, err
	}
	ids, err := Threads(ctx, s.Store)
	of := strings.TrimSuffix(pull.ThreadID(ref, a.Instance, ""), ":")
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return !strings.EqualFold(id[:max(0, strings.LastIndexByte(id, ':'))], of)
	})
	if err != nil || len(ids) == 0 {
		return s, err
	}
	if s.API, err = a.GitHub(ref, a.Settings); err != nil {
		return s, err
	}
	now, err := s.API.Pull(ctx, ref)
	if err != nil {
		return s, err
	}
	for _, id := range ids {
		r, err := a.Report(ctx, Session{Store: s.Store, Thread: id})
		if err != nil {
			continue // the threads command tells what is wrong with it
		}
		waits := r.Parked() && !a.isExpired(r)
		if (waits || r.Revising() || r.State.Decision != nil) && r.Head == now.HeadSHA &&
			(a.Code == "" || a.Code == r.Code) {
			s.Thread = id
			break
		}
	}
	return s, nil
}

// threadOf returns the one thread in the store that the typed id matches.
func (a *Terminal) threadOf(ctx context.Context, store wire.Store, typed string) (string, error) {
	ids, err := Threads(ctx, store)
	if err != nil {
		return "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !namesThread(typed, id) })
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", problem.Refuse(1, fmt.Sprintf("no draft of thread %q is parked here", typed),
			fmt.Sprintf("%s threads lists the ones that are; %d characters of the last part are enough; --store names "+
				"another store", a.Name, pull.MinPrefix), problem.At(store.Where()))
	}
	return "", problem.Usage(fmt.Sprintf("%q is the beginning of %d threads", typed, len(ids)),
		"write more of one: "+strings.Join(ids, ", "))
}

// namesThread reports whether typed names the thread: its id, the id with its last part cut short,
// or the beginning of that part alone. A ticket's thread also matches without that part, or by
// the ticket's key.
func namesThread(typed, id string) bool {
	at := strings.LastIndexByte(id, ':')
	about, ticket := id[:max(0, at)], strings.TrimSuffix(typed, ":")
	return pull.MatchThread(typed, id) || len(typed) >= pull.MinPrefix && strings.HasPrefix(id[at+1:], typed) ||
		IsProposal(id) && (about == ticket || pull.SameSubject(ticket, about) || strings.HasSuffix(about, "~"+ticket))
}

// aside separates, in the id of what was set aside, the id of its thread from a hash of its
// purpose.
const aside = "~"

// Threads lists a store's threads, without those that were set aside.
func Threads(ctx context.Context, store wire.Store) ([]string, error) {
	ids, err := store.Threads(ctx)
	return slices.DeleteFunc(ids, func(id string) bool {
		return strings.Contains(id[strings.LastIndexByte(id, ':')+1:], aside)
	}), err
}

// IsProposal reports whether a thread is a ticket's. Threads of changes have a # before any ~.
func IsProposal(thread string) bool { return proposalThread().MatchString(thread) }

var proposalThread = pattern.Lazy(`^[^#]+~[^#~:]+:[0-9a-f]{40,64}$`)

// Listed is a draft in the list of threads.
type Listed struct {
	Outcome  string `json:"outcome"`
	Thread   string `json:"thread_id"`
	Code     string `json:"code"`
	Findings int    `json:"findings"`
	Files    int    `json:"files,omitempty"` // files in a change for a ticket
	Lines    int    `json:"lines,omitempty"` // lines that it changes
}
