package settings

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

// Defaults that depend on another setting or on a model's price, so that action.yml does
// not list them.
const (
	DefaultMaxTime               = 5 * time.Hour // per job; GitHub cancels a job after six
	DefaultMaxCost cost.MicroUSD = 1_000_000     // per run whose models' prices are known
	DefaultModel                 = "gpt-6-luna"
)

// Defaults returns the settings when nothing is given. It panics if a default in the table
// is invalid.
func Defaults() Settings { return defaults() }

// defaults is read once: every command begins with them.
var defaults = sync.OnceValue(func() (s Settings) {
	for _, row := range Table(&s) {
		if row.Default != "" {
			if err := row.set(row.Default); err != nil {
				panic(fmt.Sprintf("settings: default of %s: %v", row.Name, err))
			}
		}
	}
	return s
})

// Names lists all settings' names in the order of the table.
func Names() []string {
	var names []string
	for _, row := range Table(new(Settings)) {
		names = append(names, row.Name)
	}
	return names
}

// Apply sets the given texts by name. The error reports every invalid value.
func (s *Settings) Apply(given map[string]string) error {
	var problems []string
	for _, row := range Table(s) {
		if v, ok := given[row.Name]; ok {
			if err := row.set(v); err != nil {
				problem := err.Error()
				if !strings.HasPrefix(problem, row.Name+" ") {
					problem = row.Name + ": " + problem
				}
				problems = append(problems, "input "+problem)
			}
		}
	}
	if len(problems) > 0 {
		return problem.Usage(strings.Join(problems, "\n  "), "")
	}
	return nil
}

// Settle fills in settings of a job that depend on one another, and checks that they agree.
// kept is the number of days that the repository keeps artifacts, 0 if unknown.
func (s *Settings) Settle(kept int) error {
	if kept > 0 {
		if s.Expires == Defaults().Expires {
			s.Expires = min(s.Expires, time.Duration(kept)*24*time.Hour)
		}
		s.Retention, s.Records = min(s.Retention, kept), min(s.Records, kept)
	}
	limit := time.Duration(s.Retention) * 24 * time.Hour
	s.MaxTime = cmp.Or(s.MaxTime, DefaultMaxTime)
	if s.Expires > limit {
		return problem.Usage(fmt.Sprintf("expires is %v, and the artifact is kept for %s", formatSpan(s.Expires),
			wording.Count(s.Retention, "day")),
			"a draft must outlive its wait: lower expires or raise retention-days")
	}
	if s.Expires > time.Duration(s.Records)*24*time.Hour {
		return problem.Usage(fmt.Sprintf("expires is %v, and decision records are kept for %s", formatSpan(s.Expires),
			wording.Count(s.Records, "day")),
			"a record must outlive its draft, which could be decided again: raise record-retention-days")
	}
	return nil
}

// InRepository cleans the paths of files in the repository. Another form of the same path
// would not be found there, and the file would count as missing. The settings file is not one
// of them if its text is in ConfigHere.
func (s *Settings) InRepository() error {
	names := []string{"draft-workflow", "decide-workflow", "config"}
	s.ConfigAtBase = s.ConfigHere == nil
	for i, file := range []*string{&s.DraftWorkflow, &s.DecideWorkflow, &s.Config} {
		if file == &s.Config && !s.ConfigAtBase {
			continue
		}
		*file = path.Clean(*file)
		if diff.CheckPath(*file) != nil {
			return problem.Usage(fmt.Sprintf("%s: %q is not a file in the repository", names[i], *file),
				"name it from the repository's top, such as "+config.DefaultPath)
		}
	}
	return nil
}

// FromEnv sets the named settings that are not set yet from their environment variables. It
// returns the variable that each was taken from.
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

// WithModel fills in the model and its endpoint from the environment. Provider auto becomes
// openai if there is a key or an address, otherwise offline (rules only).
func (s Settings) WithModel(getenv func(string) string) Settings {
	_, _ = s.FromEnv(getenv, "api-key", "base-url", "model") // any text is valid for these
	if s.Model == "" {
		s.Model, s.Unnamed = DefaultModel, s.BaseURL != "" && strings.TrimRight(s.BaseURL, "/") != llm.DefaultBaseURL
	}
	if s.Provider == "auto" {
		s.Provider = "offline"
		if s.Key != "" || s.BaseURL != "" {
			s.Provider = "openai"
		}
	}
	return s
}

// Flags adds a command's settings as flags.
func (s *Settings) Flags(f *pflag.FlagSet, command string) {
	for _, row := range Table(s) {
		if slices.Contains(strings.Split(row.Flag, ", "), command) {
			row.flag(f, nil)
		}
	}
}

// PrintFlags adds a flag for every setting that applies to all runs. typed receives the
// flags' texts as typed, to tell them from defaults of the same value.
func (s *Settings) PrintFlags(f *pflag.FlagSet, typed map[string]string) {
	for _, row := range Table(s) {
		if row.use != oneDraft && row.use != credential {
			row.flag(f, typed)
		}
	}
}

// flag adds the setting as a flag, which is parsed like the input of the same name.
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
