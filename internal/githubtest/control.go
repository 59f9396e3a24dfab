package githubtest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// control is the body of a request under /_fake/, which scripts such as .ci/act use in
// place of the methods. Each endpoint reads the members that it needs.
type control struct {
	Repo        string            `json:"repo"` // owner/name
	Pull        int               `json:"pull"`
	Run         int64             `json:"run"`
	Files       Tree              `json:"files"`
	Environment string            `json:"environment"`
	Reviewers   []string          `json:"reviewers"`
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

func (s *Server) controls(mux *http.ServeMux) {
	for name, do := range map[string]func(control, *Repo) any{
		"app-tokens": func(c control, r *Repo) any { return object{"token": s.AppToken(r, c.Permissions)} },
		"environments": func(c control, r *Repo) any {
			r.AddEnvironment(c.Environment, c.Reviewers...)
			return object{}
		},
		"head": func(c control, r *Repo) any {
			p := r.Pull(c.Pull)
			return object{"head_sha": p.Push(p.Tree().With(c.Files))}
		},
		"labels": func(c control, r *Repo) any {
			r.Pull(c.Pull).Label(c.User, c.Label)
			return object{}
		},
		"approvals": func(c control, r *Repo) any {
			r.Run(c.Run).Decide(c.Environment, "approved", c.User, c.Comment)
			return object{}
		},
		"issues": func(c control, r *Repo) any {
			r.AddIssue(c.Number, c.User, c.Title, c.Comment)
			return object{}
		},
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
		mux.HandleFunc("POST /_fake/"+name, func(w http.ResponseWriter, r *http.Request) {
			var c control
			d := json.NewDecoder(r.Body)
			d.DisallowUnknownFields()
			err := d.Decode(&c)
			repo := s.Repo(c.Repo)
			switch {
			case err == nil && repo == nil:
				err = fmt.Errorf("there is no repository %q", c.Repo)
			case err == nil && c.Pull != 0 && repo.Pull(c.Pull) == nil:
				err = fmt.Errorf("%s has no pull request %d", c.Repo, c.Pull)
			case err == nil && c.Run != 0 && repo.Run(c.Run) == nil:
				err = fmt.Errorf("%s has no run %d", c.Repo, c.Run)
			}
			if err != nil {
				answer{status: http.StatusBadRequest, value: object{"message": err.Error()}}.write(w)
				return
			}
			ok(do(c, repo)).write(w)
		})
	}
	mux.HandleFunc("GET /_fake/requests", func(w http.ResponseWriter, _ *http.Request) { ok(s.Requests()).write(w) })
}

// zipped is the zip of files.
func zipped(files Tree) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if w, err := z.Create(path); err == nil {
			_, _ = w.Write([]byte(files[path])) // a buffer takes all
		}
	}
	_ = z.Close()
	return b.Bytes()
}
