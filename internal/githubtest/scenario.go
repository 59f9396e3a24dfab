package githubtest

import (
	"fmt"
	"slices"
)

// Demo is what a script needs to know of a scenario.
type Demo struct {
	APIURL      string `json:"api_url"`
	ResultsURL  string `json:"results_url"`
	StorageURL  string `json:"storage_url"`
	ServerURL   string `json:"server_url"`
	ControlURL  string `json:"control_url"`
	Repo        string `json:"repo"`
	RepoID      int64  `json:"repo_id"`
	Pull        int    `json:"pull"`
	HeadSHA     string `json:"head_sha"`
	BaseSHA     string `json:"base_sha"`
	Run         int64  `json:"run"`
	Environment string `json:"environment"`
	ReadToken   string `json:"read_token"`    // the draft job's GITHUB_TOKEN
	PostToken   string `json:"post_token"`    // the posting job's
	UserToken   string `json:"user_token"`    // of maya, who has write access
	RuntimeA    string `json:"draft_runtime"` // ACTIONS_RUNTIME_TOKEN of job draft
	RuntimeB    string `json:"post_runtime"`  // of job post
}

const demoBase = `package fetch

import (
	"io"
	"net/http"
	"os"
)

// Save stores what the address serves.
func Save(url, name string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, answer.Body)
	return err
}
`

const demoHead = `package fetch

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
)

// client skips the check of certificates.
var client = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
}}

// Save stores what the address serves.
func Save(url, name string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, _ := os.Create(name)
	_, _ = io.Copy(file, answer.Body)
	return nil
}
`

// Scenario sets up a named world: "demo", a pull request of the repository's
// own branch with defects in Go, or "fork", the same from a fork. Each has an environment "review" with maya as
// reviewer and a running workflow run with tokens for a drafting and a posting job.
func (s *Server) Scenario(name string) (Demo, error) {
	if !slices.Contains([]string{"demo", "fork"}, name) {
		return Demo{}, fmt.Errorf("there is no scenario %q: demo or fork", name)
	}
	base := Tree{"fetch.go": demoBase, "README.md": "# demo\n", "go.mod": "module example.com/demo\n\ngo 1.26\n",
		"go.sum": ""}
	head := base.With(Tree{"fetch.go": demoHead, "go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})
	o := PullOptions{Number: 42, Title: "Fetch through our own client", Author: "lee", Head: "own-client",
		HeadFiles: head}
	repo := s.AddRepo("octo/demo", RepoOptions{Files: base, Protected: []string{"main"}})
	if name == "fork" {
		o.From = s.AddRepo("lee/demo", RepoOptions{ForkOf: repo})
	}
	repo.Permit("maya", "write")
	repo.Permit("lee", map[bool]string{true: "none", false: "write"}[o.From != nil])
	repo.AddEnvironment("review", "maya")
	p := repo.AddPull(o)
	run := repo.AddRun(RunOptions{ID: 101, Actor: "lee"})
	read := map[string]string{"contents": "read", "pull_requests": "read", "actions": "read"}
	write := map[string]string{"pull_requests": "write", "actions": "read"}
	return Demo{
		APIURL: s.URL, ResultsURL: s.ResultsURL, StorageURL: s.BlobURL, ServerURL: s.WebURL,
		ControlURL: s.URL + "/_fake/",
		Repo:       repo.FullName(), RepoID: repo.ID, Pull: p.Number, HeadSHA: p.HeadSHA(), BaseSHA: p.BaseSHA(),
		Run: run.ID, Environment: "review",
		ReadToken: s.AppToken(repo, read), PostToken: s.AppToken(repo, write), UserToken: s.UserToken("maya"),
		RuntimeA: s.RuntimeToken(run, "draft"), RuntimeB: s.RuntimeToken(run, "post"),
	}, nil
}
