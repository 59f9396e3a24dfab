// Package action is the interface to GitHub's runner: inputs, the event, outputs,
// the job summary, annotations and masks.
//
// It reads the runner's variables and files and writes what the runner reads
// back; it makes no decisions. Untrusted text passes through guard before it
// reaches the log. Start reading at Runner.
package action

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// MaxSummary is the size in bytes above which GitHub drops a step's whole summary.
const MaxSummary = 1 << 20

// Env holds what the runner's variables say about the job.
type Env struct {
	EventName, EventPath     string
	Repository               string // owner/name
	RepositoryID, RunID      int64
	RunAttempt               int
	WorkflowRef              string // owner/name/path@ref
	Ref                      string
	Actor, TriggeringActor   string
	ServerURL                string
	ResultsURL, RuntimeToken string
	RetentionDays            int // maximum that the repository allows; 0 if unknown
	outputPath, summaryPath  string
}

// ReadEnv reads the runner's variables. An invalid number is an error.
func ReadEnv(getenv func(string) string) (Env, error) {
	e := Env{
		EventName: getenv("GITHUB_EVENT_NAME"), EventPath: getenv("GITHUB_EVENT_PATH"),
		Repository: getenv("GITHUB_REPOSITORY"), WorkflowRef: getenv("GITHUB_WORKFLOW_REF"), Ref: getenv("GITHUB_REF"),
		Actor: getenv("GITHUB_ACTOR"), TriggeringActor: getenv("GITHUB_TRIGGERING_ACTOR"),
		ServerURL:  getenv("GITHUB_SERVER_URL"),
		ResultsURL: getenv("ACTIONS_RESULTS_URL"), RuntimeToken: getenv("ACTIONS_RUNTIME_TOKEN"),
		outputPath: getenv("GITHUB_OUTPUT"), summaryPath: getenv("GITHUB_STEP_SUMMARY"),
	}
	err := errors.Join(
		readNumber(getenv, "GITHUB_REPOSITORY_ID", &e.RepositoryID),
		readNumber(getenv, "GITHUB_RUN_ID", &e.RunID),
		readNumber(getenv, "GITHUB_RUN_ATTEMPT", &e.RunAttempt),
		readNumber(getenv, "GITHUB_RETENTION_DAYS", &e.RetentionDays),
	)
	return e, err
}

func readNumber[T int | int64](getenv func(string) string, name string, into *T) error {
	text := getenv(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is %q, not a number", name, text)
	}
	*into = T(n)
	return nil
}

// Runner writes to the job: its log, its outputs and its summary.
type Runner struct {
	env    Env
	log    *githubactions.Action
	random io.Reader
}

// New returns a writer for the job that env describes; log is its standard output.
func New(env Env, log io.Writer) *Runner {
	return &Runner{env: env, log: githubactions.New(githubactions.WithWriter(log)), random: rand.Reader}
}

// Mask hides a secret in the job's log from now on. It skips values shorter than
// 6 characters, which would hide parts of ordinary words.
func (r *Runner) Mask(secret string) {
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 6 {
			r.log.AddMask(line)
		}
	}
}

// Error annotates the job with an error; text may span several lines.
func (r *Runner) Error(text string) { r.log.Errorf("%s", guard.Text(text)) }

// Warning annotates the job with a warning.
func (r *Runner) Warning(text string) { r.log.Warningf("%s", guard.Text(text)) }

// Notice annotates the job with a line for people who look at the run.
func (r *Runner) Notice(text string) { r.log.Noticef("%s", guard.Text(text)) }

// SetOutputs writes the step's outputs, sorted by name. Every value is enclosed in
// random delimiters, so that no value can end itself (CVE-2022-35954). If there is
// no output file, nothing is written, and the log says so.
func (r *Runner) SetOutputs(values map[string]string) error {
	if r.env.outputPath == "" {
		r.Warning("GITHUB_OUTPUT is not set, so this step has no outputs")
		return nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "" || strings.ContainsAny(name, "=<\r\n") {
			return fmt.Errorf("output name %q has a character that the runner reads as syntax", name)
		}
		delimiter, err := r.delimiter(values[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", name, delimiter, values[name], delimiter)
	}
	return appendFile(r.env.outputPath, b.String())
}

func (r *Runner) delimiter(value string) (string, error) {
	for {
		var draw [16]byte
		if _, err := io.ReadFull(r.random, draw[:]); err != nil {
			return "", fmt.Errorf("drawing an output delimiter: %w", err)
		}
		if d := "pr_review_" + hex.EncodeToString(draw[:]); !strings.Contains(value, d) {
			return d, nil
		}
	}
}

// Summary appends Markdown to the job summary. Text of MaxSummary bytes or more
// is an error, since GitHub would drop the whole summary. If there is no summary
// file, nothing is written.
func (r *Runner) Summary(markdown string) error {
	if r.env.summaryPath == "" {
		return nil
	}
	if len(markdown) >= MaxSummary {
		return fmt.Errorf("the job summary has %d bytes, GitHub takes %d", len(markdown), MaxSummary)
	}
	return appendFile(r.env.summaryPath, strings.TrimRight(markdown, "\n")+"\n")
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the runner's file: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the runner's file: %w", err)
	}
	return nil
}

// Inputs reads the action's inputs from the process's environment: INPUT_ and the
// name in upper case, dashes kept. It trims values and omits empty ones. An input that is not
// in known is an error, with the nearest name if one is close.
func Inputs(environ, known []string) (map[string]string, error) {
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
			unknown := fmt.Sprintf("unknown input %q", name)
			if near := problem.Nearest(name, known); near != "" {
				unknown += fmt.Sprintf("\n  did you mean %q?", near)
			}
			problems = append(problems, errors.New(unknown))
			continue
		}
		if value = strings.TrimSpace(value); value != "" {
			values[name] = value
		}
	}
	return values, errors.Join(problems...)
}
