package githubtest

// Demo is what a script needs to know of a scenario.
type Demo struct {
	APIURL     string `json:"api_url"`
	ResultsURL string `json:"results_url"`
	Repo       string `json:"repo"`
	Pull       int    `json:"pull"`
	UserToken  string `json:"user_token"` // of maya, who has write access
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

// Scenario sets up a world: a pull request of the repository's own branch, or from a
// fork, with defects in Go.
func (s *Server) Scenario(fork bool) Demo {
	base := Tree{"fetch.go": demoBase, "README.md": "# demo\n", "go.mod": "module example.com/demo\n\ngo 1.26\n",
		"go.sum": ""}
	o := PullOptions{Number: 42, Title: "Fetch through our own client", Author: "lee", Head: "own-client",
		HeadFiles: base.With(Tree{"fetch.go": demoHead, "go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})}
	repo := s.AddRepo("octo/demo", RepoOptions{Files: base, Protected: []string{"main"}})
	repo.Permit("maya", "write")
	if fork {
		o.From = s.AddRepo("lee/demo", RepoOptions{ForkOf: repo})
	} else {
		repo.Permit("lee", "write")
	}
	repo.AddPull(o)
	return Demo{s.URL, s.ResultsURL, repo.FullName(), o.Number, s.UserToken("maya")}
}
