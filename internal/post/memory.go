package post

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
)

// named is the marker that the review is found by.
func (q Request) named() marker.Review {
	return marker.Review{Thread: q.Thread, Digest: q.Digest, Approved: Approved(q.Review), Key: q.Key}
}

// marker is the marker of the review in one of its forms, with all that later
// drafts are to remember: the newest review of a pull request has what those before
// it had. What its approver saw for the first time stands first in each list,
// since a list may be shortened.
func (q Request) marker(form render.Review) marker.Review {
	m := q.named()
	say := func(fp string, as marker.Named) {
		if fingerprint.MatchString(fp) {
			m.Posted, m.Named = append(m.Posted, fp), append(m.Named, as)
		}
	}
	for _, f := range said(form) {
		say(f.Fingerprint, marker.Named{ID: f.ID, Severity: f.Severity})
	}
	for _, f := range form.Filtered {
		if f.Filtered == finding.Repeat && slices.ContainsFunc(form.Findings, f.ListedBy) {
			say(f.Fingerprint, marker.Named{ID: f.ID, Severity: f.Severity, Listed: true})
			continue
		} else if f.Filtered == finding.Repeat {
			f.Filtered = finding.Dropped // with the one that lists it
		}
		if f.Filtered == finding.Dropped || f.Filtered == finding.DroppedBefore &&
			!dropped(form.Earlier, f.Fingerprint) {
			m.Dropped = append(m.Dropped, f.Fingerprint)
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
		*list = slices.DeleteFunc(*list, func(fp string) bool { return !fingerprint.MatchString(fp) })
	}
	return m
}

var fingerprint = regexp.MustCompile(`^[0-9a-f]{16}$`)

// said are the findings that a form of the review holds,
// those with a comment first. What its body has no room for was not said.
func said(form render.Review) []finding.Finding {
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

func dropped(all []finding.Earlier, fingerprint string) bool {
	return slices.ContainsFunc(all, func(e finding.Earlier) bool {
		return e.Fate == finding.WasDropped && e.Fingerprint == fingerprint
	})
}

// marked is the review as Rendered gives it, with the marker of its finding
// behind every inline comment. A marker is not seen, and no part of what was approved.
func marked(r render.Review) (body string, comments []write.Comment) {
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

// resolve marks the threads of findings as resolved that the new head resolved. A
// draft may have waited for days and came by a checkpoint, so each thread is looked
// at again: it must be ours, open, and without an answer.
func (q Request) resolve(ctx context.Context) error {
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
