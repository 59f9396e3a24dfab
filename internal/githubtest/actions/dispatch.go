package actions

import (
	"fmt"
	"maps"
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
