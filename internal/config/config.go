// Package config reads the repository's settings, .github/pr-review.yml.
//
// It knows the keys, their types and the line of each; it never fetches the file and never
// guesses: an unknown key is an error. Start at Config and Parse.
//
// A new key is a field of Config, or of one of its parts, and a row in the keys next to it:
// how it is read and shown. A test's -update writes the line of a whole number, a boolean, an
// amount or a choice into the schema and the sample, with its name where a person then puts
// words, and copies the sample to the settings page. Lines of other keys are written by hand.
package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pattern"
)

// DefaultPath is where the settings are read from unless another path is given.
const DefaultPath = ".github/pr-review.yml"

// Config holds a repository's settings for its reviews. Settings that are not set are left
// out of its JSON form, so that a new key does not change the fingerprint of old settings.
type Config struct {
	Ignore    []string  `json:"ignore,omitempty"`   // globs of paths that are not reviewed
	MaxLines  int       `json:"max_lines,omitzero"` // changed lines of a file, from 1; 0 for DefaultMaxLines
	Admission Admission `json:"admission"`

	Prices         map[string]cost.Price `json:"prices,omitzero"` // by the model's name as requests use it
	MaxCost        cost.MicroUSD         `json:"max_cost,omitzero"`
	MaxCostPerPull cost.MicroUSD         `json:"max_cost_per_pull,omitzero"`
	MaxCostPerFile cost.MicroUSD         `json:"max_cost_per_file,omitzero"`

	// The caps in effect, which inputs may have set instead of the two keys. They are not
	// part of a draft's settings: a draft continues under a higher cap.
	Cap        cost.MicroUSD `json:"-"`
	CapPerPull cost.MicroUSD `json:"-"`

	Models       Models       `json:"models,omitzero"`
	NoVerify     bool         `json:"no_verify,omitzero"`
	NoClassify   bool         `json:"no_classify,omitzero"`
	Agent        Agent        `json:"agent,omitzero"`
	ModelOptions ModelOptions `json:"model_options,omitzero"`
	// language of the findings' text, such as German; empty for English
	Language     string      `json:"language,omitzero"`
	Instructions []string    `json:"instructions,omitzero"` // files of the repository that guide its reviews
	Guidelines   []Guideline `json:"guidelines,omitzero"`   // in the order of the file

	Overview OverviewUse `json:"overview,omitzero"`
	Report   Report      `json:"report,omitzero"`

	Embeddings Embeddings `json:"embeddings,omitzero"`
	Rerank     Endpoint   `json:"rerank,omitzero"`
	Index      Index      `json:"index,omitzero"`

	Comments     Comments      `json:"comments,omitzero"`
	Handover     string        `json:"handover,omitzero"` // empty for HandoverSummary
	Linters      Linters       `json:"linters,omitzero"`
	Environments []Environment `json:"environments,omitzero"` // the first that matches a changed file applies
	Deciders     []string      `json:"deciders,omitzero"`     // logins that decide by dispatch; empty: who may write
	Context      Context       `json:"context,omitzero"`

	Modules   []Module  `json:"modules,omitzero"`   // where a ticket may be implemented; empty: derived
	Protected []string  `json:"protected,omitzero"` // globs of paths that no ticket's change may touch
	Implement Implement `json:"implement,omitzero"`

	Locked    []string `json:"-"` // keys that the defaults lock, with those below them
	Overruled []string `json:"-"` // sentences on what has no effect, being locked or missing
}

func rootKeys(c *Config) keys {
	return keys{
		textList("ignore", &c.Ignore, wrongGlob), integer("max-lines", 100_000, &c.MaxLines, DefaultMaxLines),
		group("admission", admissionKeys(&c.Admission)),
		group("models", modelKeys(&c.Models)),
		negatedFlag("verify", &c.NoVerify), negatedFlag("classify", &c.NoClassify),
		group("agent", agentKeys(&c.Agent)), group("model-options", optionKeys(&c.ModelOptions)),
		pricesKey(&c.Prices),
		endpoint("embeddings", &c.Embeddings.Model, embeddingKeys(&c.Embeddings)),
		endpoint("rerank", &c.Rerank.Model, rerankKeys(&c.Rerank)), group("index", indexKeys(&c.Index)),
		limit("max-cost", &c.MaxCost, &c.Cap), limit("max-cost-per-pull", &c.MaxCostPerPull, &c.CapPerPull),
		amount("max-cost-per-file", &c.MaxCostPerFile),
		languageKey(&c.Language), keepEmpty(textList("instructions", &c.Instructions, wrongPath), &c.Instructions),
		objects("guidelines", &c.Guidelines, guidelineKeys, checkGuideline),
		choice("overview", &c.Overview, OverviewShow, OverviewShow, OverviewPost, OverviewOff),
		group("report", reportKeys(&c.Report)),
		group("comments", commentKeys(&c.Comments)),
		choice("handover", &c.Handover, HandoverSummary, HandoverSummary, HandoverReview, HandoverOff),
		group("linters", linterKeys(&c.Linters)),
		objects("environments", &c.Environments, environmentKeys, checkEnvironment),
		textList("deciders", &c.Deciders, matching(login(), "a login; teams cannot be named here")),
		objects("modules", &c.Modules, moduleKeys, checkModules()),
		textList("protected", &c.Protected, wrongGlob), group("implement", implementKeys(&c.Implement)),
		group("context", contextKeys(&c.Context)),
	}
}

// DefaultMaxLines is the most changed lines of a file that is reviewed, unless max-lines is
// set.
const DefaultMaxLines = 5000

// Lines returns the number of changed lines above which a file is too large to be reviewed
// in one piece.
func (c Config) Lines() int { return cmp.Or(c.MaxLines, DefaultMaxLines) }

// Default returns the configuration of a repository without a settings file.
func Default() Config {
	return Config{
		Admission:    Admission{Drafts: Skip, Bots: Skip, Label: "ai-review", SkipLabel: "no-ai-review"},
		Instructions: defaultInstructions(),
	}
}

// defaultInstructions returns the files that tell people and agents how to work on a repository.
func defaultInstructions() []string { return []string{AgentsFile, "REVIEW.md", "CONTRIBUTING.md"} }

// AgentsFile is the name of the instructions for agents. If the settings take the one at the top, they take those of
// folders too.
const AgentsFile = "AGENTS.md"

// maxFolders is the number of folders, one in the other, from which on nobody looks for an AGENTS.md. It bounds what a
// change whose paths are made for that costs.
const maxFolders = 40

// InstructionsFor returns the paths of what says how to work on some files: where an AGENTS.md may be in their
// folders, the nearest first, then what the settings name. Not every one has to exist.
func (c Config) InstructionsFor(files []string) (paths []string) {
	for _, file := range files {
		odd := diff.CheckPath(file) != nil || strings.Count(file, "/") > maxFolders || strings.ContainsAny(file, "\r\n")
		if !odd && slices.Contains(c.Instructions, AgentsFile) {
			for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
				paths = append(paths, dir)
			}
		}
	}
	slices.Sort(paths) // a folder before those in it
	slices.Reverse(paths)
	paths = slices.Compact(paths)
	for i := range paths {
		paths[i] += "/" + AgentsFile
	}
	return append(slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(c.Instructions, p) }),
		c.Instructions...)
}

// Fingerprint returns the SHA-256, in hex, of the effective settings.
func (c Config) Fingerprint() string {
	if slices.Equal(c.Instructions, defaultInstructions()) {
		c.Instructions = nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("config: settings of plain values do not encode: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Values lists every key in documentation order. The value of a key that is not set is its
// default if config knows it, otherwise nil. The values of headers and the texts of extra body
// fields are left out: they may be credentials.
func (c Config) Values() []Value { return rootKeys(&c).values("") }

// Locks reports whether the defaults lock a key or one above it.
func (c Config) Locks(key string) bool { return locks(c.Locked, key) }

// Verifies reports whether serious findings are verified by a second look.
func (c Config) Verifies() bool { return !c.NoVerify }

// Classifies reports whether files are first classified, by the model named for that.
func (c Config) Classifies() bool { return !c.NoClassify && c.Models.Classify != "" }

// WritesNothing reports whether a model is the one that embeds or reranks, so that it generates no text.
func (c Config) WritesNothing(model string) bool {
	return model == c.Embeddings.Model || model == c.Rerank.Model
}

// Variables returns the names of the environment variables that hold these settings' credentials.
func (c Config) Variables() []string {
	return slices.DeleteFunc([]string{c.Embeddings.KeyEnv, c.Rerank.KeyEnv, c.Index.PasswordEnv},
		func(name string) bool { return name == "" })
}

// GuidelinesFor returns the guidelines for a file, in the order of the settings.
func (c Config) GuidelinesFor(path string) []string {
	var texts []string
	for _, g := range c.Guidelines {
		if pattern.Matches(g.Paths, path) {
			texts = append(texts, g.Text)
		}
	}
	return texts
}

// EnvironmentFor returns the environment whose approval a change needs: the one of the
// first entry of environments, in the file's order, with a glob that matches any of the
// paths. It returns "" if none does. paths must include the old names of renamed files, so
// that moving a file out of a folder asks that folder's owners.
func (c Config) EnvironmentFor(paths []string) string {
	for _, e := range c.Environments {
		for _, path := range paths {
			if pattern.Matches(e.Paths, path) {
				return e.Name
			}
		}
	}
	return ""
}
