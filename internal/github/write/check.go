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
	"github.com/org/pr-review-action/internal/pull"
)

// ErrNoChecks is a token that may not write check runs.
var ErrNoChecks = errors.New("the token may not write check runs (checks: write)")

// Limits of annotations: GitHub takes 50 in one request, titles of 255
// characters and messages of 64 KB.
const (
	maxAnnotations  = 50
	annotationTitle = 255
	annotationRunes = 4_000
)

// Check is what a check run tells of a decided review.
type Check struct {
	Head     string // the reviewed commit, 40 hex digits
	Instance string // slug of a second reviewer, whose check run has a name of its own
	Thread   string // with Digest: what the check run is of, so that it is there once
	Digest   string // of the checkpoint, 64 hex digits
	Review   string // address of the posted review; empty for none
	Findings []finding.Finding
	Covered  bool             // every file was read, or left out for a reason that nobody would question
	FailOn   finding.Severity // the weakest severity that fails the check; empty for none
}

// CheckRun makes one completed check run at the reviewed commit, with an
// annotation for each of the 50 gravest findings on lines of the new file. One that is
// there already is left as it is. The review stands by then, so an error is worth a
// warning and no more: ErrNoChecks, those of package github, or a *transport.StatusError.
func (c *Client) CheckRun(ctx context.Context, ref pull.Ref, k Check) (url string, err error) {
	run, err := c.existing(ctx, ref, k)
	if err == nil && run == nil {
		run, err = c.createCheck(ctx, ref, k)
	}
	return run.GetHTMLURL(), refused(ErrNoChecks, fmt.Sprintf("making the check run of %s", ref), err)
}

// existing finds the check run where it was made before; nil where it was not.
func (c *Client) existing(ctx context.Context, ref pull.Ref, k Check) (*gh.CheckRun, error) {
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

// createCheck makes the check run. Where the answer is lost it looks whether the
// check run stands.
func (c *Client) createCheck(ctx context.Context, ref pull.Ref, k Check) (*gh.CheckRun, error) {
	run, err := patiently(ctx, c, func() (*gh.CheckRun, error) {
		run, _, err := c.api.Checks.CreateCheckRun(ctx, ref.Owner, ref.Repo, gh.CreateCheckRunOptions{
			Name: k.name(), HeadSHA: k.Head, ExternalID: gh.String(k.id()), Status: gh.String("completed"),
			Conclusion: gh.String(k.conclusion()), Output: k.output(),
		})
		return run, err
	})
	if errors.Is(classify(err), ErrUnknown) {
		if there, lookErr := c.existing(ctx, ref, k); lookErr == nil && there != nil {
			return there, nil
		}
	}
	return run, err
}

// patiently calls again where a rate limit turned a request away and asks to wait
// no longer than a minute, three times at most.
func patiently[T any](ctx context.Context, c *Client, call func() (T, error)) (T, error) {
	v, err := call()
	for range maxRepeats {
		wait, limited := limit(err)
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

// refused puts kind in front where the token is what is wrong.
func refused(kind error, doing string, err error) error {
	wrapped := github.Wrap(doing, err)
	if errors.Is(wrapped, github.ErrNoAccess) {
		return fmt.Errorf("%w: %w", kind, wrapped)
	}
	return wrapped
}

func (k Check) name() string { return named(k.Instance) }

// named is the name of what an instance sets on a commit.
func named(instance string) string {
	if instance == "" {
		return "pr-review"
	}
	return "pr-review@" + instance
}

// id names the decided draft.
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

// output is what the check run says.
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
	if plainURL.MatchString(k.Review) {
		words += "\n\n[The review](" + k.Review + ")"
	}
	return &gh.CheckRunOutput{Title: gh.String(finding.Counts(k.Findings)), Summary: gh.String(words),
		Annotations: notes}
}

// annotations are those of the gravest findings on lines of the new files.
func (k Check) annotations() (notes []*gh.CheckRunAnnotation) {
	all := k.Findings
	if len(all) > maxAnnotations { // what stands of earlier reviews comes last, however grave
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
			Title:           gh.String(cmp.Or(titled(f), string(f.Severity))), Message: gh.String(annotated(f)),
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

// titled is a finding's title, inert, in what an annotation takes.
func titled(f finding.Finding) string {
	for limit := 200; ; limit /= 2 {
		if t := guard.Inline(f.Title, limit); utf8.RuneCountInString(t) <= annotationTitle {
			return t
		}
	}
}

// annotated is a finding's text behind its severity, which no message lacks.
func annotated(f finding.Finding) string {
	body := strings.TrimSpace(f.Body)
	text, left := clip(body, annotationRunes), utf8.RuneCountInString(body)-annotationRunes
	text = strings.TrimSpace(string(f.Severity) + "\n\n" + guard.Markdown(text))
	if left > 0 {
		text += fmt.Sprintf("\n\nCut here: %d more characters.", left)
	}
	return text
}

// clip cuts a text at a number of characters.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit])
}
