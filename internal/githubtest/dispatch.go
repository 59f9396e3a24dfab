package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// workflow is the part of a workflow file that a dispatch is held against.
type workflow struct {
	On struct {
		Dispatch *struct {
			Inputs map[string]struct {
				Required bool     `yaml:"required"`
				Options  []string `yaml:"options"`
			} `yaml:"inputs"`
		} `yaml:"workflow_dispatch"`
	} `yaml:"on"`
}

// Inputs are those of a dispatched run; nil for another one.
func (run *Run) Inputs() map[string]string {
	defer run.repo.s.lock()()
	return maps.Clone(run.inputs)
}

// dispatch starts a run of a workflow file that the ref has. Its answer names the run
// where that is asked for.
func dispatch(c *call) answer {
	var q struct {
		Ref     string            `json:"ref"`
		Inputs  map[string]string `json:"inputs"`
		Details bool              `json:"return_run_details"`
	}
	c.read(&q)
	file := ".github/workflows/" + c.PathValue("workflow_id")
	if _, known := c.repo.resolve("").tree[file]; !known {
		return notFound()
	}
	tip := c.repo.resolve(q.Ref)
	if tip == nil {
		return refusal(http.StatusUnprocessableEntity, "No ref found for: "+q.Ref)
	}
	if why := refuses(tip.tree[file], q.Inputs); why != "" {
		return refusal(http.StatusUnprocessableEntity, why)
	}
	run := c.repo.addRun(RunOptions{Path: file, Event: "workflow_dispatch", HeadSHA: tip.sha,
		HeadBranch: strings.TrimPrefix(q.Ref, "refs/heads/"), Actor: c.who.user.Login})
	run.inputs, run.status = q.Inputs, "queued"
	if !q.Details {
		return answer{status: http.StatusNoContent}
	}
	v := run.json()
	return ok(object{"workflow_run_id": run.ID, "run_url": v["url"], "html_url": v["html_url"]})
}

// refuses is why a workflow takes no dispatch with these inputs, or empty.
func refuses(text string, inputs map[string]string) string {
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil || w.On.Dispatch == nil {
		return "Workflow does not have 'workflow_dispatch' trigger"
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		in, known := w.On.Dispatch.Inputs[name]
		if !known {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		} else if len(in.Options) > 0 && !slices.Contains(in.Options, inputs[name]) {
			return fmt.Sprintf("Provided value '%s' for input '%s' not in the list of allowed values", inputs[name],
				name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Sprintf("Unexpected inputs provided: [%s]", strings.Join(unknown, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(w.On.Dispatch.Inputs)) {
		if w.On.Dispatch.Inputs[name].Required && inputs[name] == "" {
			return fmt.Sprintf("Required input '%s' not provided", name)
		}
	}
	return ""
}
