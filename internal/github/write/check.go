package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wording"
)

// ErrNoChecks reports that the token may not write check runs.
var ErrNoChecks = problem.Sentinel("the token may not write check runs (checks: write)", "give the token checks: write")

// Limits of annotations: GitHub takes 50 in one request, titles of 255 characters and
// messages of 64 KB.
const (
	maxAnnotations  = 50
	annotationTitle = 255
	annotationRunes = 4_000
)

// Check describes the check run of a decided review.
type Check struct {
	Head     string // the reviewed commit, 40 hex digits
	Instance string // slug of a second reviewer, whose check run has its own name
	Thread   string // with Digest, identifies the check run, so that it is made once
	Digest   string // of the checkpoint, 64 hex digits
	Review   string // address of the posted review; empty for none
	Findings []finding.Finding
	Covered  bool             // every file was read, or left out for an obvious reason
	FailOn   finding.Severity // the weakest severity that fails the check; empty for none
}

// CheckRun makes one completed check run at the reviewed commit, with an annotation for each
// of the 50 most severe findings on lines of the new files. It leaves an existing one unchanged.
// The review is posted by then, so an error deserves a warning and no more: ErrNoChecks, an
// error of package github, or a *transport.StatusError.
func (c *Client) CheckRun(ctx context.Context, ref pull.Ref, k Check) (url string, err error) {
	run, err := c.findCheck(ctx, ref, k)
	if err == nil && run == nil {
		run, err = c.createCheck(ctx, ref, k)
	}
	return run.GetHTMLURL(), wrapNoAccess(ErrNoChecks, fmt.Sprintf("making the check run of %s", ref), err)
}

// findCheck returns the check run if it was made before, otherwise nil.
func (c *Client) findCheck(ctx context.Context, ref pull.Ref, k Check) (*gh.CheckRun, error) {
	o := &gh.ListCheckRunsOptions{CheckName: gh.String(k.name()), Filter: gh.String("all"),
		ListOptions: gh.ListOptions{PerPage: 100}}
	for range github.CheckPages {
		list, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, ref.Owner, ref.Repo, k.Head, o)
		if err != nil {
			return nil, err
		}
		for _, run := range list.CheckRuns {
			if run.GetName() == k.name() && run.GetExternalID() == k.id() {
				return run, nil
			}
		}
		if o.Page = resp.NextPage; o.Page == 0 {
			break
		}
	}
	return nil, nil
}

// createCheck makes the check run. If the answer is lost, it checks whether the check run
// exists.
func (c *Client) createCheck(ctx context.Context, ref pull.Ref, k Check) (*gh.CheckRun, error) {
	run, err := retryLimited(ctx, c, func() (*gh.CheckRun, error) {
		run, _, err := c.api.Checks.CreateCheckRun(ctx, ref.Owner, ref.Repo, gh.CreateCheckRunOptions{
			Name: k.name(), HeadSHA: k.Head, ExternalID: gh.String(k.id()), Status: gh.String("completed"),
			Conclusion: gh.String(k.conclusion()), Output: k.output(),
		})
		return run, err
	})
	if errors.Is(classify(err), ErrUnknown) {
		if there, lookErr := c.findCheck(ctx, ref, k); lookErr == nil && there != nil {
			return there, nil
		}
	}
	return run, err
}

// retryLimited repeats a call up to three times if a rate limit rejected it and asks for a wait
// of at most a minute.
func retryLimited[T any](ctx context.Context, c *Client, call func() (T, error)) (T, error) {
	v, err := call()
	for range maxRepeats {
		wait, limited := limitWait(err)
		if !limited {
			break
		}
		if ended := c.Sleep(ctx, wait); ended != nil {
			return v, fmt.Errorf("%w; the wait for it ended: %w", err, ended)
		}
		v, err = call()
	}
	return v, err
}

// wrapNoAccess wraps err with what was being done, and with kind if the token lacks a permission.
func wrapNoAccess(kind error, doing string, err error) error {
	wrapped := github.Wrap(doing, err)
	if errors.Is(wrapped, github.ErrNoAccess) {
		return fmt.Errorf("%w: %w", kind, wrapped)
	}
	return wrapped
}

func (k Check) name() string { return contextName(k.Instance) }

// contextName returns the name of an instance's check run or status.
func contextName(instance string) string {
	if instance == "" {
		return "pr-review"
	}
	return "pr-review@" + instance
}

// id identifies the decided draft.
func (k Check) id() string { return k.Thread + " " + k.Digest[:min(len(k.Digest), 16)] }

func (k Check) conclusion() string {
	switch {
	case finding.Reaching(k.Findings, k.FailOn) > 0:
		return "failure"
	case len(k.Findings) == 0 && k.Covered:
		return "success"
	}
	return "neutral"
}

// output returns the title, summary and annotations of the check run.
func (k Check) output() *gh.CheckRunOutput {
	notes := k.annotations()
	words := "What the person who decided it kept of the review, with what earlier reviews posted and stands: " +
		finding.Counts(k.Findings) + "."
	if !k.Covered {
		words += " Not every file was read: the review names them."
	}
	if n := finding.Reaching(k.Findings, k.FailOn); n > 0 {
		words += fmt.Sprintf(" Of these, %d reach %q, from which on the check fails.", n, k.FailOn)
	}
	if n := len(k.Findings) - len(notes); n > 0 {
		words += fmt.Sprintf(" Without an annotation, since they are on no line of the new files or beyond the "+
			"first %d: %d.", maxAnnotations, n)
	}
	if plainURL().MatchString(k.Review) {
		words += "\n\n[The review](" + k.Review + ")"
	}
	return &gh.CheckRunOutput{Title: gh.String(finding.Counts(k.Findings)), Summary: gh.String(words),
		Annotations: notes}
}

// annotations returns the annotations of the most severe findings on lines of the new files.
func (k Check) annotations() (notes []*gh.CheckRunAnnotation) {
	all := k.Findings
	if len(all) > maxAnnotations { // open findings of earlier reviews come last, whatever their severity
		all = slices.Clone(all)
		order.Stable(all, func(a, b finding.Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	}
	for _, f := range all {
		if f.Path == "" || f.Side == finding.Left || f.Line <= 0 || len(notes) == maxAnnotations {
			continue
		}
		start := f.Line
		if f.StartLine > 0 {
			start = min(f.StartLine, f.Line)
		}
		notes = append(notes, &gh.CheckRunAnnotation{
			Path: gh.String(f.Path), StartLine: gh.Int(start), EndLine: gh.Int(f.Line),
			AnnotationLevel: gh.String(annotationLevel(f.Severity)),
			Title:           gh.String(cmp.Or(titleOf(f), string(f.Severity))), Message: gh.String(messageOf(f)),
		})
	}
	return notes
}

func annotationLevel(s finding.Severity) string {
	switch s {
	case finding.Blocker, finding.Major:
		return "failure"
	case finding.Minor:
		return "warning"
	}
	return "notice"
}

// titleOf returns a finding's title, escaped, within an annotation's limit.
func titleOf(f finding.Finding) string {
	for limit := 200; ; limit /= 2 {
		if t := guard.Inline(f.Title, limit); utf8.RuneCountInString(t) <= annotationTitle {
			return t
		}
	}
}

// messageOf returns a finding's severity and escaped text; a message always has the severity.
func messageOf(f finding.Finding) string {
	body := strings.TrimSpace(f.Body)
	text, left := wording.Clip(body, annotationRunes)
	text = strings.TrimSpace(string(f.Severity) + "\n\n" + guard.Markdown(text))
	if left > 0 {
		text += fmt.Sprintf("\n\nCut here: %d more characters.", left)
	}
	return text
}
