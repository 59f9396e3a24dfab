package ticketpr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wording"
)

// State is the state of a run. Its fields are stored under the names in declare.
type State struct {
	// of the job that drafted: thread, base commit (Subject.Head), digest of the ticket (Subject.Digest)
	Facts checkpoint.Manifest
	Into  string        // the branch that the change is for, such as main
	Limit cost.MicroUSD // on the run's cost; 0 for none
	Model string

	change.Draft
	Flags []ticket.Flag // lines of the ticket, with as much of their text as may be shown
	Seen  Seen

	Approved  *bool // nil while undecided
	Decision  *decision.Record
	Rounds    []decision.Record // with the feedback so far
	Iteration int               // revisions of the draft so far
	Error     string            // why the run failed, or what ended it

	Applied     apply.Applied
	PullRequest string // address
	Usage       cost.Usage
}

// Seen is the result of the review flow on the change.
type Seen struct {
	Findings []finding.Finding   `json:"findings,omitempty"`
	Criteria []finding.Criterion `json:"criteria,omitempty"`
	Overview string              `json:"overview,omitzero"`
	Notes    []string            `json:"notes,omitempty"` // what it could not do
	Failed   bool                `json:"failed,omitzero"` // there was no review; Notes say why
	Usage    cost.Usage          `json:"usage,omitzero"`
}

// Kept returns the draft without the files that the decision drops, if there is one.
func (s State) Kept() change.Draft {
	d := s.Draft
	d.Changes, d.Tests = nil, nil
	for i, f := range s.Proposed() {
		kind := &d.Changes
		if i >= len(s.Changes) {
			kind = &d.Tests
		}
		if s.Decision == nil || !slices.ContainsFunc(s.Decision.Dropped, func(d decision.Drop) bool {
			return d.ID == fileID(i)
		}) {
			*kind = append(*kind, f)
		}
	}
	return d
}

// Under returns the state with only as much of the ticket as show allows. Under ShowKey it also drops the sentences
// of the model that has read it: on the ticket, its criteria, the modules and the files.
func (s State) Under(show ticket.Show) State {
	s.Ticket = ticket.Context{Tickets: []ticket.Ticket{s.Ticket}}.Shown(show).Tickets[0]
	if show.Words() {
		return s
	}
	s.Class, s.RootCause = change.Class{Type: s.Class.Type, Complexity: s.Class.Complexity}, ""
	s.Scope.Modules = mapCopy(s.Scope.Modules, func(m *change.Module) { m.Reason = "" })
	s.Seen.Criteria = mapCopy(s.Seen.Criteria, func(c *finding.Criterion) { c.Text = "" })
	silent := func(f *change.File) { f.Description = "" }
	s.Changes, s.Tests = mapCopy(s.Changes, silent), mapCopy(s.Tests, silent)
	return s
}

// mapCopy returns a copy of a list with do applied to each element.
func mapCopy[T any](all []T, do func(*T)) []T {
	all = slices.Clone(all)
	for i := range all {
		do(&all[i])
	}
	return all
}

// fileID names a file in a decision record.
func fileID(i int) string { return fmt.Sprintf("F%d", i+1) }

// Items returns the draft's files as commands name them, by their paths.
func (s State) Items() (all []decision.Item) {
	for i, f := range s.Proposed() {
		all = append(all, decision.Item{ID: fileID(i), Path: f.Path, File: true})
	}
	return all
}

// Account returns the decision for people. If paths may be shown, it names dropped files by them.
func (s State) Account(paths bool) *decision.Record {
	if s.Decision == nil || !paths {
		return s.Decision
	}
	r, items := *s.Decision, s.Items()
	r.Dropped = mapCopy(r.Dropped, func(d *decision.Drop) {
		if at := slices.IndexFunc(items, func(f decision.Item) bool { return f.ID == d.ID }); at >= 0 {
			d.ID = items[at].Path
		}
	})
	return &r
}

// BranchName returns the branch that the change is committed to, such as
// fix/TASK-101-filter-hides-open-tasks.
func (s State) BranchName() string {
	name := s.Class.Kind() + "/" + s.Ticket.Key
	if slug := Slug(s.Ticket.Summary); slug != "" {
		name += "-" + slug
	}
	return name
}

// Slug returns a text in lower-case letters, digits and single dashes, 40 at most. It keeps
// whole words, except for a first word that is too long.
func Slug(text string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	if len(slug) <= maxSlug {
		return slug
	}
	if i := strings.LastIndexByte(slug[:maxSlug+1], '-'); i > 0 {
		return slug[:i]
	}
	return slug[:maxSlug]
}

const maxSlug = 40

// Shown returns the whole draft as its approver reads it.
func (s State) Shown() string {
	s.Decision = nil
	return proposal.File(s.Proposal())
}

// Proposal returns the draft as input for the renderers, with the files that the decision keeps.
func (s State) Proposal() proposal.Proposal {
	p := proposal.Proposal{
		Draft: s.Kept(), Warnings: s.Warnings(), Base: s.Facts.Subject.Head, Unreviewed: s.Seen.Failed,
		Review: render.Review{Findings: s.Seen.Findings, Overview: s.Seen.Overview, Usage: s.Usage, Limit: s.Limit,
			Model: s.Model, Round: s.Iteration,
			Asked: render.Asked{Tickets: []ticket.Ticket{s.Ticket}, Criteria: s.Seen.Criteria}},
	}
	for _, r := range s.Rounds {
		p.Feedback = append(p.Feedback, r.Feedback)
	}
	return p
}

// The sizes from which a draft warns its approver.
const (
	manyLines   = 300
	manyModules = 2
)

// Warnings returns what deserves a second look: the draft's size, its check, its tests, criteria
// that it does not meet, and how it was made. The last may contain text from outside.
func (s State) Warnings() (all []string) {
	warn := func(is bool, format string, values ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, values...))
		}
	}
	files, modules := s.Proposed(), len(s.Scope.Modules)
	n := change.Lines(files)
	warn(n > manyLines, "%d lines change, more than %d: check whether the ticket asks for all of it", n, manyLines)
	warn(modules > manyModules, "%d modules change, more than %d", modules, manyModules)
	warn(s.Check != nil && !s.Check.Passed, "the check failed on this change")
	files = slices.DeleteFunc(files, func(f change.File) bool { return !f.Doubt })
	warn(len(files) > 0, "%s may not parse", wording.Count(len(files), "file"))
	warn(len(s.Tests) == 0 && len(s.Changes) > 0, "no test comes with it")
	var unmet []string
	for _, c := range s.Seen.Criteria {
		if c.Verdict == finding.NotMet {
			unmet = append(unmet, strconv.Itoa(c.N))
		}
	}
	warn(len(unmet) > 0, "the review found no evidence for criteria %s", strings.Join(unmet, ", "))
	warn(s.Class.Note != "", "%s", s.Class.Note)
	return slices.Concat(all, render.Flagged(s.Flags), s.Scope.Notes, s.Seen.Notes)
}

// ask returns the question for the approver, about the draft as shown and the bytes behind it.
func ask(s State) (gate.Ask, error) {
	return gate.NewAsk(s.Facts.Thread, change.Digest(s.Proposed()), nil, s.Shown()), nil
}

// Subject tells package handoff how to handle this graph's drafts between jobs.
func Subject() handoff.Subject[State] {
	return handoff.Subject[State]{
		About: State.manifest, Intact: Intact,
		Anew: func(State) bool { return true }, // each draft was requested by a person
		Shown: func(s State) checkpoint.Shown {
			return checkpoint.Shown{Review: s.Shown(), Patch: change.Unified(s.Proposed())}
		},
	}
}

// manifest returns the manifest of a parked draft.
func (s State) manifest() checkpoint.Manifest {
	m := s.Facts
	m.Outcome, m.Findings = Paused, len(s.Seen.Findings)
	m.Blockers = finding.Count(s.Seen.Findings, finding.Blocker)
	m.Majors = finding.Count(s.Seen.Findings, finding.Major)
	return m
}

// Asked is the ticket that a person named.
type Asked struct {
	Key  string // PAY-88, or gh-7 for an issue; used in names of threads, branches and artifacts
	From string // for the sources: PAY-88, or owner/repo#7
}

// IssueNumber returns the number in an issue's key, such as gh-7, or 0 for any other key.
func IssueNumber(key string) int {
	digits, ok := strings.CutPrefix(key, "gh-")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// OfIssue returns the Asked of a GitHub issue.
func OfIssue(ref pull.Ref) Asked {
	return Asked{Key: fmt.Sprintf("gh-%d", ref.Number), From: fmt.Sprintf("%s#%d", ref.FullName(), ref.Number)}
}

var issueForm = pattern.Lazy(`(?i)^(?:gh-|([^#]*)#)?([1-9][0-9]{0,8})$`)

// ParseTicket parses a tracker's key, or an issue of the repository written as #7, 7, gh-7 or
// owner/repo#7.
func ParseTicket(text string, of pull.Ref) (Asked, error) {
	text = strings.TrimSpace(text)
	if m := issueForm().FindStringSubmatch(text); m != nil && (m[1] == "" || strings.EqualFold(m[1], of.FullName())) {
		of.Number, _ = strconv.Atoi(m[2])
		return OfIssue(of), nil
	}
	if key := strings.ToUpper(text); ticket.Project(key) != "" {
		return Asked{Key: key, From: key}, nil
	}
	return Asked{}, problem.Usage(fmt.Sprintf("%.100q names no ticket", text),
		"name a key such as PAY-88, or an issue of "+of.FullName()+" such as #7")
}

// ThreadID returns the thread of a ticket's drafts on a base commit: owner/repo~PAY-88:<40 hex>.
func ThreadID(of pull.Ref, key, base string) string {
	return fmt.Sprintf("%s~%s:%s", of.FullName(), key, base)
}
