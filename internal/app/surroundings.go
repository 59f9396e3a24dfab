package app

import (
	"context"
	"io"
	"path/filepath"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/sandbox"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
)

// surroundings are what a reviewer may look at beside the diff.
type surroundings struct {
	tools tool.Set
	head  func(ctx context.Context, path string) ([]byte, error)
}

// around offers the files of two commits.
func around(head, base tool.Tree, more ...tool.Tool) surroundings {
	tools := append([]tool.Tool{tool.ReadFile(head, base), tool.SearchCode(head), tool.FindReferences(head)}, more...)
	return surroundings{tool.NewSet(tools...), head.Read}
}

// surroundings of a change on this machine: the clone of a range, or the pull
// request's repository. A diff alone has none.
func (r *localRun) surroundings(ctx context.Context) (surroundings, error) {
	switch {
	case r.options.runTests != "" && (r.reviewer.rules || r.change.Head == ""):
		return surroundings{}, usageError("--run-tests has nothing to run in, or nobody to tell", "it needs a model, and a range of a clone or a pull request")
	case r.reviewer.rules, r.change.Head == "":
		return surroundings{}, nil
	case r.change.Pull != nil:
		return r.app.ofPull(r.api, r.change, tool.TestSources{Workspace: ".", Glob: r.options.testResults, Sandbox: r.app.sandbox(r.options)}), nil
	}
	git, err := ingest.Git(ctx, ".")
	if err != nil {
		return surroundings{}, err
	}
	head := tool.Clone(git, r.change.Head)
	tests := tool.TestSources{Workspace: ".", Glob: r.options.testResults, Sandbox: r.app.sandbox(r.options), Tree: head}
	return around(head, tool.Clone(git, r.change.Base), offered(tests)...), nil
}

func (j *job) surroundings(c ingest.Change) surroundings {
	return j.ofPull(j.api, c, tool.TestSources{Workspace: j.getenv("GITHUB_WORKSPACE"), Glob: j.testResults})
}

// offered is the tool that tells of tests, where there is something to tell.
func offered(o tool.TestSources) []tool.Tool {
	if o.API == nil && o.Glob == "" && o.Sandbox == nil {
		return nil
	}
	return []tool.Tool{tool.RunTests(o)}
}

// sandbox is the one that --run-tests asks for. It is a flag of the command line
// alone: the command runs the code of the change.
func (a *app) sandbox(o *options) *sandbox.Command {
	if o.runTests == "" {
		return nil
	}
	s := &sandbox.Command{Script: o.runTests, Path: a.getenv("PATH")}
	for _, name := range []string{"GOROOT", "GOMODCACHE", "JAVA_HOME"} {
		if dir := a.getenv(name); filepath.IsAbs(dir) {
			s.Shown, s.Environment = append(s.Shown, dir), append(s.Environment, name+"="+dir)
		}
	}
	return s
}

// ofPull are the files of a pull request's repository. They are fetched when the
// first is asked for, and held in memory: nothing is checked out.
func (a *app) ofPull(api *github.Client, c ingest.Change, tests tool.TestSources) surroundings {
	tree := func(sha string) tool.Tree {
		return tool.Archive(func(ctx context.Context) (io.ReadCloser, error) {
			return api.Archive(ctx, c.Pull.Owner, c.Pull.Repo, sha)
		})
	}
	head := tree(c.Pull.HeadSHA)
	tests.API, tests.Owner, tests.Repo, tests.SHA, tests.Tree = api, c.Pull.Owner, c.Pull.Repo, c.Pull.HeadSHA, head
	return around(head, tree(c.Pull.BaseSHA), offered(tests)...)
}

// own knows the credentials of this process, which no text may carry away.
func (a *app) own(s settings) *secret.Redactor {
	values := []string{s.token, s.key}
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "ACTIONS_RUNTIME_TOKEN", "INPUT_CHECKPOINT-KEY", "PR_REVIEW_CHECKPOINT_KEY", "PR_REVIEW_JUDGE_KEY"} {
		values = append(values, a.getenv(name))
	}
	return secret.New(values...)
}
