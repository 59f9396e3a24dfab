package app

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// settings are what a workflow sets by inputs and a command line by flags.
type settings struct {
	mode           string
	token          string
	pullRequest    int
	provider       string
	key            string
	baseURL        string
	model          string
	concurrency    int
	config         string
	environment    string
	code           string
	runID          int64
	digest         string
	draftWorkflow  string
	decideWorkflow string
	decision       decision.Verdict
	feedback       string
	commands       string
	gateFrom       finding.Severity
	instance       string
	expires        time.Duration // 0: the default, as far as artifacts are kept
	retention      int           // days
	allowHTTP      bool
	anew           bool
	protection     checkpoint.Protection
	checkpointDir  string
	summary        string
	allowAuthor    bool
	allowDispatch  bool
	maxTime        time.Duration // 0: no limit
	maxCost        cost.MicroUSD // 0: not set
	maxCostPerPull cost.MicroUSD // 0: not set
	testResults    string
	failOn         finding.Severity // empty: never
	sarif          string           // file
	checkRun       bool
	mark           bool
}

// The defaults of inputs and flags.
const (
	defaultExpires   = 14 * 24 * time.Hour
	defaultRetention = 15
	defaultMaxTime   = 5 * time.Hour // of a job; GitHub ends one after six
)

func defaults() settings {
	return settings{
		mode: "review", provider: "auto", concurrency: reviewpr.DefaultConcurrency, config: config.DefaultPath,
		draftWorkflow: ".github/workflows/pr-review.yml", decideWorkflow: ".github/workflows/pr-review-decide.yml",
		gateFrom: finding.Minor, retention: defaultRetention, protection: checkpoint.Protection{Trust: checkpoint.TrustDigest}, summary: "full",
	}
}

// input is one setting: the name of input and flag, what it means, and what
// reads its value.
type input struct {
	name, help string
	set        func(*settings, string) error
}

// inputs are all settings, as action.yml lists them.
func inputs() []input {
	return []input{
		{"mode", "what this job does: review, resume, revise, record or mark", func(s *settings, v string) error {
			return choice(v, &s.mode, "review", "resume", "revise", "record", "mark")
		}},
		{"github-token", "API token of the job", func(s *settings, v string) error { s.token = v; return nil }},
		{"pull-request", "number of the pull request", func(s *settings, v string) error { return number(v, 1, 1<<31-1, &s.pullRequest) }},
		{"provider", "auto, openai or offline", func(s *settings, v string) error { return choice(v, &s.provider, "auto", "openai", "offline") }},
		{"api-key", "key of the model's endpoint", func(s *settings, v string) error { s.key = v; return nil }},
		{"base-url", "address of an OpenAI-compatible endpoint", func(s *settings, v string) error { s.baseURL = v; return nil }},
		{"model", "name of the model", func(s *settings, v string) error { s.model = v; return nil }},
		{"concurrency", "files under review at one time", func(s *settings, v string) error { return number(v, 1, 256, &s.concurrency) }},
		{"config", "settings file, read from the base commit", func(s *settings, v string) error { s.config = v; return nil }},
		{"environment", "the protected environment of the deciding job", func(s *settings, v string) error { s.environment = v; return nil }},
		{"code", "the draft's code", func(s *settings, v string) error { return digits(v, 16, &s.code) }},
		{"run-id", "the run that made the draft", func(s *settings, v string) error { return number(v, 1, 1<<62, &s.runID) }},
		{"checkpoint-digest", "the draft's digest", func(s *settings, v string) error { return digits(v, 64, &s.digest) }},
		{"draft-workflow", "workflow file whose runs may make drafts", func(s *settings, v string) error { s.draftWorkflow = v; return nil }},
		{"decide-workflow", "workflow file whose runs may decide", func(s *settings, v string) error { s.decideWorkflow = v; return nil }},
		{"decision", "approve or abort", func(s *settings, v string) error {
			return choice(v, (*string)(&s.decision), string(decision.Approve), string(decision.Abort))
		}},
		{"feedback", "what the next draft should do differently", func(s *settings, v string) error { s.feedback = v; return nil }},
		{"commands", "per-finding decisions, one a line", func(s *settings, v string) error { s.commands = v; return nil }},
		{"gate-from", "weakest severity that calls a person", func(s *settings, v string) (err error) { s.gateFrom, err = finding.ParseSeverity(v); return err }},
		{"instance", "name of a second reviewer on one pull request", func(s *settings, v string) error { s.instance = v; return pull.CheckInstance(v) }},
		{"expires", "how long a draft may wait, such as 14d or 36h", func(s *settings, v string) error { return span(v, &s.expires) }},
		{"retention-days", "how long the artifact is kept", func(s *settings, v string) error { return number(v, 1, 400, &s.retention) }},
		{"again", "draft anew at the same commit, and pay again", func(s *settings, v string) error { return boolean(v, &s.anew) }},
		{"trust", "what beyond the digest protects the draft: digest, seal or encrypt", func(s *settings, v string) error {
			return choice(v, &s.protection.Trust, checkpoint.TrustDigest, checkpoint.TrustSeal, checkpoint.TrustEncrypt)
		}},
		{"checkpoint-key", "base64 of at least 32 bytes, for trust: seal or encrypt", func(s *settings, v string) (err error) { s.protection.Key, err = checkpoint.ParseKey(v); return err }},
		{"checkpoint-dir", "folder that carries the draft instead of an artifact", func(s *settings, v string) error { s.checkpointDir = v; return nil }},
		{"summary", "what the job summary shows of a draft: full or counts", func(s *settings, v string) error { return choice(v, &s.summary, "full", "counts") }},
		{"allow-author", "the pull request's author may decide", func(s *settings, v string) error { return boolean(v, &s.allowAuthor) }},
		{"allow-dispatch", "a draft that waits for an environment may be decided by dispatch, by its reviewers", func(s *settings, v string) error { return boolean(v, &s.allowDispatch) }},
		{"max-time", "how long files are reviewed, such as 45m or 5h", func(s *settings, v string) error { return span(v, &s.maxTime) }},
		{"max-cost", "what the run may cost in USD, retries included", func(s *settings, v string) error { return dollars(v, &s.maxCost) }},
		{"max-cost-per-pull", "what all runs on one pull request may cost in USD", func(s *settings, v string) error { return dollars(v, &s.maxCostPerPull) }},
		{"test-results", "result files of tests, a glob: JUnit XML or go test -json", func(s *settings, v string) error { s.testResults = v; return nil }},
		{"fail-on", "weakest posted severity that fails the deciding job, or none", func(s *settings, v string) error { return severityOrNone(v, &s.failOn) }},
		{"sarif", "file for what the decision kept, as SARIF 2.1.0", func(s *settings, v string) error { s.sarif = v; return nil }},
		{"check-run", "a check run with annotations of what the decision kept", func(s *settings, v string) error { return boolean(v, &s.checkRun) }},
		{"mark", "clear the commit status that mode mark has set", func(s *settings, v string) error { return boolean(v, &s.mark) }},
		{"allow-http", "allow http endpoints other than loopback", func(s *settings, v string) error { return boolean(v, &s.allowHTTP) }},
	}
}

func inputNames() []string {
	var names []string
	for _, in := range inputs() {
		names = append(names, in.name)
	}
	return names
}

// apply sets what was given; every bad value is reported.
func (s *settings) apply(given map[string]string) error {
	var problems []string
	for _, in := range inputs() {
		if v, ok := given[in.name]; ok {
			if err := in.set(s, v); err != nil {
				problems = append(problems, fmt.Sprintf("input %s: %v", in.name, err))
			}
		}
	}
	if len(problems) > 0 {
		return problem.Usage(strings.Join(problems, "\n  "), "")
	}
	return nil
}

// settle fills in what depends on other settings, and checks what must fit.
// kept is the number of days that the repository keeps artifacts, 0 if unknown.
func (s *settings) settle(kept int) error {
	if kept > 0 {
		s.retention = min(s.retention, kept)
	}
	limit := time.Duration(s.retention) * 24 * time.Hour
	if s.expires == 0 {
		s.expires = min(defaultExpires, limit)
	}
	s.maxTime = cmp.Or(s.maxTime, defaultMaxTime)
	if s.expires > limit {
		return problem.Usage(fmt.Sprintf("expires is %s, and the artifact is kept for %d days", days(s.expires), s.retention),
			"a draft must outlive its wait: lower expires or raise retention-days")
	}
	return nil
}

// inRepository cleans the settings that name files of the repository. Another
// form of the same path would not be found there, and read as absent.
func (s *settings) inRepository() error {
	for _, file := range []*string{&s.config, &s.draftWorkflow, &s.decideWorkflow} {
		*file = path.Clean(*file)
		if diff.CheckPath(*file) != nil {
			return problem.Usage(fmt.Sprintf("%q is not a file in the repository", *file), "name it from the repository's top, such as "+config.DefaultPath)
		}
	}
	return nil
}

func choice(v string, into *string, known ...string) error {
	if !slices.Contains(known, v) {
		return fmt.Errorf("%q is none of %s", v, strings.Join(known, ", "))
	}
	*into = v
	return nil
}

// severityOrNone reads a severity; none is no severity.
func severityOrNone(v string, into *finding.Severity) (err error) {
	if v == "none" {
		*into = ""
		return nil
	}
	if *into, err = finding.ParseSeverity(v); err != nil {
		err = fmt.Errorf("%w, or none", err)
	}
	return err
}

func number[T int | int64](v string, low, high T, into *T) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || T(n) < low || T(n) > high {
		return fmt.Errorf("%q is not a number from %d to %d", v, low, high)
	}
	*into = T(n)
	return nil
}

func boolean(v string, into *bool) error {
	if v != "true" && v != "false" {
		return fmt.Errorf("%q is none of true, false", v)
	}
	*into = v == "true"
	return nil
}

// dollars reads an amount in USD, such as 0.50.
func dollars(v string, into *cost.MicroUSD) (err error) {
	*into, err = cost.ParseUSD(v)
	return err
}

// digits reads n lower-case hex digits.
func digits(v string, n int, into *string) error {
	if len(v) != n || strings.Trim(v, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not %d hex digits", v, n)
	}
	*into = v
	return nil
}

// span reads a number of minutes, hours or days: 45m, 36h, 14d.
func span(v string, into *time.Duration) error {
	unit := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[v[len(v)-1]]
	n, err := strconv.Atoi(v[:len(v)-1])
	if err != nil || unit == 0 || n < 1 || n > 10_000 {
		return fmt.Errorf("%q is not a time such as 45m, 36h or 14d", v)
	}
	*into = time.Duration(n) * unit
	return nil
}

func days(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dh", d/time.Hour)
}
