package settings

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

// Defaults that depend on another setting or on a model's price, so that action.yml
// does not name them.
const (
	DefaultExpires               = 14 * 24 * time.Hour
	DefaultMaxTime               = 5 * time.Hour // of a job; GitHub ends one after six
	DefaultMaxCost cost.MicroUSD = 1_000_000     // of a run whose models' prices are known
	DefaultModel                 = "gpt-5-mini"
)

// Defaults are the settings where nothing is given. It panics where a default of
// the table cannot be read.
func Defaults() Settings {
	var s Settings
	for _, row := range Table(&s) {
		if row.Default != "" {
			if err := row.set(row.Default); err != nil {
				panic(fmt.Sprintf("settings: default of %s: %v", row.Name, err))
			}
		}
	}
	return s
}

// Names lists all settings in the order of the table.
func Names() []string {
	var names []string
	for _, row := range Table(new(Settings)) {
		names = append(names, row.Name)
	}
	return names
}

// Apply sets what was given, by names; every bad value is reported.
func (s *Settings) Apply(given map[string]string) error {
	var problems []string
	for _, row := range Table(s) {
		if v, ok := given[row.Name]; ok {
			if err := row.set(v); err != nil {
				problems = append(problems, fmt.Sprintf("input %s: %v", row.Name, err))
			}
		}
	}
	if len(problems) > 0 {
		return problem.Usage(strings.Join(problems, "\n  "), "")
	}
	return nil
}

// Settle fills in what a job's settings take from one another, and checks what must
// fit. kept is the number of days that the repository keeps artifacts, 0 if unknown.
func (s *Settings) Settle(kept int) error {
	if s.Expires == 0 {
		s.Expires = DefaultExpires
		if kept > 0 {
			s.Expires = min(s.Expires, time.Duration(kept)*24*time.Hour)
		}
	}
	if kept > 0 {
		s.Retention, s.Records = min(s.Retention, kept), min(s.Records, kept)
	}
	limit := time.Duration(s.Retention) * 24 * time.Hour
	s.MaxTime = cmp.Or(s.MaxTime, DefaultMaxTime)
	if s.Expires > limit {
		return problem.Usage(fmt.Sprintf("expires is %s, and the artifact is kept for %s", days(s.Expires),
			wording.Count(s.Retention, "day")),
			"a draft must outlive its wait: lower expires or raise retention-days")
	}
	if s.Expires > time.Duration(s.Records)*24*time.Hour {
		return problem.Usage(fmt.Sprintf("expires is %s, and decision records are kept for %s", days(s.Expires),
			wording.Count(s.Records, "day")),
			"a record must outlive its draft, which could be decided again: raise record-retention-days")
	}
	return nil
}

// InRepository cleans the settings that name files of the repository. Another
// form of the same path would not be found there, and read as absent. Whether a person
// named the settings file is kept in ConfigNamed.
func (s *Settings) InRepository() error {
	s.ConfigNamed = s.ConfigNamed || s.Config != config.DefaultPath
	for _, file := range []*string{&s.Config, &s.DraftWorkflow, &s.DecideWorkflow} {
		*file = path.Clean(*file)
		if diff.CheckPath(*file) != nil {
			return problem.Usage(fmt.Sprintf("%q is not a file in the repository", *file),
				"name it from the repository's top, such as "+config.DefaultPath)
		}
	}
	return nil
}

// FromEnv fills in what is not given from the variables of some settings, and gives
// the variable that each was taken from.
func (s *Settings) FromEnv(getenv func(string) string, names ...string) (map[string]string, error) {
	from := map[string]string{}
	var errs []error
	for _, row := range Table(s) {
		if !slices.Contains(names, row.Name) || row.show() != nil {
			continue
		}
		for _, variable := range row.Env {
			if v := getenv(variable); v != "" && from[row.Name] == "" {
				from[row.Name] = variable
				if err := row.set(v); err != nil {
					errs = append(errs, problem.As(problem.Misuse, fmt.Errorf("%s: %w", variable, err), ""))
				}
			}
		}
	}
	return from, errors.Join(errs...)
}

// WithModel fills in whom to ask: from the environment, and with provider auto, a
// key or an address means a model, and neither the rules.
func (s Settings) WithModel(getenv func(string) string) Settings {
	_, _ = s.FromEnv(getenv, "api-key", "base-url", "model") // texts, of which none is wrong
	s.Model = cmp.Or(s.Model, DefaultModel)
	if s.Provider == "auto" {
		s.Provider = "offline"
		if s.Key != "" || s.BaseURL != "" {
			s.Provider = "openai"
		}
	}
	return s
}

// Flags makes the flags of a command that are settings.
func (s *Settings) Flags(f *pflag.FlagSet, command string) {
	for _, row := range Table(s) {
		if slices.Contains(strings.Split(row.Flag, ", "), command) {
			row.flag(f, nil)
		}
	}
}

// PrintFlags makes flags of all settings that hold for every run, and keeps their
// texts as they were typed, to tell them from defaults of the same value.
func (s *Settings) PrintFlags(f *pflag.FlagSet, typed map[string]string) {
	for _, row := range Table(s) {
		if row.use != oneDraft && row.use != credential {
			row.flag(f, typed)
		}
	}
}

// flag makes a flag of a setting, which is read as the input of the same name is.
func (r Row) flag(f *pflag.FlagSet, typed map[string]string) {
	add := f.Func
	if r.bare {
		add = f.BoolFunc
	}
	add(r.Name, r.Help, func(text string) error {
		if text == "" {
			return errors.New("it is empty")
		}
		if typed != nil {
			typed[r.Name] = text
		}
		return r.set(text)
	})
}
