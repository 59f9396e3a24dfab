package recall

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/wording"
)

// memory is the content of our own reviews' markers. A fingerprint may occur more than once: two
// places can have one defect.
type memory struct {
	change   Change
	listed   map[int64][]string        // fingerprints by the review that lists them
	open     map[string]int            // posted, and not announced as resolved
	named    map[string][]marker.Named // ids and severities of the open ones
	resolved map[string]int            // posted, and announced as resolved
	drops    map[string]int
	believed map[int64]bool // comments that are ours
	comments []int64        // ids of the comments for the first findings that postedFindings returns
}

// newMemory reads the markers, newest review first. Each of our reviews repeats what earlier ones
// listed, so the newest one that names a fingerprint decides.
func newMemory(ctx context.Context, s Source, c Change, reviews []github.Review) (*memory, error) {
	m := &memory{
		change: c, listed: map[int64][]string{}, believed: map[int64]bool{},
		open: map[string]int{}, resolved: map[string]int{}, drops: map[string]int{},
		named: map[string][]marker.Named{},
	}
	told := map[string]bool{}
	all, err := c.ourReviews(ctx, s, reviews)
	for _, r := range all {
		m.listed[r.id] = r.Posted
		open, resolved, drops := counts(r.Posted), counts(r.Resolved), counts(r.Dropped)
		for _, fp := range slices.Sorted(maps.Keys(counts(slices.Concat(r.Posted, r.Resolved)))) {
			if !told[fp] && len(m.open)+len(m.resolved) < maxPosted {
				setCount(m.open, fp, open[fp])
				setCount(m.resolved, fp, resolved[fp])
				m.named[fp] = r.namedFor(fp)
			}
		}
		for fp, n := range drops {
			m.drops[fp] = max(m.drops[fp], n)
		}
		for _, fp := range slices.Concat(r.Posted, r.Resolved, r.Dropped) {
			told[fp] = true
		}
	}
	return m, err
}

type markedReview struct {
	id int64
	marker.Review
}

// namedFor returns what the marker says about the posted findings with a fingerprint.
func (r markedReview) namedFor(fingerprint string) (all []marker.Named) {
	for i, fp := range r.Posted {
		if fp == fingerprint && i < len(r.Named) {
			all = append(all, r.Named[i])
		}
	}
	return all
}

// ourReviews returns this reviewer's reviews of this pull request, newest first. If there are several
// for one draft, only the oldest is ours: a younger one is a copy.
func (c Change) ourReviews(ctx context.Context, s Source, reviews []github.Review) (all []markedReview, err error) {
	of := pull.ThreadID(c.Pull.Ref, c.Instance, "")
	newest := slices.Clone(reviews)
	order.Stable(newest, func(a, b github.Review) int { return cmp.Compare(b.ID, a.ID) })
	for _, r := range newest {
		marker, ok := marker.Parse(r.Body)
		if thread, _, _ := strings.Cut(marker.Thread, ":"); !ok || !strings.EqualFold(thread+":", of) {
			continue
		}
		ours, err := s.Remembers(ctx, r, marker)
		if err != nil {
			return nil, err
		}
		if ours {
			all = slices.DeleteFunc(all, func(younger markedReview) bool { return younger.Digest == marker.Digest })
			all = append(all, markedReview{r.ID, marker})
		}
	}
	return all, nil
}

func setCount(to map[string]int, fingerprint string, n int) {
	if n > 0 {
		to[fingerprint] = n
	}
}

func counts(list []string) map[string]int {
	n := map[string]int{}
	for _, fp := range list {
		n[fp]++
	}
	return n
}

// postedFindings returns our reviews' findings: first those with a comment, newest first, then those only
// in a marker.
func (m *memory) postedFindings(comments []github.ReviewComment) []finding.Earlier {
	open, resolved := maps.Clone(m.open), maps.Clone(m.resolved)
	var all []finding.Earlier
	for _, k := range slices.Backward(comments) {
		e, ok := m.readComment(k)
		left := open
		if ok && open[e.Fingerprint] == 0 {
			left, e.Announced = resolved, true
		}
		if !ok || left[e.Fingerprint] == 0 {
			continue
		}
		left[e.Fingerprint]--
		m.comments = append(m.comments, k.ID)
		all = append(all, e)
	}
	all = append(all, fromPrints(open, finding.Earlier{Fate: finding.WasPosted})...)
	m.setNames(all)
	return append(all, fromPrints(resolved, finding.Earlier{Fate: finding.WasPosted, Announced: true})...)
}

// setNames sets the ids and severities of the posted findings from the markers. A comment may have
// been edited: its severity counts only if no marker has one.
func (m *memory) setNames(all []finding.Earlier) {
	for i, e := range all {
		if names := m.named[e.Fingerprint]; !e.Announced && len(names) > 0 {
			all[i].ID, all[i].Listed = names[0].ID, names[0].Listed
			all[i].Severity = cmp.Or(names[0].Severity, e.Severity)
			m.named[e.Fingerprint] = names[1:]
		}
	}
}

// fromPrints returns findings of which only the fingerprint is known.
func fromPrints(n map[string]int, like finding.Earlier) (all []finding.Earlier) {
	for _, fp := range slices.Sorted(maps.Keys(n)) {
		for range n[fp] {
			like.Fingerprint = fp
			all = append(all, like)
		}
	}
	return all[:min(len(all), maxPosted)]
}

// readComment reads a comment that belongs to one of our reviews and is listed by it. Its text may have
// been edited; a fingerprint that the review does not list is ignored.
func (m *memory) readComment(k github.ReviewComment) (finding.Earlier, bool) {
	fp, severity, title, ok := marker.ParseComment(k.Body)
	if !ok || !slices.Contains(m.listed[k.Review], fp) {
		return finding.Earlier{}, false
	}
	m.believed[k.ID] = true
	quote, context := lastLine(k.Hunk)
	if context {
		quote = "" // an unchanged line that leaves the diff is still in the file, so it proves nothing
	}
	e := finding.Earlier{
		Fate: finding.WasPosted, Fingerprint: fp, Path: m.change.currentPath(k.Path), Side: sideOf(k),
		StartLine: startOf(k), Line: k.Line,
		Quote: quote, Title: clip(title), URL: cleanURL(k.URL),
	}
	if s, err := finding.ParseSeverity(strings.ToLower(severity)); err == nil {
		e.Severity = s
	}
	return e, true
}

// lastLine returns the last line of a hunk, redacted, and whether it is a context line.
func lastLine(hunk string) (text string, context bool) {
	lines := strings.Split(strings.TrimRight(hunk, "\n"), "\n")
	for _, l := range slices.Backward(lines) {
		if l == "" || l[0] == '\\' {
			continue
		}
		if strings.HasPrefix(l, "@@") {
			return "", false
		}
		return clip(secret.Redact(strings.TrimRight(l[1:], "\r"))), l[0] == ' '
	}
	return "", false
}

func sideOf(k github.ReviewComment) finding.Side {
	if k.Side == string(finding.Left) {
		return finding.Left
	}
	return finding.Right
}

// startOf returns the first line of a comment, or its last if the first is on the other side or
// gone.
func startOf(k github.ReviewComment) int {
	if k.Start <= 0 || k.Start > k.Line || k.StartSide != "" && k.StartSide != k.Side {
		return k.Line
	}
	return k.Start
}

func clip(text string) string {
	kept, _ := wording.Clip(guard.Visible(text), maxText)
	return kept
}

var plainURL = pattern.Lazy(`^https?://[A-Za-z0-9.:/#?=&_-]+$`)

func cleanURL(url string) string {
	if !plainURL().MatchString(url) || len(url) > maxText {
		return ""
	}
	return url
}

// recordThreads records who closed the threads of our findings, if that person may write and is not the
// author, and which threads are open and without an answer, if our token's account opened them.
func (m *memory) recordThreads(ctx context.Context, s Source, all []finding.Earlier) error {
	if len(m.comments) == 0 {
		return nil
	}
	threads, err := s.Threads(ctx, m.change.Pull.Ref)
	if err != nil {
		return fmt.Errorf("threads of earlier findings stay as they are: %w", err)
	}
	byComment := map[int64]github.ReviewThread{}
	for _, t := range threads {
		byComment[t.Comment] = t
	}
	may, err := m.change.writers(ctx, s, m.closers(byComment))
	for i, id := range m.comments {
		switch t := byComment[id]; {
		case t.Own && !t.Resolved && t.Answers == 0:
			all[i].ReviewThread = t.ID
		case t.Resolved && may[t.By]:
			all[i].Closed = t.By
		}
	}
	if err != nil {
		return fmt.Errorf("threads that somebody closed count as open: %w", err)
	}
	return nil
}

// closers returns the logins that closed threads of our findings, except the author's, at most 30.
func (m *memory) closers(threads map[int64]github.ReviewThread) (all []string) {
	for _, id := range m.comments {
		by := threads[id].By
		known := by == "" || strings.EqualFold(by, m.change.Pull.Author) || slices.Contains(all, by)
		if !known && len(all) < maxLogins {
			all = append(all, by)
		}
	}
	return all
}
