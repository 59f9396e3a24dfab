package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// maxSites bounds how many repositories a list has: GitHub admits 5,000 requests an hour.
const maxSites = 500

// listed are the repositories of the list, owner/name, in its order and each once.
func (c *Command) listed() (refs []pull.Ref, err error) {
	switch {
	case c.Org == "" || c.Repos == "":
		return nil, problem.Usage("--org and --repos go together: whose repositories, and a file that lists them",
			"gh repo list "+cmp.Or(c.Org, "acme")+
				" --no-archived --source --limit 500 --json name --jq '.[].name' > repos.txt")
	case c.Check || c.Force:
		return nil, problem.Usage("--check and --force are for one repository", "run them in a clone of it")
	}
	text, err := c.list()
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "a file with the name of a repository on each line")
	}
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		name, _, _ := strings.Cut(line, "#")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !strings.Contains(name, "/") {
			name = c.Org + "/" + name
		}
		owner, repo, err := pull.ParseRepository(name)
		if err != nil || !strings.EqualFold(owner, c.Org) {
			return nil, problem.Usage(fmt.Sprintf("%s:%d: %q is no repository of %s", c.Repos, i+1,
				guard.Line(name, 100), c.Org), "write a repository's name on each line, such as payments")
		}
		ref := pull.Ref{Host: pull.DefaultHost, Owner: c.Org, Repo: repo}.On(c.Getenv("GITHUB_SERVER_URL"))
		if !slices.ContainsFunc(refs, func(r pull.Ref) bool { return strings.EqualFold(r.Repo, repo) }) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 || len(refs) > maxSites {
		return nil, problem.Usage(fmt.Sprintf("%s lists %d repositories", c.Repos, len(refs)),
			fmt.Sprintf("1 to %d at a time", maxSites))
	}
	return refs, onGitHubCom(refs[0])
}

func (c *Command) list() (text []byte, err error) {
	in := c.Stdin
	if c.Repos != "-" {
		f, err := os.Open(c.Repos)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxFile))
}
