package review

import (
	"cmp"
	"context"

	"errors"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// Review requests the findings in a file's patch.
func (m *Model) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if len(f.Patch) > maxPatch {
		return finding.FileReview{Path: f.Path, State: finding.Skipped, Reason: finding.TooLarge}, nil
	}
	return m.do(ctx, &task{Model: m, file: f, key: m.Key(f),
		out: finding.FileReview{Path: f.Path, State: finding.Reviewed}})
}

// Redraft requests the findings in a file's patch again, revised according to an approver's
// feedback, and returns the complete new list. was is the draft's result for the file, and round
// counts revisions from 1. An incomplete revision fails. Findings of rules are not included.
// Errors are those of Review.
func (m *Model) Redraft(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error) {
	r := &revision{feedback: m.Redact.Redact(feedback)}
	for _, found := range finding.Kept(was.Findings) {
		if found.Source != finding.Rule {
			r.found = append(r.found, found)
		}
	}
	t := &task{
		Model: m, file: f, revision: r,
		key: Hash(m.Key(f), redrafting, fmt.Sprint(round), feedback, marshalText(r.found)),
		out: finding.FileReview{Path: f.Path, State: finding.Reviewed, Label: was.Label},
	}
	if len(f.Patch) > maxPatch {
		return t.failed(unreadableError("its patch is too large")), nil
	}
	return m.do(ctx, t)
}

func (m *Model) do(ctx context.Context, t *task) (finding.FileReview, error) {
	t.file = t.file.Read()
	f := t.file
	if err := readable(f); err != nil {
		return t.failed(err), nil
	}
	if err := t.run(budget.WithFile(ctx, m.FileCap)); err != nil {
		return finding.FileReview{Path: f.Path, Usage: t.out.Usage, Calls: t.out.Calls}, err
	}
	return t.out, nil
}

// readable checks that there is something to review: a file without a patch is not clean.
func readable(f diff.File) error {
	if diff.CheckPath(f.Path) != nil {
		return unreadableError("no repository can hold its path")
	}
	if f.Patch == "" {
		return unreadableError(cmp.Or(f.Problem, "it has no patch to read"))
	}
	if _, err := f.Hunks(); err != nil {
		return unreadableError("its patch cannot be read")
	}
	return nil
}

// run labels the file, reviews its parts one after the other and merges the results. The error
// says that the file was not reached.
func (t *task) run(ctx context.Context) error {
	if err := t.label(ctx); err != nil {
		return err
	}
	parts := prompt.Parts(t.file.Patch, maxPart)
	t.revision.assignParts(parts)
	var failures []error
	for i, patch := range parts {
		if len(parts) > 1 {
			t.part = i + 1
		}
		a, err := t.reviewPart(ctx, patch, len(parts))
		if err != nil {
			return err
		}
		t.out.Findings = append(t.out.Findings, a.findings...)
		switch {
		case a.err != nil && t.part > 0:
			failures = append(failures, &partError{t.part, len(parts), a.err})
		case a.err != nil:
			failures = append(failures, a.err)
		}
	}
	t.conclude(failures, len(parts))
	return t.checkSuggestions(ctx)
}

// conclude sets the file's state: failed if no part gave a result, partly if something is missing.
// An incomplete revision is failed, because nobody could tell what it dropped on purpose.
func (t *task) conclude(failures []error, parts int) {
	switch {
	case len(failures) == 0:
	case len(failures) == parts && len(t.out.Findings) == 0, t.revision != nil:
		t.failed(failures[0])
	default:
		t.out.State, t.out.Reason = finding.Partly, reason(failures[0])
		t.out.Incomplete = t.out.Incomplete || slices.ContainsFunc(failures, isTransient)
		if more := len(failures) - 1; more > 0 {
			t.out.Reason += finding.Reason(fmt.Sprintf("; and %d more of its parts", more))
		}
	}
}

// isTransient reports whether a failure may be gone on another day.
func isTransient(err error) bool {
	return !errors.As(err, new(*brokenError)) && !errors.Is(err, llm.ErrTruncated) && !errors.Is(err, errLost) &&
		!errors.Is(err, agent.ErrTurns)
}

func (t *task) failed(cause error) finding.FileReview {
	if t.OnFailure != nil {
		t.OnFailure(t.file.Path, cause)
	}
	t.out.State, t.out.Reason, t.out.Findings = finding.Failed, reason(cause), nil
	return t.out
}

// label labels the file and decides how thorough its review is. A label is a model's word about
// untrusted text: it can spare a file the looking around, but never its review or verification.
func (t *task) label(ctx context.Context) error {
	t.depth = depth{limits: t.Limits}
	if t.Classify == nil || t.revision != nil {
		return nil
	}
	in, request := t.changeInput(t.file.Patch), t.request(prompt.Classifying())
	request.MaxTokens, request.Effort = min(request.MaxTokens, labelTokens), "low"
	r, err := t.ask(ctx, question{
		task: classifying, key: Hash(t.key, classifying), chat: t.Classify,
		request: request, user: func(b guard.Boundary) string { return prompt.Classify(b, in) },
	})
	if err != nil {
		return t.stopError(ctx, err)
	}
	var l prompt.Label
	if r.Ended != "" || !readJSON(r.Text, &l) || !slices.Contains(prompt.Kinds(), l.Kind) {
		return nil
	}
	t.out.Label = l.Kind
	switch l.Depth {
	case "deep":
		t.depth.effort = "high"
	case "light":
		t.depth = depth{effort: "low"}
	}
	if t.Effort != "" {
		t.depth.effort = "" // the configured effort wins
	}
	return nil
}

// stopError returns the error if the file cannot be continued: it was not reached. Any other error is
// the model's failure, for the caller to judge, and ends returns nil.
func (t *task) stopError(ctx context.Context, err error) error {
	switch {
	case errors.As(err, new(*notKeptError)), errors.Is(err, cost.ErrSpent):
		return err
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("reviewing a file: %w", ctx.Err())
	}
	return nil
}

func (t *task) changeInput(patch string) prompt.Input {
	return prompt.Input{Path: t.file.Path, OldPath: t.file.OldPath, Status: string(t.file.Status), Patch: patch}
}

// input returns what a review and a verification are shown for a part: besides the change, the
// repository's rules, and the parts of the repository they need, the functions around the hunks among them.
func (t *task) input(ctx context.Context, patch string, parts int) prompt.Input {
	in := t.changeInput(patch)
	in.Part, in.Parts = t.part, parts
	in.Language, in.Instructions = t.Guides.Language, t.Guides.instructions(t.file.Path)
	in.Pages, in.Style = t.Guides.Pages, t.Guides.Style
	for _, text := range t.Guides.guidelines(t.file.Path) {
		in.Guidelines = append(in.Guidelines, t.Redact.Redact(text))
	}
	in.Linters = t.linters(t.file.Path)
	if t.Reported != nil {
		in.Reported = t.Reported(t.file)
	}
	in.Pack = t.pack(ctx, patch)
	return in
}

// pack returns the pieces of the rest of the repository that are shown with a part, redacted, and
// records them in the file's result.
func (t *task) pack(ctx context.Context, patch string) []prompt.Piece {
	if t.Pack == nil || t.PackTokens == 0 {
		return nil
	}
	pieces := t.Pack(ctx, t.file.Path, patch)
	for i, p := range pieces {
		pieces[i].Text = t.Redact.Redact(p.Text)
		place := finding.Place{Path: p.Path, StartLine: p.StartLine, EndLine: p.EndLine(), Why: p.Why}
		if !slices.Contains(t.out.Pack, place) {
			t.out.Pack = append(t.out.Pack, place)
		}
	}
	return pieces
}

// task is the review of one file: the input, and the result so far.
type task struct {
	*Model
	file  diff.File
	key   string
	part  int // the part under review, 1-based; 0 if it is the only one
	depth depth
	out   finding.FileReview

	revision *revision // nil for a first review
}

type depth struct {
	effort string // of the model's reasoning; empty for its default
	limits agent.Limits
}

type revision struct {
	feedback string
	found    []finding.Finding // the draft's findings that come from a model
	parts    []int             // the index of each finding's part of the patch
}

// assignParts finds the part that each finding belongs to. One that is in none belongs to the first.
func (r *revision) assignParts(patches []string) {
	if r == nil {
		return
	}
	r.parts = make([]int, len(r.found))
	for part, patch := range patches[1:] {
		anchors, err := diff.NewAnchors(patch)
		for i, f := range r.found {
			if err == nil && anchors.Admit(string(f.Side), f.Line, f.Line) {
				r.parts[i] = part + 1
			}
		}
	}
}

// forPart returns the revision of a part, 1-based; 0 is the only one.
func (r *revision) forPart(part int) prompt.Revision {
	out := prompt.Revision{Feedback: r.feedback}
	for i, f := range r.found {
		if r.parts[i] == max(part, 1)-1 {
			out.Findings = append(out.Findings, f)
		}
	}
	return out
}
