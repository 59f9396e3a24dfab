package settings

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/org/pr-review-action/internal/config"
)

// YAML writes values with where each came from as a comment behind it. Keys of one
// mapping follow one another.
func YAML(values []config.Value) (string, error) {
	var b strings.Builder
	mapping := ""
	for _, v := range values {
		outer, key, nested := strings.Cut(v.Key, ".")
		if !nested {
			outer, key = "", v.Key
		}
		if nested && outer != mapping {
			b.WriteString(outer + ":\n")
		}
		mapping = outer
		name, err := scalar(key)
		if err != nil {
			return "", err
		}
		value, err := scalar(v.Value)
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", v.Key, err)
		}
		if nested {
			b.WriteString("  ")
		}
		fmt.Fprintf(&b, "%s: %s # %s\n", name, value, v.Source)
	}
	return b.String(), nil
}

// scalar writes a value on one line: text without quotes where that reads the
// same, all else as JSON, which YAML holds.
func scalar(v any) (string, error) {
	if s, ok := v.(string); ok && plain(s) {
		return s, nil
	}
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.SpaceAfterComma(true),
		jsontext.SpaceAfterColon(true))
	return string(text), err
}

func plain(s string) bool {
	var read map[string]any
	err := yaml.Unmarshal([]byte("x: "+s+"\n"+s+": y\n"), &read)
	return err == nil && len(read) == 2 && read["x"] == s && read[s] == "y" && !strings.ContainsAny(s, "\r\n")
}
