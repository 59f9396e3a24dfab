package app

import (
	"context"
	"io"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// surroundings are what a reviewer may look at beside the diff.
type surroundings struct {
	tools tool.Set
	head  func(ctx context.Context, path string) ([]byte, error)
}

// around offers the files of two commits.
func around(head, base tree.Tree, more ...tool.Tool) surroundings {
	tools := append([]tool.Tool{tool.ReadFile(head, base), tool.SearchCode(head), tool.FindReferences(head)}, more...)
	return surroundings{tool.NewSet(tools...), head.Read}
}

// surroundings of a change on this machine: the clone of a range, or the pull
// request's repository. A diff alone has none.
func (r *localRun) surroundings(ctx context.Context) (surroundings, error) {
	switch {
	case r.reviewer.rules, r.change.Head == "":
		return surroundings{}, nil
	case r.change.Pull != nil:
		return r.app.ofPull(r.api, r.change, tool.TestSources{Workspace: ".", Glob: r.options.testResults}), nil
	}
	git, err := ingest.Git(ctx, ".")
	if err != nil {
		return surroundings{}, err
	}
	tests := tool.TestSources{Workspace: ".", Glob: r.options.testResults}
	return around(tree.Clone(git, r.change.Head), tree.Clone(git, r.change.Base), offered(tests)...), nil
}

func (j *job) surroundings(c ingest.Change) surroundings {
	return j.ofPull(j.api, c, tool.TestSources{Workspace: j.getenv("GITHUB_WORKSPACE"), Glob: j.testResults})
}

// offered is the tool that tells of tests, where there is something to tell.
func offered(o tool.TestSources) []tool.Tool {
	if o.API == nil && o.Glob == "" {
		return nil
	}
	return []tool.Tool{tool.RunTests(o)}
}

// ofPull are the files of a pull request's repository. They are fetched when the
// first is asked for, and held in memory: nothing is checked out.
func (a *app) ofPull(api *github.Client, c ingest.Change, tests tool.TestSources) surroundings {
	files := func(sha string) tree.Tree {
		return tree.Archive(func(ctx context.Context) (io.ReadCloser, error) {
			return api.Archive(ctx, c.Pull.Owner, c.Pull.Repo, sha)
		})
	}
	tests.API, tests.Owner, tests.Repo, tests.SHA = api, c.Pull.Owner, c.Pull.Repo, c.Pull.HeadSHA
	return around(files(c.Pull.HeadSHA), files(c.Pull.BaseSHA), offered(tests)...)
}

// own knows the credentials of this process, which no text may carry away.
func (a *app) own(s settings) *secret.Redactor {
	values := []string{s.token, s.key}
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "ACTIONS_RUNTIME_TOKEN", "INPUT_CHECKPOINT-KEY", "PR_REVIEW_CHECKPOINT_KEY", "PR_REVIEW_JUDGE_KEY"} {
		values = append(values, a.getenv(name))
	}
	return secret.New(values...)
}
