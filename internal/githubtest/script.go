package githubtest

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// control is the body of a request under /_fake/, which scripts such as .ci/act use in place of the
// methods. Each endpoint reads the fields that it needs.
type control struct {
	Repo        string            `json:"repo"` // owner/name
	Pull        int               `json:"pull"`
	Run         int64             `json:"run"`
	Files       Tree              `json:"files"`
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

func (w *site) controls(mux *http.ServeMux, s *Service) {
	for name, do := range map[string]func(control, *Repo) any{
		"app-tokens": func(c control, r *Repo) any { return object{"token": w.AppToken(r, c.Permissions)} },
		"head": func(c control, r *Repo) any {
			p := r.Pull(c.Pull)
			return object{"head_sha": p.Push(p.Tree().With(c.Files))}
		},
		"labels": func(c control, r *Repo) any { r.Pull(c.Pull).Label(c.User, c.Label); return object{} },
		"approvals": func(c control, r *Repo) any {
			r.Run(c.Run).Approve(c.Environment, c.User, c.Comment)
			return object{}
		},
		"issues": func(c control, r *Repo) any { r.AddIssue(c.Number, c.User, c.Title, c.Comment); return object{} },
		"runs": func(c control, r *Repo) any {
			run := r.AddRun(RunOptions{Path: c.Workflow, Event: c.Event, HeadSHA: c.SHA, Actor: c.User})
			return object{"run": run.ID, "runtime": s.RuntimeToken(run, "draft")}
		},
		"artifacts": func(c control, r *Repo) any {
			r.Run(c.Run).AddArtifact(c.Name, zipped(c.Files))
			return object{}
		},
		"reviews": func(c control, r *Repo) any { return r.Pull(c.Pull).Reviews() },
	} {
		mux.HandleFunc("POST /_fake/"+name, func(out http.ResponseWriter, in *http.Request) {
			var c control
			d := json.NewDecoder(in.Body)
			d.DisallowUnknownFields()
			err := d.Decode(&c)
			r := w.Repo(c.Repo)
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
	mux.HandleFunc("GET /_fake/requests", func(out http.ResponseWriter, _ *http.Request) {
		fakehttp.OK(w.Requests()).Write(out)
	})
}

func zipped(files Tree) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := errors.Join(z.AddFS(files.FS()), z.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Demo is what a script needs to know about a scenario.
type Demo struct {
	APIURL     string `json:"api_url"`
	ResultsURL string `json:"results_url"`
	Repo       string `json:"repo"`
	Pull       int    `json:"pull"`
	UserToken  string `json:"user_token"` // of maya, who has write access
}

var (
	//go:embed testdata/fetch_base.go.txt
	demoBase string
	//go:embed testdata/fetch_head.go.txt
	demoHead string
)

// Scenario sets up a repository with a pull request, from a branch or a fork, with defects in Go.
func (w *site) Scenario(fork bool) Demo {
	base := Tree{"fetch.go": demoBase, "README.md": "# demo\n", "go.mod": "module example.com/demo\n\ngo 1.26\n",
		"go.sum": ""}
	o := PullOptions{Number: 42, Title: "Fetch through our own client", Author: "lee", Head: "own-client",
		HeadFiles: base.With(Tree{"fetch.go": demoHead, "go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})}
	repo := w.AddRepo("octo/demo", RepoOptions{Files: base, Protected: []string{"main"}})
	repo.Permit("maya", "write")
	if fork {
		o.From = w.AddRepo("lee/demo", RepoOptions{ForkOf: repo})
	} else {
		repo.Permit("lee", "write")
	}
	repo.AddPull(o)
	return Demo{w.URL, w.URL + "/", repo.FullName(), o.Number, w.UserToken("maya")}
}
