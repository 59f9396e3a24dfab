// Package finding holds what a review found: findings, their severities and
// the state of every changed file.
//
// Everything here is a value or a pure function. Start reading at Finding.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/wording"
)

// Side is the side of a diff that a line number counts on.
type Side string

// The sides, as GitHub names them: Right is the new file, Left the old one.
const (
	Right Side = "RIGHT"
	Left  Side = "LEFT"
)

// Placement says where a finding is posted.
type Placement string

// The placements: a comment at the line, or a paragraph in the review's body.
const (
	Inline Placement = "inline"
	Body   Placement = "body"
)

// Source says who found it.
type Source string

// The sources of findings.
const (
	Model  Source = "model"
	Rule   Source = "rule"
	Linter Source = "linter"
)

// The categories of findings that are not the model's.
const (
	Secret     = "secret"      // a credential; its quote, in which it is masked, is shown instead of the line
	HiddenText = "hidden-text" // characters that a reader does not see, or a forged mark of this tool
	Lint       = "lint"        // of every linter's finding
)

// Filter is the reason why a finding is not part of the draft. A filtered finding stays in the
// state. Each filter has its wording in render's filtered.go.
type Filter string

// The filters that aggregation applies.
const (
	LowConfidence    Filter = "low_confidence"
	Duplicate        Filter = "duplicate"
	AlreadyPosted    Filter = "posted"         // an earlier review of the pull request reported it
	DroppedBefore    Filter = "dropped_before" // an approver of an earlier draft dropped it
	AlreadyCommented Filter = "said"           // a person reported it on the same lines
	Repeat           Filter = "repeat"         // the finding with the same id lists its line
	Capped           Filter = "capped"         // a linter reported more than is shown
)

// Dropped is the filter of a finding that this draft's approver dropped.
const Dropped Filter = "dropped"

// LeftOut is the filter of a finding that the report settings exclude by category, rule or
// severity; drafts count it under that wording. aggregate sets it too.
const LeftOut Filter = "left_out"

// The filters of a file's review.
const (
	Misquoted Filter = "misquoted" // the line it quotes is nowhere in the diff
	Refuted   Filter = "refuted"   // a second look came to another result
)

// Finding is one claim about one place in a change. Title, Body, Suggestion, Quote, Category and
// Path are untrusted text: they come from a model or a diff.
type Finding struct {
	ID         string   `json:"id"` // F1, F2, … in the order shown; empty until aggregated
	Path       string   `json:"path"`
	Side       Side     `json:"side"`
	StartLine  int      `json:"start_line"` // equal to Line for a single line
	Line       int      `json:"line"`       // the last line, 1-based, counted on Side
	Severity   Severity `json:"severity"`
	Category   string   `json:"category"`
	Confidence float64  `json:"confidence"` // 0 to 1
	Title      string   `json:"title"`      // one sentence, no line break
	Body       string   `json:"body"`       // why it matters; Markdown
	Suggestion string   `json:"suggestion"` // replaces StartLine to Line exactly; empty for none
	// why the suggestion cannot be applied and is shown as code; our own words
	SuggestionProblem string    `json:"plain,omitempty"`
	Quote             string    `json:"quote"` // the line of code the claim is about
	Placement         Placement `json:"placement"`
	Fingerprint       string    `json:"fingerprint"`
	Source            Source    `json:"source"`
	Rule              string    `json:"rule,omitempty"`   // the rule's name; empty for a model's finding
	Origin            *Origin   `json:"origin,omitempty"` // set for a linter's finding only

	Also     []string `json:"also,omitempty"`      // other sources that report it: names of rules, or "model"
	RuleText string   `json:"rule_text,omitempty"` // the rule's own text for it; shown after Body

	Filtered Filter `json:"filtered,omitempty"` // set if the finding is not part of the draft
	Note     string `json:"note,omitempty"`     // why it is placed in the body, or filtered; our own words
}

// Origin says which linter a finding comes from. Its texts are untrusted: the author of the change
// controls what the change's linters report.
type Origin struct {
	Tool string `json:"tool,omitempty"`
	Help string `json:"help,omitempty"` // https address of the rule's page
	From string `json:"from,omitempty"` // where its results come from, such as "by ci.yml of this change"
}

// IsWarning reports whether a finding is about hidden text or a credential. A comment or an earlier drop cannot filter
// it: the comment may be about something else on the line, and the credential is not part of the fingerprint, so a
// drop would also cover the next one. If it was posted, it is not posted again.
func (f Finding) IsWarning() bool {
	return f.IsHiddenText() || f.Source == Rule && f.Category == Secret
}

// IsHiddenText reports whether a finding is about hidden text. It may cover several lines, all of which are part of
// its own fingerprint.
func (f Finding) IsHiddenText() bool { return f.Source == Rule && f.Category == HiddenText }

// AlsoSaid returns the paragraph after a finding's body: the text of a rule that reports it too,
// the linters that do, and where a linter's finding comes from. It is empty if there are none.
// Like Body it is untrusted text.
func (f Finding) AlsoSaid() string {
	var said []string
	also := f.Also
	if f.RuleText != "" && len(also) > 0 { // a crafted checkpoint may lack the name
		said, also = append(said, fmt.Sprintf("The rule `%s` says so too: %s", also[0], f.RuleText)), also[1:]
	}
	if o := f.Origin; o != nil {
		said = append(said, o.sentence(f.Rule))
	}
	for _, name := range also {
		if strings.Contains(name, " ") { // a linter and its rule
			said = append(said, fmt.Sprintf("So says %s.", codeSpan(name)))
		}
	}
	return strings.Join(said, " ")
}

// sentence returns "Reported by `golangci-lint`, rule `errcheck`, by ci.yml of this change."
func (o Origin) sentence(rule string) string {
	text := "Reported by " + codeSpan(o.Tool)
	if rule != "" {
		text += ", rule " + codeSpan(rule)
	}
	if o.From != "" {
		text += ", " + o.From
	}
	if o.Help != "" {
		return text + ": " + codeSpan(o.Help)
	}
	return text + "."
}

func codeSpan(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

// Name returns the linter and its rule in the form that Also uses.
func (o Origin) Name(rule string) string { return o.Tool + " " + rule }

// Fingerprint identifies a finding across pushes. It hashes path, category, title and quote, with
// white space folded, and no line number. A linter's message may contain lines and counts, so its
// tool and rule are hashed instead of the title.
func Fingerprint(f Finding) string {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	parts := []string{f.Path, fold(f.Category), fold(f.Title), fold(f.Quote)}
	if f.Origin != nil {
		parts = []string{f.Path, string(Linter), fold(f.Origin.Tool), fold(f.Rule), fold(f.Quote)}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Placed returns the fingerprint of whatever a model says of a finding's line, in its category and
// with a severity: a dropped finding is known by it if other words are found for it.
func Placed(f Finding, s Severity) string {
	f.Title = "\x00" + string(s) // no title has this
	return Fingerprint(f)
}

// Compare orders findings as they are shown: most severe first, then by path and line. Title, body and
// fingerprint break ties, so that the order is total.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.StartLine, b.StartLine),
		cmp.Compare(a.Title, b.Title),
		cmp.Compare(a.Body, b.Body),
		cmp.Compare(a.Fingerprint, b.Fingerprint),
	)
}

// ListedBy reports whether other, which has the same id, lists the line of f, a repeat.
func (f Finding) ListedBy(other Finding) bool {
	return other.ID == f.ID && f.ID != "" && other.Filtered != Repeat
}

// Kept returns the findings without a filter, in their order.
func Kept(all []Finding) []Finding {
	kept := make([]Finding, 0, len(all))
	for _, f := range all {
		if f.Filtered == "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// Count returns the number of findings with a severity.
func Count(all []Finding, s Severity) (n int) {
	for _, f := range all {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Counts formats the number of findings of each severity, most severe first: "2 blockers, 1 major,
// 2,000 nits". It returns "nothing found" for none.
func Counts(all []Finding) string {
	var parts []string
	for _, s := range slices.Backward(Severities()) {
		switch n := Count(all, s); {
		case n == 0:
		case s == Major || s == Minor: // no nouns
			parts = append(parts, wording.Thousands(int64(n))+" "+string(s))
		default:
			parts = append(parts, wording.Count(n, string(s)))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing found")
}

// Severity says how severe a finding is. It is defined in decision, because a decision may change
// it.
type Severity = decision.Severity

// The severities, weakest first.
const (
	Nit     = decision.Nit
	Minor   = decision.Minor
	Major   = decision.Major
	Blocker = decision.Blocker
)

// Severities lists every severity, weakest first.
func Severities() []Severity { return decision.Severities() }

// ParseSeverity parses a severity's name; the error lists the valid ones.
func ParseSeverity(name string) (Severity, error) { return decision.ParseSeverity(name) }

// FlagKind says what a flag warns of.
type FlagKind string

// The kinds of flags. A hidden-text flag is only about title, description or branch name: in a
// file the same is a finding.
const (
	InjectionFlag   FlagKind = "injection"   // text that addresses the reviewer
	SuppressionFlag FlagKind = "suppression" // a list of what tools must not report grew
	HiddenFlag      FlagKind = "hidden-text" // characters that a reader does not see, or a forged mark of this tool
)

// Flag warns the approver of a text in the change. It is shown in the draft's banner and is never
// posted. Path and Text are untrusted.
type Flag struct {
	Path string   `json:"path"` // empty for title, description and branch name
	Line int      `json:"line"` // 1-based, of the new file or the description
	Kind FlagKind `json:"kind"`
	Text string   `json:"text"` // without credentials; begins with "title: " or the like if Path is empty
}

// Reaching returns the number of findings that are at least as severe as a severity, or 0 if the
// severity is empty or unknown.
func Reaching(all []Finding, from Severity) (n int) {
	for _, f := range all {
		if from.Rank() >= 0 && f.Severity.Rank() >= from.Rank() {
			n++
		}
	}
	return n
}
