package setup_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/setup"
)

// applied runs init --apply and gives the states of its steps, in their order.
func (s *stage) applied(c *setup.Command) (states []string, err error) {
	s.t.Helper()
	c.Apply, c.JSON = true, true
	err = s.run(c)
	var r setup.Report
	require.NoError(s.t, json.Unmarshal(s.out.Bytes(), &r))
	for _, step := range r.Steps {
		states = append(states, step.State)
	}
	return states, err
}

func TestInitApplyMakesWhatARouteNeeds(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	s.repo.Permit("maya", "write")
	c := s.command()
	c.Reviewers = []string{"maya", "acme/maintainers"}
	states, err := s.applied(c)
	require.NoError(t, err)
	require.Equal(t, []string{"done", "done", "to do", "done", "done"}, states, "the key waits for somebody to type it")
	require.ElementsMatch(t, []string{"maya", "@maintainers"}, s.repo.Environment("ai-review").Reviewers)
	require.Equal(t, []string{"main"}, s.repo.Environment("ai-review-model").Branches)
	require.Empty(t, s.repo.Environment("ai-review-model").Reviewers)
	require.True(t, s.repo.HasLabel("ai-review"))

	before := len(s.hub.Requests())
	s.repo.SetEnvironment("ai-review-model", func(e *githubtest.Environment) {
		e.Secrets = []string{"OPENAI_API_KEY"}
	})
	states, err = s.applied(s.command())
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]string{"there"}, 5), states)
	for _, r := range s.hub.Requests()[before:] {
		require.Equal(t, http.MethodGet, r.Method, "what is there is not made again: %s", r.Path)
	}
}

// Environments that somebody has given rules of their own keep them.
func TestInitApplyReplacesNoRulesWithoutForce(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	s.repo.AddEnvironment("ai-review-model", "maya") // a reviewer, and every branch
	states, err := s.applied(s.command())
	require.NoError(t, err)
	require.Equal(t, "to do", states[1])
	require.Equal(t, []string{"maya"}, s.repo.Environment("ai-review-model").Reviewers)
	s.repo.SetEnvironment("ai-review-model", func(e *githubtest.Environment) { e.Branches = []string{"main"} })
	c := s.command()
	c.Force = true
	states, err = s.applied(c)
	require.NoError(t, err)
	require.Equal(t, "done", states[1])
	require.Empty(t, s.repo.Environment("ai-review-model").Reviewers)
}

// Branches that cannot be read are not taken for none.
func TestInitApplyReplacesNoRulesThatItCannotRead(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	_, err := s.applied(s.command())
	require.NoError(t, err)
	s.repo.AddEnvironment("ai-review-model", "maya")
	s.hub.Fail("GET", "/repos/acme/ledger/environments/ai-review-model/deployment-branch-policies",
		githubtest.Fault{Status: http.StatusForbidden})
	states, err := s.applied(s.command())
	require.NoError(t, err)
	require.Equal(t, "to do", states[1])
	require.Equal(t, []string{"maya"}, s.repo.Environment("ai-review-model").Reviewers)
}

// A run that was ended between two requests is finished by the next one.
func TestInitApplyGoesOnWhereItWasEnded(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	const policies = "/repos/acme/ledger/environments/ai-review-model/deployment-branch-policies"
	s.hub.Fail("POST", policies, githubtest.Fault{Status: http.StatusForbidden, Times: 1})
	states, err := s.applied(s.command())
	require.Error(t, err)
	require.Equal(t, []string{"done", "failed", "to do", "done", "done"}, states, "one that fails keeps no other one back")
	require.Empty(t, s.repo.Environment("ai-review-model").Branches)
	states, err = s.applied(s.command())
	require.NoError(t, err)
	require.Equal(t, []string{"there", "done", "to do", "there", "there"}, states)
	require.Equal(t, []string{"main"}, s.repo.Environment("ai-review-model").Branches)
}

func TestInitApplySaysWhatItMayNot(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{Private: true})
	s.repo.Set(func(o *githubtest.Settings) { o.Plan = "team" })
	c := s.command()
	c.Route = setup.Approval
	_, err := s.applied(c)
	require.Error(t, err)
	require.Contains(t, s.out.String(), "plan does not have this rule")
	require.Contains(t, s.out.String(), "--route dispatch")

	s.repo.Permit("bob", "write")
	s.environ = append(s.environ, "GITHUB_TOKEN="+s.hub.UserToken("bob"))
	_, err = s.applied(s.command())
	require.Equal(t, problem.Failed, problem.KindOf(err))
	require.Contains(t, s.out.String(), "an administrator of the repository has to")

	s.environ = append(s.environ, "GITHUB_TOKEN=")
	c = s.command()
	c.Apply = true
	require.ErrorContains(t, s.run(c), "there is no token")
}

// T9: gh asks for the key at the terminal. It is in no argument, and init reads none.
func TestT9_InitHandsTheKeyToNobody(t *testing.T) {
	s, bin := cloned(t, githubtest.RepoOptions{}), t.TempDir()
	log := filepath.Join(bin, "log")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"),
		[]byte("#!/bin/sh\nread key\necho \"$# $* / $key\" >>"+log+"\n"), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.environ = append(s.environ, "OPENAI_API_KEY=sk-ownkey0123456789abcdef")
	c := s.command()
	c.Asks, c.Apply, c.Reviewers = true, true, []string{"ada"}
	c.Stdin = strings.NewReader("sk-typed0123456789abcdef\n")
	require.NoError(t, s.run(c))
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "7 secret set OPENAI_API_KEY --env ai-review-model --repo acme/ledger / "+
		"sk-typed0123456789abcdef\n", string(said))
	require.NotContains(t, s.out.String()+s.errs.String(), "sk-")
	for _, r := range s.hub.Requests() {
		require.NotContains(t, string(r.Body)+fmt.Sprint(r.Header), "sk-")
	}
	require.NotContains(t, s.file(draftPath), "sk-")
}

// checked runs init --check and gives what it found, by what was looked at.
func (s *stage) checked() (map[string]setup.Check, error) {
	s.t.Helper()
	c := s.command()
	c.Check, c.JSON = true, true
	err := s.run(c)
	var r struct{ Checks []setup.Check }
	require.NoError(s.t, json.Unmarshal(s.out.Bytes(), &r), "%v", err)
	found := map[string]setup.Check{}
	for _, k := range r.Checks {
		found[k.What] = k
	}
	return found, err
}

const modelEnvironment = "environment ai-review-model"

// settled is a repository in which everything is there, with a model to ask.
func settled(t *testing.T, script llmtest.Script) *stage {
	t.Helper()
	s := cloned(t, githubtest.RepoOptions{Files: githubtest.Tree{draftPath: shipped(t, draftPath)}})
	_, err := s.applied(s.command())
	require.NoError(t, err)
	s.repo.SetEnvironment("ai-review-model", func(e *githubtest.Environment) {
		e.Secrets = []string{"OPENAI_API_KEY"}
	})
	s.environ = append(s.environ, "OPENAI_BASE_URL="+llmtest.Start(t, script).URL)
	return s
}

var says = llmtest.Always(llmtest.Answer{Text: "ok"})

func TestInitCheckFindsEverythingThatWasApplied(t *testing.T) {
	s := settled(t, says)
	found, err := s.checked()
	require.NoError(t, err)
	require.Len(t, found, 8)
	for what, k := range found {
		require.Equal(t, "ok", k.State, what+": "+k.Found)
	}
}

func TestInitCheckNamesWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		do                func(*stage)
		what, found, next string
	}{
		"no workflow on the default branch": {func(s *stage) { s.repo.Commit("main", "x", githubtest.Tree{"a": ""}) },
			draftPath, "is not on main", "init writes it"},
		"a workflow without a permission": {func(s *stage) {
			s.repo.Commit("main", "x", githubtest.Tree{draftPath: strings.Replace(shipped(s.t, draftPath),
				"{ pull-requests: write, actions: read, contents: read }", "{ actions: read, contents: read }", 1)})
		}, draftPath, "post needs pull-requests: write", "put them in"},
		"a workflow that is none": {func(s *stage) {
			s.repo.Commit("main", "x", githubtest.Tree{draftPath: "jobs: ["})
		}, draftPath, "is not YAML", ""},
		"no reviewers": {func(s *stage) { s.repo.AddEnvironment("ai-review") }, "environment ai-review",
			"no required reviewers", "Settings, Environments"},
		"a draft that waits for somebody": {func(s *stage) { s.repo.AddEnvironment("ai-review-model", "maya") },
			modelEnvironment, "has required reviewers", ""},
		"a key for every branch": {func(s *stage) {
			s.repo.AddEnvironment("ai-review-model")
			s.repo.SetEnvironment("ai-review-model", func(e *githubtest.Environment) { e.Branches = nil })
		}, modelEnvironment, "whoever pushes one can read the key", "main alone"},
		"an environment of the settings": {func(s *stage) {
			require.NoError(s.t, os.WriteFile(".github/pr-review.yml",
				[]byte("environments:\n  - paths: [infra/**]\n    environment: ai-review-infra\n"), 0o600))
		}, "environment ai-review-infra", "is not there", ""},
		"another label": {func(s *stage) {
			require.NoError(s.t, os.WriteFile(".github/pr-review.yml", []byte("admission:\n  label: look\n"), 0o600))
		}, "label look", "is not there", "gh label create look --repo acme/ledger"},
		"a model that is not known": {func(s *stage) {
			s.environ = append(s.environ, "OPENAI_BASE_URL="+llmtest.Start(s.t, llmtest.Always(
				llmtest.Answer{Status: http.StatusNotFound, Text: "no such model"})).URL)
		}, "model gpt-6-luna", "404", "check base-url"},
		"models of the settings": {func(s *stage) {
			require.NoError(s.t, os.WriteFile(".github/pr-review.yml", []byte("models: { verify: gpt-5 }\n"), 0o600))
			s.environ = append(s.environ, "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
		}, "model gpt-5", "refused", "a model's server answers at base-url"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, says)
			c.do(s)
			found, err := s.checked()
			require.Equal(t, problem.Misuse, problem.KindOf(err), "%v", err)
			require.Equal(t, "no", found[c.what].State, "%v", found)
			require.Contains(t, found[c.what].Found, c.found)
			require.Contains(t, found[c.what].Next, c.next)
		})
	}
}

// Where one thing cannot be seen, its line says why, and the others are looked at anyway.
func TestInitCheckSaysWhyOneThingCouldNotBeSeen(t *testing.T) {
	limited := githubtest.RateLimited(time.Now().Add(30 * time.Minute))
	for path, what := range map[string]string{
		"/branches/main":                                           "branch main",
		"/contents/" + draftPath:                                   draftPath,
		"/environments/ai-review":                                  "environment ai-review",
		"/environments/ai-review-model":                            modelEnvironment,
		"/environments/ai-review-model/secrets":                    "secret OPENAI_API_KEY of ai-review-model",
		"/environments/ai-review-model/deployment-branch-policies": modelEnvironment,
		"/labels/ai-review":                                        "label ai-review",
	} {
		for _, f := range []struct {
			fault githubtest.Fault
			why   string
		}{
			{githubtest.Fault{Status: http.StatusForbidden}, "the token may not read it"},
			{limited, "GitHub takes no more requests with this token for now"},
			{githubtest.Fault{Status: http.StatusNotImplemented}, "GitHub answered 501"},
		} {
			t.Run(fmt.Sprint(f.fault.Status, f.fault.Headers != nil, path), func(t *testing.T) {
				s := settled(t, says)
				s.hub.Fail("GET", "/repos/acme/ledger"+path, f.fault)
				found, err := s.checked()
				require.NoError(t, err)
				require.Equal(t, "unseen", found[what].State)
				require.Contains(t, found[what].Found, f.why)
				require.Equal(t, "ok", found["model gpt-6-luna"].State)
			})
		}
	}
}

// What a token may not read is said to be unseen, and is not a mistake of the repository.
func TestInitCheckTellsUnseenFromMissing(t *testing.T) {
	s := settled(t, says)
	s.repo.Permit("bob", "read")
	s.environ = append(s.environ, "GITHUB_TOKEN="+s.hub.UserToken("bob"))
	found, err := s.checked()
	require.NoError(t, err)
	require.Equal(t, "unseen", found["secret OPENAI_API_KEY of ai-review-model"].State)
	require.Equal(t, "ok", found["environment ai-review"].State)

	s.environ = append(s.environ, "OPENAI_BASE_URL=")
	found, err = s.checked()
	require.NoError(t, err)
	require.Equal(t, "unseen", found["model"].State)
}

func TestInitSaysWhatGitHubDidNotTell(t *testing.T) {
	for name, f := range map[string]githubtest.Fault{
		"403": {Status: http.StatusForbidden}, "404": {Status: http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			s := cloned(t, githubtest.RepoOptions{})
			s.hub.Fail("GET", "/repos/acme/ledger", f)
			r := s.report(s.command())
			require.Equal(t, setup.Dispatch, r.Route, "it works wherever")
			require.Contains(t, r.Unseen[0], "the repository: ")
			c := s.command()
			c.Check = true
			require.Error(t, s.run(c))
		})
	}
}

// TestActionlintTakesWhatInitWrites runs where actionlint is installed: .ci/run puts its
// own on the path.
func TestActionlintTakesWhatInitWrites(t *testing.T) {
	linter, err := exec.LookPath("actionlint")
	if err != nil {
		linter = os.Getenv("ACTIONLINT")
	}
	lint := func(dir string) {
		if linter == "" {
			t.Log("without actionlint: the files were not linted")
			return
		}
		cmd := exec.Command(linter)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for _, route := range []setup.Route{setup.Approval, setup.Dispatch} {
		s := cloned(t, githubtest.RepoOptions{})
		c := s.command()
		c.Route, c.Settings.BaseURL, c.Settings.Model = route, "https://gate.example/v1", `odd: "name" # `
		require.NoError(t, s.run(c))
		lint(s.dir)

		company := newCompany(t, "a")
		_, err := company.applied(func(all *setup.Command) { all.Route, all.Settings = route, c.Settings })
		require.NoError(t, err)
		for path, text := range company.repo("a").Tree(setupBranch) {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		lint(s.dir)
	}
}

// A workflow that calls the product's names the gate's environment by an input, or not.
func TestInitCheckUnderstandsCallers(t *testing.T) {
	for name, with := range map[string]struct{ line, seen string }{
		"its own":  {"", "environment ai-review"},
		"another":  {"    with: { environment: other }\n", "environment other"},
		"dispatch": {"    with: { environment: \"\" }\n", decidePath},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, says)
			text, err := os.ReadFile(filepath.Join(root, "internal/setup/caller-review.yml"))
			require.NoError(t, err)
			s.repo.Commit("main", "callers", s.repo.Tree("main").With(githubtest.Tree{
				draftPath: strings.Replace(string(text), "@v1\n", "@v1\n"+with.line, 1)}))
			found, _ := s.checked()
			require.Contains(t, found, with.seen)
			require.NotContains(t, found, "environment ai-review-model", "a caller's key is in none")
			require.Equal(t, name == "dispatch", found[decidePath].What != "")
		})
	}
}
