package action

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Inputs reads the action's inputs from the process's environment: INPUT_ and
// the name in upper case, dashes kept. Values are trimmed and empty ones left
// out. An input that is not in known is an error; nearest proposes a name for it.
func Inputs(environ, known []string, nearest func(string, []string) string) (map[string]string, error) {
	values := map[string]string{}
	var problems []error
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		name, isInput := strings.CutPrefix(name, "INPUT_")
		if !isInput {
			continue
		}
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if !slices.Contains(known, name) {
			problems = append(problems, unknownInput(name, known, nearest))
			continue
		}
		if value = strings.TrimSpace(value); value != "" {
			values[name] = value
		}
	}
	return values, errors.Join(problems...)
}

// Sorted lists the names of values in order.
func Sorted(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }

func unknownInput(name string, known []string, nearest func(string, []string) string) error {
	if hint := nearest(name, known); hint != "" {
		return fmt.Errorf("unknown input %q\n  did you mean %q?", name, hint)
	}
	return fmt.Errorf("unknown input %q", name)
}
