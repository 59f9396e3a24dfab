// Package demo sets up a fake GitHub for scripts such as .ci/act: a repository with a pull request, and requests that
// do what a test does with methods.
package demo

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Demo is what a script needs to know.
type Demo struct {
	APIURL     string `json:"api_url"`
	ResultsURL string `json:"results_url"`
	Repo       string `json:"repo"`
	Pull       int    `json:"pull"`
	UserToken  string `json:"user_token"`  // of maya, who has write access
	ControlURL string `json:"control_url"` // see Control; set by its caller
}

var (
	//go:embed testdata/fetch_base.go.txt
	base string
	//go:embed testdata/fetch_head.go.txt
	head string
)

// Add adds a repository with a pull request, from a branch or a fork, with defects in Go.
func Add(s *githubtest.Server, fork bool) Demo {
	files := githubtest.Tree{"fetch.go": base, "README.md": "# demo\n", "go.sum": "",
		"go.mod": "module example.com/demo\n\ngo 1.26\n"}
	o := githubtest.PullOptions{Number: 42, Title: "Fetch through our own client", Author: "lee", Head: "own-client",
		HeadFiles: files.With(githubtest.Tree{"fetch.go": head, "go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})}
	repo := s.AddRepo("octo/demo", githubtest.RepoOptions{Files: files, Protected: []string{"main"}})
	repo.Permit("maya", "write")
	if fork {
		o.From = s.AddRepo("lee/demo", githubtest.RepoOptions{ForkOf: repo})
	} else {
		repo.Permit("lee", "write")
	}
	repo.AddPull(o)
	return Demo{APIURL: s.URL, ResultsURL: s.ResultsURL, Repo: repo.FullName(), Pull: o.Number,
		UserToken: s.UserToken("maya")}
}

type object = map[string]any

// control is the body of a request. Each endpoint reads the fields that it needs.
type control struct {
	Repo        string            `json:"repo"` // owner/name
	Pull        int               `json:"pull"`
	Run         int64             `json:"run"`
	Files       githubtest.Tree   `json:"files"`
	Environment string            `json:"environment"`
	User        string            `json:"user"`
	Comment     string            `json:"comment"`
	Label       string            `json:"label"`
	Permissions map[string]string `json:"permissions"`
	Number      int               `json:"number"` // of an issue
	Title       string            `json:"title"`
	Workflow    string            `json:"workflow"` // path of its file
	Event       string            `json:"event"`
	SHA         string            `json:"sha"`
	Name        string            `json:"name"` // of an artifact
}

// Control serves the requests by which a script changes a server, at a separate address.
func Control(s *githubtest.Server) *httptest.Server {
	type repo = githubtest.Repo
	mux := http.NewServeMux()
	for name, do := range map[string]func(control, *repo) any{
		"app-tokens": func(c control, r *repo) any { return object{"token": s.AppToken(r, c.Permissions)} },
		"head": func(c control, r *repo) any {
			p := r.Pull(c.Pull)
			return object{"head_sha": p.Push(p.Tree().With(c.Files))}
		},
		"labels": func(c control, r *repo) any { r.Pull(c.Pull).Label(c.User, c.Label); return object{} },
		"approvals": func(c control, r *repo) any {
			r.Run(c.Run).Approve(c.Environment, c.User, c.Comment)
			return object{}
		},
		"issues": func(c control, r *repo) any { r.AddIssue(c.Number, c.User, c.Title, c.Comment); return object{} },
		"runs": func(c control, r *repo) any {
			run := r.AddRun(githubtest.RunOptions{Path: c.Workflow, Event: c.Event, HeadSHA: c.SHA, Actor: c.User})
			return object{"run": run.ID, "runtime": s.RuntimeToken(run, "draft")}
		},
		"artifacts": func(c control, r *repo) any {
			r.Run(c.Run).AddArtifact(c.Name, zipped(c.Files))
			return object{}
		},
		"reviews": func(c control, r *repo) any { return r.Pull(c.Pull).Reviews() },
	} {
		mux.HandleFunc("POST /"+name, func(out http.ResponseWriter, in *http.Request) {
			var c control
			d := json.NewDecoder(in.Body)
			d.DisallowUnknownFields()
			err := d.Decode(&c)
			r := s.Repo(c.Repo)
			if err == nil && (r == nil || c.Pull != 0 && r.Pull(c.Pull) == nil || c.Run != 0 && r.Run(c.Run) == nil) {
				err = fmt.Errorf("there is no repository %q with pull request %d or run %d", c.Repo, c.Pull, c.Run)
			}
			if err != nil {
				fakehttp.Refusal(http.StatusBadRequest, err.Error()).Write(out)
				return
			}
			fakehttp.OK(do(c, r)).Write(out)
		})
	}
	mux.HandleFunc("GET /requests", func(out http.ResponseWriter, _ *http.Request) {
		fakehttp.OK(s.Requests()).Write(out)
	})
	return httptest.NewServer(mux)
}

func zipped(files githubtest.Tree) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := errors.Join(z.AddFS(files.FS()), z.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}
