package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/secret"
)

// from is where settings can come from: lines of a file, and what was given.
type from struct {
	file  string
	lines config.Lines
	given givenSettings
}

const defaultSource = "default"

// key is the place of a key in the file, or the default.
func (f from) key(name string) string {
	if line, ok := f.lines[name]; ok {
		return fmt.Sprintf("%s:%d", f.file, line)
	}
	return defaultSource
}

// input is the flag, input or variable that a setting was given by, or the default.
func (f from) input(name string) string {
	if source, ok := f.given.from[name]; ok {
		return source
	}
	return defaultSource
}

// printSettings prints what holds: the file's keys, then the inputs.
func (a *app) printSettings(c config.Config, f from, asJSON bool) error {
	values := f.values(c)
	for _, in := range inputs() {
		if show, ok := shownInputs()[in.name]; ok {
			values = append(values, config.Value{Key: in.name, Value: show(f.given.settings), Source: f.input(in.name)})
		}
	}
	own := a.own(f.given.settings)
	for i := range values {
		values[i].Value, values[i].Source = redacted(own, values[i].Value), guard.Line(values[i].Source, maxLine)
	}
	if asJSON {
		return a.printValues(f.file, values)
	}
	text, err := config.YAML(values)
	if err == nil {
		fmt.Fprint(a.Stdout, guard.Text(text))
	}
	return err
}

// printValues prints one object: every setting by its name.
func (a *app) printValues(file string, values []config.Value) error {
	type setting struct {
		Value  any    `json:"value"`
		Source string `json:"source"`
	}
	all := map[string]setting{}
	for _, v := range values {
		all[v.Key] = setting{v.Value, v.Source}
	}
	return printJSON(a.Stdout, map[string]any{"file": guard.Line(file, maxLine), "settings": all})
}

// values are the file's keys with their sources. Where an input counts first, or
// stands behind a key that is left out, it is the value.
func (f from) values(c config.Config) []config.Value {
	values := c.Values()
	for i := range values {
		v := &values[i]
		v.Source = f.key(v.Key)
		switch v.Key {
		case "models.review":
			f.otherwise(v, f.given.model, "model")
		case "models.verify", "models.redraft":
			f.otherwise(v, values[modelAt(values)].Value, "models.review")
		case "max-cost":
			f.first(v, f.given.maxCost)
			if _, unknown := pricesOf(tasks(c, fmt.Sprint(values[modelAt(values)].Value)), c); v.Value == nil && unknown == "" {
				v.Value = config.Dollars(defaultMaxCost)
			} else if v.Value == nil {
				v.Source = fmt.Sprintf("default; the price of %q is not known", unknown)
			}
		case "max-cost-per-pull":
			f.first(v, f.given.maxCostPerPull)
		}
	}
	return values
}

// modelAt is the index of the reviewing model, which stands before the others.
func modelAt(values []config.Value) int {
	for i, v := range values {
		if v.Key == "models.review" {
			return i
		}
	}
	return 0
}

// otherwise gives a key that is left out another setting's value.
func (f from) otherwise(v *config.Value, value any, name string) {
	if v.Value == nil {
		v.Value, v.Source = value, "default: "+name
	}
}

// first puts an input over a key.
func (f from) first(v *config.Value, amount cost.MicroUSD) {
	if amount > 0 {
		v.Value, v.Source = config.Dollars(amount), f.input(v.Key)
	}
}

// shownInputs are the inputs that hold for every run of a workflow, each with how
// its value is shown. What names one draft or one decision is not among them, nor
// what is printed with a key of the file.
func shownInputs() map[string]func(settings) any {
	return map[string]func(settings) any{
		"mode":            func(s settings) any { return s.mode },
		"github-token":    func(s settings) any { return isSet(s.token != "") },
		"provider":        func(s settings) any { return s.provider },
		"api-key":         func(s settings) any { return isSet(s.key != "") },
		"base-url":        func(s settings) any { return withoutSecrets(s.baseURL) },
		"model":           func(s settings) any { return s.model },
		"concurrency":     func(s settings) any { return s.concurrency },
		"environment":     func(s settings) any { return orNil(s.environment) },
		"draft-workflow":  func(s settings) any { return s.draftWorkflow },
		"decide-workflow": func(s settings) any { return s.decideWorkflow },
		"gate-from":       func(s settings) any { return string(s.gateFrom) },
		"instance":        func(s settings) any { return orNil(s.instance) },
		"expires":         func(s settings) any { return spelled(s.expires) },
		"retention-days":  func(s settings) any { return s.retention },
		"trust":           func(s settings) any { return string(s.protection.Trust) },
		"checkpoint-key":  func(s settings) any { return isSet((s.protection.Key != checkpoint.Key{})) },
		"checkpoint-dir":  func(s settings) any { return orNil(s.checkpointDir) },
		"summary":         func(s settings) any { return s.summary },
		"allow-author":    func(s settings) any { return s.allowAuthor },
		"allow-dispatch":  func(s settings) any { return s.allowDispatch },
		"max-time":        func(s settings) any { return spelled(s.maxTime) },
		"test-results":    func(s settings) any { return orNil(s.testResults) },
		"fail-on":         func(s settings) any { return cmp.Or(string(s.failOn), "none") },
		"sarif":           func(s settings) any { return orNil(s.sarif) },
		"check-run":       func(s settings) any { return s.checkRun },
		"mark":            func(s settings) any { return s.mark },
		"allow-http":      func(s settings) any { return s.allowHTTP },
	}
}

// credentials are the inputs that are no flags: a command line is seen by others.
func credentials() []string { return []string{"github-token", "api-key", "checkpoint-key"} }

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// spelled writes a time as its input takes it; nil where none is set.
func spelled(d time.Duration) any {
	switch {
	case d == 0:
		return nil
	case d%time.Hour == 0:
		return days(d)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// isSet says of a credential only that it is there.
func isSet(there bool) any {
	if !there {
		return nil
	}
	return "(set)"
}

// withoutSecrets is an address without user and query, which may hold a key.
func withoutSecrets(address string) any {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err != nil:
		return "(hidden)"
	}
	if u.User = nil; u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.String()
}

// redacted is a value without credentials.
func redacted(own *secret.Redactor, value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	clean := []byte(own.Redact(string(text)))
	if bytes.Equal(clean, text) {
		return value
	}
	var again any
	if err := json.Unmarshal(clean, &again); err != nil {
		return "(hidden)"
	}
	return again
}
