package setup

import (
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// The workflow files, and the names that they use on GitHub.
const (
	draftPath  = ".github/workflows/pr-review.yml"
	decidePath = ".github/workflows/pr-review-decide.yml"

	gateEnvironment  = "ai-review"       // its reviewers decide
	modelEnvironment = "ai-review-model" // holds the model's key
	keySecret        = "OPENAI_API_KEY"
	defaultLabel     = "ai-review"
)

//go:embed pr-review.yml
var settingsText string

// The workflows that call the product's, as REUSABLE.md shows them.
var (
	//go:embed caller-review.yml
	callerText string
	//go:embed caller-decide.yml
	callerDecideText string
)

// workflowParams holds what differs between repositories with the same route.
type workflowParams struct {
	label          string // the label that admits a pull request
	baseURL, model string // of the model; empty for the default
}

// inputs returns the inputs that a workflow gives, as YAML.
func (p workflowParams) inputs() (all []string) {
	if p.model != "" {
		all = append(all, "model: "+strconv.QuoteToASCII(p.model))
	}
	if p.baseURL != "" {
		all = append(all, "base-url: "+strconv.QuoteToASCII(p.baseURL))
	}
	return all
}

// plainLabel matches labels that workflow expressions and conditions can contain unescaped.
var plainLabel = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9 ._/-]*$`)

// workflowParams returns the label of the settings file, and the model's address and name from
// flags or variables. It leaves out an address on this machine, which no runner can reach.
func (c *Command) workflowParams(own config.Config, report *Report) workflowParams {
	s := c.Settings.WithModel(c.Getenv)
	with := workflowParams{defaultLabel, s.BaseURL, s.Model}
	if label := own.Admission.Label; plainLabel().MatchString(label) {
		with.label = label
	} else {
		report.Notes = append(report.Notes,
			"the settings' label cannot be put into a workflow: put it there by hand, for ai-review")
	}
	if own.Models.Review != "" || with.model == settings.DefaultModel {
		with.model = ""
	}
	if u, err := url.Parse(with.baseURL); err != nil || u.User != nil || transport.Loopback(u.Hostname()) {
		report.Notes = append(report.Notes, "base-url is left out of the workflow: a runner does not reach this "+
			"machine, and a password has no place there")
		with.baseURL = ""
	}
	return with
}

// files returns the files of a route: the product's own workflows, without what the route
// does not need, and a settings file.
func (c *Command) files(route Route, with workflowParams) ([]File, error) {
	if strings.Contains(with.model+with.baseURL, "${{") {
		return nil, problem.Usage("base-url or model contains a workflow expression", "give it as it is")
	}
	own := File{Path: config.DefaultPath, text: settingsText, own: true}
	if c.Org != "" {
		return append(callerFiles(route, with), own), nil
	}
	draft, err := c.shippedWorkflow(draftPath)
	if err != nil {
		return nil, err
	}
	if route == Dispatch {
		draft = strings.Replace(draft, "          environment: "+gateEnvironment+"\n", "", 1)
		draft = jobPattern("post").ReplaceAllString(jobPattern("record").ReplaceAllString(draft, ""), "")
	}
	draft = strings.ReplaceAll(draft, "'"+defaultLabel+"'", "'"+with.label+"'")
	key := "          api-key: ${{ secrets." + keySecret + " }}\n"
	for _, input := range with.inputs() {
		draft = strings.Replace(draft, key, key+"          "+input+"\n", 1)
	}
	files := []File{{Path: draftPath, text: draft}}
	if route == Dispatch {
		decide, err := c.shippedWorkflow(decidePath)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: decidePath, text: decide})
	}
	return append(files, own), nil
}

// callerFiles returns the workflows of a route that call the product's.
func callerFiles(route Route, with workflowParams) []File {
	var given []string
	if route == Dispatch {
		given = append(given, `environment: ""`)
	}
	given = append(given, with.inputs()...)
	files := []File{{Path: draftPath, text: callerText}}
	if len(given) > 0 {
		files[0].text = strings.Replace(callerText, "@v1\n", "@v1\n    with: { "+strings.Join(given, ", ")+" }\n", 1)
	}
	if route == Dispatch {
		files = append(files, File{Path: decidePath, text: callerDecideText})
	}
	return files
}

// shippedWorkflow returns a workflow file of the product's own repository.
func (c *Command) shippedWorkflow(path string) (string, error) {
	if text, ok := c.Workflows[path]; ok {
		return text, nil
	}
	return "", problem.New("this build contains no workflows", path, "install the program with go install")
}

// jobPattern returns a pattern that matches a job of a workflow and the empty line after it.
func jobPattern(name string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`(?m)^  %s:\n(?:    .*\n)*\n?`, name))
}
