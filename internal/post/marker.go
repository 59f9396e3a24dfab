package post

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/render"
)

// identity returns the marker by which the review is found.
func (q Request) identity() marker.Review {
	return marker.Review{Thread: q.Thread, Digest: q.Digest, Approved: Approved(q.Review), Diff: q.Diff,
		Key: q.Key}
}

// marker returns the marker of one form of the review, with everything that later drafts are to
// remember: the newest review of a pull request repeats what those before it listed. What its
// approver saw for the first time comes first in each list, because lists may be shortened.
func (q Request) marker(form render.Review) marker.Review {
	m := q.identity()
	say := func(fp string, as marker.Named) {
		if fingerprint().MatchString(fp) {
			m.Posted, m.Named = append(m.Posted, fp), append(m.Named, as)
		}
	}
	for _, f := range postedFindings(form) {
		say(f.Fingerprint, marker.Named{ID: f.ID, Severity: f.Severity})
	}
	for _, f := range form.Filtered {
		if f.Filtered == finding.Repeat && slices.ContainsFunc(form.Findings, f.ListedBy) {
			say(f.Fingerprint, marker.Named{ID: f.ID, Severity: f.Severity, Listed: true})
			continue
		} else if f.Filtered == finding.Repeat {
			f.Filtered = finding.Dropped // dropped with the one that lists it
		}
		if f.Filtered != finding.Dropped && f.Filtered != finding.DroppedBefore {
			continue
		}
		prints := []string{f.Fingerprint}
		if f.Source == finding.Model && q.Key == nil { // with a key, later drafts know its words
			prints = append(prints, finding.Placed(f, f.Severity))
		}
		for _, fp := range prints {
			if f.Filtered == finding.Dropped || !isDropped(form.Earlier, fp) {
				m.Dropped = append(m.Dropped, fp)
			}
		}
	}
	for _, e := range form.Earlier {
		switch {
		case e.Fate == finding.WasDropped:
			m.Dropped = append(m.Dropped, e.Fingerprint)
		case e.Fate == finding.WasPosted && (e.Announced || e.Now == finding.Resolved):
			m.Resolved = append(m.Resolved, e.Fingerprint)
		case e.Fate == finding.WasPosted:
			say(e.Fingerprint, marker.Named{ID: e.ID, Severity: e.Severity, Listed: e.Listed})
		}
	}
	for _, list := range []*[]string{&m.Dropped, &m.Resolved} {
		*list = slices.DeleteFunc(*list, func(fp string) bool { return !fingerprint().MatchString(fp) })
	}
	return m
}

var fingerprint = pattern.Lazy(`^[0-9a-f]{16}$`)

// postedFindings returns the findings that a form of the review contains, those with a comment first.
// Findings that its body has no room for are not included.
func postedFindings(form render.Review) []finding.Finding {
	left := map[string]int{}
	for _, f := range render.Cut(form) {
		left[f.Fingerprint]++
	}
	var inline, body []finding.Finding
	for _, f := range form.Findings {
		switch {
		case f.Placement == finding.Inline:
			inline = append(inline, f)
		case left[f.Fingerprint] > 0:
			left[f.Fingerprint]--
		default:
			body = append(body, f)
		}
	}
	return append(inline, body...)
}

func isDropped(all []finding.Earlier, fingerprint string) bool {
	return slices.ContainsFunc(all, func(e finding.Earlier) bool {
		return e.Fate == finding.WasDropped && e.Fingerprint == fingerprint
	})
}

// renderMarked returns the review as Rendered does, with the finding's marker at the end of every inline
// comment. A marker is invisible, and not part of what was approved.
func renderMarked(r render.Review) (body string, comments []write.Comment) {
	body, comments = Rendered(r)
	i := 0
	for _, f := range r.Findings {
		if f.Placement != finding.Inline {
			continue
		}
		if marker := marker.Comment(f.Fingerprint); marker != "" {
			comments[i].Body += "\n\n" + marker
		}
		i++
	}
	return body, comments
}

// resolveThreads resolves the threads of findings that the new head resolved. The draft came from a
// checkpoint and may be days old, so each thread is checked again: it must be ours, open, and
// without an answer.
func (q Request) resolveThreads(ctx context.Context) error {
	var wanted []string
	for _, e := range q.Review.Earlier {
		if e.Fate == finding.WasPosted && e.Now == finding.Resolved && !e.Announced && e.ReviewThread != "" {
			wanted = append(wanted, e.ReviewThread)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	threads, err := q.Threads.List(ctx, q.Ref)
	if err != nil {
		return err
	}
	for _, t := range threads {
		if !slices.Contains(wanted, t.ID) || !t.Own || t.Resolved || t.Answers > 0 {
			continue
		}
		if err := q.Threads.Resolve(ctx, t.ID); err != nil {
			return fmt.Errorf("threads of resolved findings stay open: %w", err)
		}
	}
	return nil
}
