package githubtest

import _ "embed"

// Demo is what a script needs to know of a scenario.
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

// Scenario sets up a repository with a pull request, of its own branch or from a fork,
// with defects in Go.
func (w *repos) Scenario(fork bool) Demo {
	base := Tree{"fetch.go": demoBase, "README.md": "# demo\n", "go.mod": "module example.com/demo\n\ngo 1.26\n",
		"go.sum": ""}
	o := PullOptions{Number: 42, Title: "Fetch through our own client", Author: "lee", Head: "own-client",
		HeadFiles: base.With(Tree{"fetch.go": demoHead, "go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})}
	repo := w.AddRepo("octo/demo", RepoOptions{Files: base, Protected: []string{"main"}})
	repo.Permit("maya", "write")
	if fork {
		o.From = w.AddRepo("lee/demo", RepoOptions{ForkOf: repo.Repo}).Repo
	} else {
		repo.Permit("lee", "write")
	}
	repo.AddPull(o)
	return Demo{w.URL, w.URL + "/", repo.FullName(), o.Number, w.UserToken("maya")}
}
