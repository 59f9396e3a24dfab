package reviewpr

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wording"
)

// State is the state of a run. declare sets the names under which its fields are
// stored: add a new field in both places.
type State struct {
	Draft       Draft
	Pull        *pull.Pull
	Files       []diff.File
	Findings    []finding.Finding // found without a reviewer
	Flags       []finding.Flag    // shown only to the approver
	Earlier     []finding.Earlier // what earlier reviews and people said about it
	Asked       Asked             // the context of the change
	FileReviews []finding.FileReview
	Whole       finding.Overview // the review of the change as a whole
	Lacks       []string         // what could not be read about the pull request, in our own words
	Comments    []finding.Finding
	SummaryBody string     // review body as it will be posted, without approval line and marker
	Approved    *bool      // nil until decided
	Usage       cost.Usage // of this thread; results of other threads cost nothing here
	Reused      int        // files whose result came from an earlier run
	Reason      string     // why the run ended SKIPPED or FAILED
	Decision    *decision.Record
	Rounds      []decision.Record // the revisions requested so far
	ReviewURL   string
}

// Draft holds the facts of the run that made the draft. The caller provides those
// of the job; ingest adds those of the change.
type Draft struct {
	checkpoint.Manifest // outcome and counts are added when it is packed

	Web      string           `json:"web,omitempty"` // https://host/owner/repo
	Rules    bool             `json:"rules,omitempty"`
	Model    string           `json:"model,omitempty"`
	GateFrom finding.Severity `json:"gate_from"`
	For      string           `json:"for,omitempty"` // hash of change, reviewer and settings, on the command line
	// code of an earlier draft whose findings stay in this one
	Withdrew   string `json:"withdrew,omitempty"`
	WithdrewBy string `json:"withdrew_by,omitempty"` // who requested the new draft, and may not decide
	// earlier reviews could not be read, so which of them are still open is unknown
	Unread  bool          `json:"unread,omitempty"`
	Again   time.Time     `json:"again,omitzero"`        // when it was drafted again; older rejections do not count
	UsedIDs int           `json:"used_ids,omitempty"`    // highest finding id that earlier drafts of the thread used
	Seconds float64       `json:"seconds,omitempty"`     // duration of its run, up to the gate or the end
	Trace   string        `json:"traceparent,omitempty"` // W3C trace context of the run that drafted
	MaxCost cost.MicroUSD `json:"max_cost,omitempty"`    // cost cap of the run; 0 for none
	Linters linter.Report `json:"linters,omitzero"`      // the linters' results for the change

	Name       string        `json:"name"`
	Branch     string        `json:"branch,omitempty"` // of a clone, where the thread's id does not name it
	Unlisted   int           `json:"unlisted,omitempty"`
	Config     config.Config `json:"config"`
	Attributes []byte        `json:"attributes,omitempty"`
}

// withChange adds the facts of the change.
func (d Draft) withChange(c ingest.Change) Draft {
	d.Name, d.Branch, d.Thread, d.Unlisted = c.Name, c.Branch, c.Thread, c.Unlisted
	d.Subject = checkpoint.Subject{Instance: d.Subject.Instance}
	if c.Pull != nil {
		d.Subject = PullRequest(c.Pull.Ref, c.Pull.RepoID, d.Subject.Instance)
		d.Subject.Base = c.Pull.BaseSHA
	}
	d.Subject.Head, d.Subject.Digest = c.Head, c.Digest()
	d.Config, d.Attributes, d.ConfigFingerprint = c.Config, c.Attributes, c.Config.Fingerprint()
	return d
}

func (d Draft) triage() triage.Options {
	return triage.Options{Ignore: d.Config.Ignore, MaxLines: d.Config.Lines(),
		Attributes: triage.ParseAttributes(d.Attributes)}
}

// The names of fields that are used in more than one place.
const (
	reviewsField = "fileReviews"
	usageField   = "usage"
	askedField   = "context"
	wholeField   = "overview"
)

func declare(g *graph.Graph[State]) {
	graph.Value(g, "draft", func(s *State) *Draft { return &s.Draft })
	graph.Value(g, "pr", func(s *State) **pull.Pull { return &s.Pull })
	graph.Value(g, "files", func(s *State) *[]diff.File { return &s.Files })
	graph.Value(g, "findings", func(s *State) *[]finding.Finding { return &s.Findings })
	graph.Value(g, "flags", func(s *State) *[]finding.Flag { return &s.Flags })
	graph.Value(g, "earlier", func(s *State) *[]finding.Earlier { return &s.Earlier })
	graph.Value(g, askedField, func(s *State) *Asked { return &s.Asked })
	graph.Value(g, wholeField, func(s *State) *finding.Overview { return &s.Whole })
	graph.Value(g, "lacks", func(s *State) *[]string { return &s.Lacks })
	graph.Append(g, reviewsField, func(s *State) *[]finding.FileReview { return &s.FileReviews })
	graph.Value(g, "comments", func(s *State) *[]finding.Finding { return &s.Comments })
	graph.Value(g, "summaryBody", func(s *State) *string { return &s.SummaryBody })
	graph.Value(g, "approved", func(s *State) **bool { return &s.Approved })
	graph.Reduce(g, usageField, func(s *State) *cost.Usage { return &s.Usage }, cost.Add)
	graph.Reduce(g, "reused", func(s *State) *int { return &s.Reused }, func(a, b int) int { return a + b })
	graph.Value(g, "reason", func(s *State) *string { return &s.Reason })
	graph.Value(g, "decision", func(s *State) **decision.Record { return &s.Decision })
	graph.Append(g, "rounds", func(s *State) *[]decision.Record { return &s.Rounds })
	graph.Value(g, "reviewUrl", func(s *State) *string { return &s.ReviewURL })
}

// Coverage returns the result of every changed file in the order of the change.
// If the change was not admitted, no file was due and the result is nil.
func (s State) Coverage() []finding.FileReview {
	if s.Reason != "" && len(s.FileReviews) == 0 {
		return nil
	}
	return aggregate.Files(s.Files, s.results())
}

// Covered reports whether every changed file was read, or skipped for an
// undisputed reason.
func (s State) Covered() bool { return s.Draft.Unlisted == 0 && allCovered(s.Coverage()) }

// Partial reports whether files were not reached, or only partly read because of what they claim to be.
func (s State) Partial() bool {
	return s.Draft.Unlisted > 0 || slices.ContainsFunc(s.Coverage(), func(f finding.FileReview) bool {
		return f.State == finding.NotReached || f.Claim != "" && !f.Covered()
	})
}

// NeedsDecision reports whether a person must decide: a finding reaches the draft's
// threshold or is a credential or hidden text, something was not read, or a person
// requested this very draft.
func (s State) NeedsDecision() bool {
	return s.mustBeSeen() || slices.ContainsFunc(finding.Kept(s.Comments), func(f finding.Finding) bool {
		return f.Severity.Rank() >= s.Draft.GateFrom.Rank() || f.IsWarning()
	})
}

// mustBeSeen reports whether a person must look at the draft regardless of its findings.
// Hidden text requires that; a flag that text addresses the reviewer does not.
func (s State) mustBeSeen() bool {
	return !s.Covered() || len(finding.NewlyResolved(s.Earlier)) > 0 || len(s.Rounds) > 0 ||
		slices.ContainsFunc(s.Flags, func(f finding.Flag) bool { return f.Kind == finding.HiddenFlag })
}

// suppresses reports whether a person's comment or the settings suppress a finding.
func (s State) suppresses() bool {
	return slices.ContainsFunc(s.Comments, func(f finding.Finding) bool {
		return f.Filtered == finding.AlreadyCommented || f.Filtered == finding.LeftOut
	})
}

// Outcome returns the outcome of a waiting draft: PAUSED, or KEPT if no person
// need decide.
func (s State) Outcome() string {
	if s.NeedsDecision() {
		return Paused
	}
	return Kept
}

// unreadReason returns why not a single file was read although some should have been;
// "" if one was, or none was due.
func (s State) unreadReason() string {
	why := ""
	for _, f := range s.Coverage() {
		switch {
		case f.State == finding.Reviewed, f.State == finding.Partly:
			return ""
		case f.State == finding.NotReached:
			why = "no file was reviewed: " + string(f.Reason)
		case f.State == finding.Failed && why == "":
			why = "no file could be reviewed"
		}
	}
	return why
}

// LacksMoney reports whether the run's cost cap left files out.
func (s State) LacksMoney() bool {
	return slices.ContainsFunc(s.Coverage(), func(f finding.FileReview) bool { return f.Reason == finding.OverBudget })
}

// OutOfBudget reports whether the cost cap ended the run before any file was
// reviewed.
func (s State) OutOfBudget() bool { return s.unreadReason() != "" && s.LacksMoney() }

// Review returns the draft in the form that the renderers take.
func (s State) Review() render.Review {
	r := render.Review{
		Name: s.Draft.Name, Web: s.Draft.Web, Head: s.Draft.Subject.Head,
		Files: s.Coverage(), Findings: finding.Kept(s.Comments), Filtered: slices.DeleteFunc(slices.Clone(s.Comments),
			func(f finding.Finding) bool { return f.Filtered == "" }),
		Unlisted: s.Draft.Unlisted, Rules: s.Draft.Rules, Model: s.Draft.Model, Usage: s.Usage, Limit: s.Draft.MaxCost,
		Reused: s.Reused, Partial: s.Partial(),
		Earlier: aggregate.Placed(s.Earlier, s.Comments, s.Files), Round: len(s.Rounds), Flags: s.Flags,
		Asked: render.Asked{Tickets: s.Asked.Context.Tickets, Criteria: s.Whole.Criteria, Unasked: s.Whole.Unasked,
			Missing: s.Asked.Context.Missing, Posted: s.Draft.Config.Report.Criteria},
		From:     s.Draft.Config.Report.From,
		Handover: cmp.Or(s.Draft.Config.Handover, config.HandoverSummary),
	}
	if !s.Whole.Dropped {
		r.Overview, r.Posts, r.Edited = s.Whole.Text, s.postsOverview(), s.Whole.Edited
	}
	if s.Pull != nil {
		r.Title, r.Author = s.Pull.Title, s.Pull.Author
	}
	for _, f := range s.Files {
		r.Added, r.Removed = r.Added+f.Additions, r.Removed+f.Deletions
	}
	if s.Draft.Unlisted > 0 {
		r.Notices = append(r.Notices, fmt.Sprintf("GitHub lists %d of %d changed files; the others were not reached.",
			len(s.Files), len(s.Files)+s.Draft.Unlisted))
	}
	r.Notices = append(r.Notices, render.Flagged(s.Asked.Context.Flags)...)
	r.Linters, r.Flags = s.Draft.Linters.String(), slices.Concat(s.Flags, s.Draft.Linters.Flags)
	for _, line := range s.Draft.Linters.Missing {
		r.Notices = append(r.Notices, guard.Inline("Missing: "+line+".", 0))
	}
	if d := s.Draft; d.Withdrew != "" {
		r.Notices = append(r.Notices, fmt.Sprintf("The findings of the withdrawn draft %s stay in this one: %s had "+
			"it drafted again, and may not decide.",
			guard.Code(d.Withdrew), guard.Code(cmp.Or(d.WithdrewBy, "nobody who is named"))))
	}
	if unheard := s.feedbackFailed(); len(unheard) > 0 {
		r.Notices = append(r.Notices, "The feedback could not be applied to "+guard.Code(unheard[0])+
			andOthers(len(unheard)-1)+"; what was found there before stands.")
	}
	for _, note := range s.Notes() {
		r.Notices = append(r.Notices, guard.Inline(note, maxNote))
	}
	r.Notices = append(r.Notices, warnings(slices.DeleteFunc(slices.Clone(r.Findings), r.Unread))...)
	r.Hunks = s.hunks()
	return r
}

// maxNote is the number of characters of a note that a draft shows.
const maxNote = 300

// Notes returns what the run could not look at, each note once: the pull request, the
// whole change, then the files in order. Notes may contain text from outside.
func (s State) Notes() (all []string) {
	all = slices.Concat(s.Lacks, s.Whole.Notes)
	for _, f := range s.Coverage() {
		for _, note := range f.Notes {
			if !slices.Contains(all, note) {
				all = append(all, note)
			}
		}
	}
	return all
}

// feedbackFailed returns the files to which the approver's last feedback could not be applied.
func (s State) feedbackFailed() (paths []string) {
	for _, f := range s.Coverage() {
		if f.FeedbackFailed {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

func andOthers(n int) string {
	if n == 0 {
		return ""
	}
	return " and " + wording.Count(n, "other file")
}

// warnings returns what an approver must know about the input ahead of all
// findings: that it hides text or contains a credential.
func warnings(found []finding.Finding) (all []string) {
	for _, f := range found {
		if f.IsWarning() {
			all = append(all, fmt.Sprintf("%s, %s line %d: %s.", f.ID, guard.Code(f.Path), f.Line,
				guard.Inline(f.Title, maxTitle)))
		}
	}
	return all
}

const maxTitle = 200 // characters of a finding's title in a warning

// Items returns what a decision can name: the draft's findings, and earlier ones that are still open.
// For a decided draft it returns what could be named then.
func (s State) Items() []decision.Item {
	if s.Decision == nil {
		return finding.Items(finding.Kept(s.Comments), s.Earlier...)
	}
	shown := slices.DeleteFunc(slices.Clone(s.Comments), func(f finding.Finding) bool {
		return f.Filtered != "" && f.Filtered != finding.Dropped
	})
	before := slices.Clone(s.Earlier)
	for i, e := range before {
		if e.ID != "" && slices.ContainsFunc(s.Decision.Dropped, func(x decision.Drop) bool { return x.ID == e.ID }) {
			before[i].Fate = finding.WasPosted
		}
	}
	return finding.Items(shown, before...)
}

// Shown returns the whole review as the approver can read it.
func (s State) Shown() string { return render.File(s.Review()) }

// hunks returns a function that maps a path to the hunks to show of its diff.
func (s State) hunks() func(path string) []diff.Hunk {
	files := make(map[string]diff.File, len(s.Files))
	for _, f := range s.Files {
		files[f.Path] = f.Read()
	}
	return func(path string) []diff.Hunk {
		hunks, _ := files[path].Hunks() // an unreadable patch shows no lines
		return hunks
	}
}
