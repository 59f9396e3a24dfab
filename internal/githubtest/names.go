package githubtest

import (
	"github.com/org/pr-review-action/internal/githubtest/actions"
	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
	"github.com/org/pr-review-action/internal/githubtest/site"
)

// What tests name of the rooms below.
type (
	Tree        = memgit.Tree
	File        = memgit.File
	Fault       = fakehttp.Fault
	Request     = fakehttp.Request
	Settings    = site.Settings
	RepoOptions = site.RepoOptions
	Run         = actions.Run
	RunOptions  = actions.RunOptions
	Artifact    = actions.Artifact
)

// Link is the content of a file of a Tree that is a symbolic link.
func Link(target string) string { return memgit.Link(target) }

// Short names of what every handler takes and returns.
type (
	answer = fakehttp.Answer
	object = fakehttp.Object
	call   = site.Call
)
