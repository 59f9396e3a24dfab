package settings

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"github.com/org/pr-review-action/internal/config"
)

// Source says where settings came from: lines of files, and names of inputs, flags and variables.
type Source struct {
	Lines config.Lines
	Given map[string]string // flag, input or variable, by the setting's name
}

const defaultSource = "default"

// Values lists the effective settings for a person: the file's keys, then the settings
// without a key, each with its source and without credentials. unpriced returns the name of
// a model without a known price, among those that a review by the given model asks.
func (f Source) Values(c config.Config, s Settings, unpriced func(model string) string) []config.Value {
	values := f.keys(c, s, unpriced)
	for _, row := range Table(&s) {
		if row.use == oneDraft || row.use == fileItself || row.use == overKey {
			continue
		}
		values = append(values, config.Value{Key: row.Name, Value: row.show(),
			Source: cmp.Or(f.Given[row.Name], defaultSource)})
	}
	return values
}

// keys returns the file's keys with their sources. A key that is not set takes the value of
// the setting that is its default.
func (f Source) keys(c config.Config, s Settings, unpriced func(string) string) []config.Value {
	values := c.Values()
	over := map[string]string{} // inputs, by their keys
	for _, row := range Table(&s) {
		if row.use == overKey {
			over[row.Key] = f.Given[row.Name]
		}
	}
	var model any
	for i := range values {
		v := &values[i]
		v.Source = cmp.Or(over[v.Key], f.Lines[v.Key], defaultSource)
		switch v.Key {
		case "models.review":
			f.setDefault(v, s.Model, "model")
			model = v.Value
		case "models.verify", "models.redraft":
			f.setDefault(v, model, "models.review")
		case "max-cost":
			if unknown := unpriced(fmt.Sprint(model)); v.Value == nil && unknown == "" {
				v.Value = config.Dollars(DefaultMaxCost)
			} else if v.Value == nil {
				v.Source = fmt.Sprintf("default; the price of %q is not known", unknown)
			}
		}
	}
	return values
}

// setDefault sets a key that is not set to another setting's value.
func (f Source) setDefault(v *config.Value, value any, name string) {
	if v.Value == nil {
		v.Value, v.Source = value, "default: "+name
	}
}

// YAML writes values, each followed by a comment with its source. Keys of one mapping must
// be adjacent.
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

// scalar formats a value on one line: text unquoted if that reads back the same, everything
// else as JSON, which is valid YAML.
func scalar(v any) (string, error) {
	if s, ok := v.(string); ok && isPlainScalar(s) {
		return s, nil
	}
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.SpaceAfterComma(true),
		jsontext.SpaceAfterColon(true))
	return string(text), err
}

func isPlainScalar(s string) bool {
	var read map[string]any
	err := yaml.Unmarshal([]byte("x: "+s+"\n"+s+": y\n"), &read)
	return err == nil && len(read) == 2 && read["x"] == s && read[s] == "y" && !strings.ContainsAny(s, "\r\n")
}
