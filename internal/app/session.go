package app

import (
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/wire"
)

// session is a thread of the local store, with what is needed to decide it.
type session struct {
	store  wire.Store
	thread string
	api    *github.Client // nil for local input
}

// resuming is the command that goes on with a thread. No password is in it.
func (a *app) resuming(thread string, o *options) string {
	command := a.name + " resume " + quoted(abbreviated(thread))
	if o.store != "" && !wire.WithPassword(o.store) {
		command += " --store " + quoted(o.store)
	}
	return command
}

// localRun is a review on this machine.
type localRun struct {
	session
	app      *app
	options  *options
	admitted bool // whatever the repository's admission rules say
	change   ingest.Change
	reviewer *wire.Reviewer
	progress *progress
	usedIDs  int // of the draft that this one replaces
}
