// Package settings holds every setting of the product, one row each: the input of the
// action and the flag of the command line, the variables and the settings-file key that it
// falls back to, its help, and how it is read and shown.
//
// It reads and checks texts and does not act on them. A new setting is a field of Settings
// and a row of Table, which names the commands that have it as a flag; a test's -update
// writes action.yml from the rows. One that overrides a key of the settings file is also a
// field of config.File, which applies it over what the files set, so that everyone reads
// config.Config; a draft keeps the keys' own fields of it, and not those of the caps in effect.
// A setting that is not a key and changes what a draft contains goes through driver.Facts, and
// into purpose in internal/local.
package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pull"
)

// Settings holds what a workflow sets by inputs and a command line by flags.
type Settings struct {
	Mode           string
	Token          string
	PullRequest    int
	Provider       string
	Key            string
	BaseURL        string
	Model          string
	Unnamed        bool // nobody gave the model's name for a base-url; set by WithModel
	Concurrency    int
	Config         string
	Defaults       string // defaults below that file; see config.File
	ConfigHere     []byte // the text of Config, if it is a file of this machine; see InRepository
	ConfigAtBase   bool   // Config is a path in the repository: others write that file
	Environment    string
	Code           string
	RunID          int64
	Digest         string
	DraftWorkflow  string
	DecideWorkflow string
	Decision       decision.Verdict
	Feedback       string
	Commands       string
	GateFrom       finding.Severity
	Instance       string
	Expires        time.Duration // the default is less in a repository that keeps artifacts for less
	Retention      int           // days
	Records        int           // days to keep decision records
	AllowHTTP      bool
	Anew           bool
	Protection     checkpoint.Protection
	CheckpointDir  string
	Summary        string
	AllowAuthor    bool
	AllowDispatch  bool
	MaxTime        time.Duration // 0: no limit
	MaxCost        cost.MicroUSD // over that key of the file; 0: not given
	MaxCostPerPull cost.MicroUSD // likewise
	TestResults    string
	Findings       string           // glob, or WORKFLOW.yml/ARTIFACT
	FindingsWait   time.Duration    // how long to wait for the artifact
	FailOn         finding.Severity // empty: never
	Sarif          string           // file
	CheckRun       bool
	Mark           bool
	Ticket         string // key, or issue of the repository
	Modules        string // names of modules, separated by commas; empty for all
}

// Only returns the names in Modules.
func (s Settings) Only() []string {
	return strings.FieldsFunc(s.Modules, func(r rune) bool { return r == ',' || r == ' ' })
}

// File returns the settings file, with its defaults and inputs.
func (s Settings) File() config.File {
	return config.File{Path: s.Config, Here: s.ConfigHere, Defaults: s.Defaults, MaxCost: s.MaxCost,
		MaxCostPerPull: s.MaxCostPerPull}
}

// Row is one setting.
type Row struct {
	Name    string // of the input and the flag
	Help    string
	Flag    string   // commands that have it as a flag, separated by commas
	Default string   // as in action.yml; empty if there is none, or another setting determines it
	Env     []string // variables to read if it is not given; the first that is set counts
	Key     string   // of the settings file; the setting overrides it, but models.review overrides model
	field
	use use
}

// use says where a setting does not appear.
type use int

const (
	everywhere use = iota
	oneDraft       // names a draft or a decision: not in config print
	credential     // not a flag: others can see a command line
	fileItself     // names or holds the file, whose lines config print shows
	overKey        // overrides a key of the file, whose line config print shows
)

// Commands that share flags.
const (
	reviews = "review, resume"
	drafts  = reviews + ", implement"
	models  = drafts + ", eval run, eval findings"
	waiting = "resume, show, threads, stats"
)

// Table lists all settings in the order of action.yml. The rows read into s and show its values.
func Table(s *Settings) []Row {
	return slices.Concat(sources(s), decisions(s), results(s))
}

// sources returns the settings of what a job does, and with what.
func sources(s *Settings) []Row {
	return []Row{
		{Name: "mode", Default: "review",
			Help:  "what this job does: review, implement, resume, revise, record, mark or comment",
			field: choice(&s.Mode, "review", "implement", "resume", "revise", "record", "mark", "comment")},
		{Name: "github-token", Flag: "search, eval import",
			Help: "API token of the job", Env: []string{"GITHUB_TOKEN", "GH_TOKEN"}, use: credential,
			field: secret(&s.Token)},
		{Name: "pull-request", Help: "number of the pull request", use: oneDraft,
			field: number(&s.PullRequest, 1, 1<<31-1)},
		{Name: "provider", Flag: models, Help: "auto, openai or offline", Default: "auto",
			field: choice(&s.Provider, "auto", "openai", "offline")},
		{Name: "api-key", Help: "key of the model's endpoint", Env: []string{"OPENAI_API_KEY"}, use: credential,
			field: secret(&s.Key)},
		{Name: "base-url", Flag: models + ", init",
			Help: "address of an OpenAI-compatible endpoint", Env: []string{"OPENAI_BASE_URL"},
			field: address(&s.BaseURL)},
		{Name: "model", Flag: models + ", init",
			Help: "name of the model", Env: []string{"OPENAI_MODEL"}, Key: "models.review",
			field: text(&s.Model)},
		{Name: "concurrency", Flag: models, Help: "how many files are reviewed at once", Default: "8",
			field: number(&s.Concurrency, 1, 256)},
		{Name: "config", Flag: models + ", show, stats, context, index, search",
			Help: "settings file; a review of commits reads it from the base", Default: config.DefaultPath,
			use: fileItself, field: text(&s.Config)},
		{Name: "defaults", Flag: drafts + ", show, stats, context",
			Help: "default settings as YAML, which the file overrides, except for the keys in their list locked",
			use:  fileItself, field: text(&s.Defaults)},
		{Name: "environment", Help: "the protected environment of the deciding job", field: text(&s.Environment)},
		{Name: "code", Flag: waiting, Help: "the draft's code", use: oneDraft, field: digits(&s.Code, 16)},
		{Name: "draft", Help: "the draft's pull request and code in one, such as 42-3f9c2a71be04d855",
			use: oneDraft, field: draftName(&s.PullRequest, &s.Code)},
		{Name: "run-id", Help: "the run that made the draft", use: oneDraft, field: number(&s.RunID, 1, 1<<62)},
		{Name: "checkpoint-digest", Help: "the draft's digest", use: oneDraft, field: digits(&s.Digest, 64)},
		{Name: "draft-workflow", Flag: waiting, Help: "workflow file whose runs may make drafts",
			Default: ".github/workflows/pr-review.yml", field: text(&s.DraftWorkflow)},
		{Name: "decide-workflow", Flag: waiting, Help: "workflow file whose runs may decide",
			Default: ".github/workflows/pr-review-decide.yml", field: text(&s.DecideWorkflow)},
	}
}

// decisions returns the settings of how a draft is decided, kept and limited.
func decisions(s *Settings) []Row {
	return []Row{
		{Name: "decision", Help: "approve or abort", use: oneDraft,
			field: choice(&s.Decision, decision.Approve, decision.Abort)},
		{Name: "feedback", Help: "what the next draft should do differently", use: oneDraft, field: text(&s.Feedback)},
		{Name: "commands", Help: "decisions on single findings, one per line", use: oneDraft, field: text(&s.Commands)},
		{Name: "gate-from", Flag: "review, eval run",
			Help: "lowest severity that stops for a person", Default: string(finding.Minor),
			field: choice(&s.GateFrom, finding.Severities()...)},
		{Name: "instance", Flag: "review, " + waiting, Help: "name of a second reviewer on one pull request",
			field: checked(&s.Instance, pull.CheckInstance)},
		{Name: "expires", Flag: drafts, Help: "how long a draft may wait, such as 14d or 36h", Default: "14d",
			field: duration(&s.Expires)},
		{Name: "retention-days", Help: "how many days the artifact is kept", Default: "15",
			field: number(&s.Retention, 1, 400)},
		{Name: "record-retention-days", Flag: reviews,
			Help:    "how many days to keep the decision records by which our reviews are recognized",
			Default: "90", field: number(&s.Records, 1, 400)},
		{Name: "again", Flag: "review, implement",
			Help: "make a new draft of the same commit, and pay again", Default: "false", use: oneDraft,
			field: boolean(&s.Anew)},
		{Name: "trust", Help: "how the draft is protected: digest, seal or encrypt",
			Default: string(checkpoint.TrustDigest),
			field: choice(&s.Protection.Trust, checkpoint.TrustDigest, checkpoint.TrustSeal,
				checkpoint.TrustEncrypt)},
		{Name: "checkpoint-key", Flag: waiting, Help: "key for trust: seal or encrypt, base64 of at least 32 bytes",
			Env: []string{"PR_REVIEW_CHECKPOINT_KEY"}, use: credential, field: sealingKey(&s.Protection.Key)},
		{Name: "checkpoint-dir", Help: "folder that holds the draft instead of an artifact",
			field: text(&s.CheckpointDir)},
		{Name: "summary", Help: "what the job summary shows of a draft: full or counts", Default: "full",
			field: choice(&s.Summary, "full", "counts")},
		{Name: "allow-author", Help: "the pull request's author may decide", Default: "false",
			field: boolean(&s.AllowAuthor)},
		{Name: "allow-dispatch", Default: "false",
			Help:  "a draft that waits for an environment may be decided by dispatch, by its reviewers",
			field: boolean(&s.AllowDispatch)},
		{Name: "max-time", Flag: reviews,
			Help: "how long files are reviewed, such as 45m or 5h", field: duration(&s.MaxTime)},
		{Name: "max-cost", Flag: drafts + ", eval findings", Key: "max-cost", use: overKey,
			Help: "what the run may cost in USD, retries included", field: amount(&s.MaxCost)},
		{Name: "max-cost-per-pull", Flag: reviews, Key: "max-cost-per-pull", use: overKey,
			Help: "what all runs on one pull request may cost in USD", field: amount(&s.MaxCostPerPull)},
	}
}

// results returns the settings of a review's other inputs and of its outputs.
func results(s *Settings) []Row {
	return []Row{
		{Name: "test-results", Flag: reviews, Help: "result files of tests, a glob: JUnit XML or go test -json",
			field: glob(&s.TestResults)},
		{Name: "findings", Flag: "review",
			Help:  "results of linters (SARIF, rdjson, checkstyle): a glob, or WORKFLOW.yml/ARTIFACT",
			field: text(&s.Findings)},
		{Name: "findings-wait", Flag: "review",
			Help: "how long to wait for that artifact, such as 10m", Default: "10m",
			field: duration(&s.FindingsWait)},
		{Name: "fail-on", Flag: reviews,
			Help:    "lowest severity at which a posted finding that is still open fails the run, or none",
			Default: "none", field: severityOrNone(&s.FailOn)},
		{Name: "sarif", Flag: reviews,
			Help: "write the findings that were kept to this file, as SARIF 2.1.0", field: text(&s.Sarif)},
		{Name: "check-run", Help: "a check run with annotations of what the decision kept", Default: "false",
			field: boolean(&s.CheckRun)},
		{Name: "mark", Help: "clear the commit status that mode mark has set", Default: "false",
			field: boolean(&s.Mark)},
		{Name: "ticket", Help: "the ticket to implement: PAY-88, or an issue of the repository, #7", use: oneDraft,
			field: text(&s.Ticket)},
		{Name: "modules", Key: "modules", Help: "the only modules of the settings that may change, separated by commas",
			use: oneDraft, field: text(&s.Modules)},
		{Name: "allow-http", Flag: models + ", context, index, search, eval import, show, threads, stats",
			Help: "allow plain http to other machines", Default: "false",
			field: boolean(&s.AllowHTTP)},
	}
}
