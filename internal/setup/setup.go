// Package setup brings reviews into a repository: the workflows and a settings file into
// a clone, and onto GitHub the environments, the label and the secret that they name. It
// also checks that all of it is there. For the repositories of an organization's list it
// opens a pull request in each (organization.go), and never a second one.
//
// It writes nothing outside .github, nothing over another file unless told to, and sees
// no secret: gh asks for it. Start reading at Command and its Run.
package setup

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/settings"
)

// Command is init, of one process, in the clone around the working folder.
type Command struct {
	*driver.Front
	Name      string            // the program's, as it was called
	Settings  settings.Settings // base-url and model go into the workflow
	Route     Route             // empty: chosen by what the repository can have
	Reviewers []string          // who approves: logins, and teams as org/team; empty: whose token it is
	Apply     bool              // what is to do on GitHub is done
	Check     bool              // nothing is written, what is there is checked
	Force     bool              // other files and rules of the same names are replaced
	JSON      bool              // one object in place of lines
	Asks      bool              // there is a person at a terminal

	Org   string // of a list's repositories, each of which gets a pull request; empty for the clone's
	Repos string // file with that list, a name a line; - is standard input
	Whole bool   // of a list: whole workflows instead of those that call the product's
}

// Report is what init saw, chose and did.
type Report struct {
	Repository string   `json:"repository"`
	Route      Route    `json:"route"`
	Why        string   `json:"why"`
	Files      []File   `json:"files"`
	Steps      []Step   `json:"steps"` // on GitHub
	Notes      []string `json:"notes"`
	Unseen     []string `json:"unseen"` // what could not be seen, with the reason

	about string // the repository in one line
}

// Route is how a person decides on a draft.
type Route string

// The routes. An approval needs an environment with required reviewers, which public
// repositories have on every plan and private ones with Enterprise alone:
// https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
const (
	Approval Route = "approval" // of the environment for which the second job waits
	Dispatch Route = "dispatch" // a workflow that is started with the decision
)

// Step is one thing that GitHub has to have.
type Step struct {
	What     string   `json:"what"`
	State    string   `json:"state"`    // to do, there, done or failed
	Commands []string `json:"commands"` // that do it in a shell
	Why      string   `json:"why"`      // it failed, or is left to do with --apply; else empty
	do       func(context.Context) error
}

// The states of a step.
const (
	toDo   = "to do"
	there  = "there"
	done   = "done"
	failed = "failed"
)

// errNotHere is a key that nobody can be asked for now.
var errNotHere = errors.New("run it where you can type the key")
