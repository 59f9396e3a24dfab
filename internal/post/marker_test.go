package post_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// fp is a fingerprint made of one digit.
func fp(digit int) string { return strings.Repeat(fmt.Sprint(digit), 16) }

// remembering is a request whose draft knows earlier ones.
func remembering() post.Request {
	q := request()
	q.Review.Findings[0].Fingerprint, q.Review.Findings[1].Fingerprint = fp(2), fp(1)
	q.Review.Findings[0], q.Review.Findings[1] = q.Review.Findings[1], q.Review.Findings[0]
	q.Review.Filtered = []finding.Finding{
		{Filtered: finding.Dropped, Fingerprint: fp(3)},
		{Filtered: finding.DroppedBefore, Fingerprint: fp(4)},
		{Filtered: finding.DroppedBefore, Fingerprint: fp(5)}, // in other words
		{Filtered: finding.LowConfidence, Fingerprint: fp(0)},
		{Filtered: finding.AlreadyPosted, Fingerprint: fp(0)},
	}
	q.Review.Earlier = []finding.Earlier{
		{Fate: finding.WasPosted, Fingerprint: fp(6)},
		{Fate: finding.WasPosted, Fingerprint: fp(6), Now: finding.StillThere},
		{Fate: finding.WasPosted, Fingerprint: fp(7), Now: finding.Resolved, ReviewThread: "open"},
		{Fate: finding.WasPosted, Fingerprint: fp(8), Announced: true},
		{Fate: finding.WasDropped, Fingerprint: fp(4)},
		{Fate: finding.WasCommented, By: "maya"},
	}
	return q
}

func TestTheNewestReviewRemembersAll(t *testing.T) {
	t.Parallel()
	p, q := &page{}, remembering()
	listed, unlisted := strings.Repeat("a", 16), strings.Repeat("b", 16)
	q.Review.Filtered = append(q.Review.Filtered,
		finding.Finding{Filtered: finding.Repeat, ID: "F1", Severity: finding.Minor, Fingerprint: listed},
		finding.Finding{Filtered: finding.Repeat, ID: "F9", Fingerprint: unlisted}) // F9 was dropped
	const forged = "0123 --> seen" // would end the comment that hides the marker
	q.Review.Earlier = append(q.Review.Earlier, finding.Earlier{Fate: finding.WasDropped, Fingerprint: forged},
		finding.Earlier{Fate: finding.WasPosted, Now: finding.Resolved, Fingerprint: forged})
	_, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.NotContains(t, p.reviews[0].Body, "seen")
	m, ok := marker.Parse(p.reviews[0].Body)
	require.True(t, ok)
	require.Equal(t, []string{fp(2), fp(1), listed, fp(6), fp(6)}, m.Posted,
		"the newest first, and of those what has a comment")
	require.Equal(t, marker.Named{ID: "F1", Severity: finding.Minor, Listed: true}, m.Named[2])
	require.Equal(t, []string{fp(3), fp(5), unlisted, fp(4)}, m.Dropped)
	require.Equal(t, []string{fp(7), fp(8)}, m.Resolved)
}

func TestP2_AMarkerIsAllThatACommentHasBesides(t *testing.T) {
	t.Parallel()
	p, q := &page{}, remembering()
	_, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	_, shown := post.Rendered(q.Review)
	require.Len(t, p.writes, 1)
	require.Equal(t, shown[0].Body+"\n\n"+marker.Comment(fp(2)), p.writes[0].Body)
	print, severity, title, ok := marker.ParseComment(p.writes[0].Body)
	require.True(t, ok)
	require.Equal(t, []string{fp(2), "major", "One"}, []string{print, severity, title})
	shown[0].Body = p.writes[0].Body
	require.Equal(t, shown, p.writes)

	other := remembering()
	other.Review.Earlier = other.Review.Earlier[:3] // which the body counts or announces
	other.Review.Earlier[0].Fingerprint, other.Review.Findings[1].Fingerprint = fp(0), fp(9)
	require.Equal(t, post.Approved(q.Review), post.Approved(other.Review),
		"what is remembered is no part of what is approved")
	again, err := post.Review(t.Context(), p, p, other)
	require.NoError(t, err)
	require.True(t, again.Before)
}

func TestWhatTheBodyHasNoRoomForIsNotRemembered(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	q.Review.Findings = nil
	for i := range 30 {
		q.Review.Findings = append(q.Review.Findings, finding.Finding{
			ID: fmt.Sprintf("F%d", i+1), Path: "a.go", Side: finding.Right, StartLine: i + 1, Line: i + 1,
			Severity: finding.Major,
			Title:    "T", Body: strings.Repeat("long ", 1500), Placement: finding.Body,
			Fingerprint: fmt.Sprintf("%016x", i),
		})
	}
	_, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	m, _ := marker.Parse(p.reviews[0].Body)
	cut := len(render.Cut(q.Review))
	require.Positive(t, cut)
	require.Len(t, m.Posted, 30-cut)
	require.Contains(t, m.Posted, fmt.Sprintf("%016x", 0))
}

// talk is the threads on a pull request's diff.
type talk struct {
	threads  []github.ReviewThread
	resolved []string
	mayNot   error // resolve
}

func (k *talk) posting() *post.Threads {
	return &post.Threads{
		List: func(context.Context, pull.Ref) ([]github.ReviewThread, error) { return k.threads, nil },
		Resolve: func(_ context.Context, id string) error {
			if k.mayNot == nil {
				k.resolved = append(k.resolved, id)
			}
			return k.mayNot
		},
	}
}

func TestOnlyOpenThreadsOfOursAreResolved(t *testing.T) {
	t.Parallel()
	threads := []github.ReviewThread{
		{ID: "open", Own: true},
		{ID: "another", Own: true},
	}
	for name, c := range map[string]struct {
		change func(q *post.Request, k *talk)
		want   []string
	}{
		"open":             {func(*post.Request, *talk) {}, []string{"open"}},
		"not asked for":    {func(q *post.Request, _ *talk) { q.Threads = nil }, nil},
		"answered since":   {func(_ *post.Request, k *talk) { k.threads[0].Answers = 1 }, nil},
		"resolved since":   {func(_ *post.Request, k *talk) { k.threads[0].Resolved = true }, nil},
		"somebody else's":  {func(_ *post.Request, k *talk) { k.threads[0].Own = false }, nil},
		"deleted since":    {func(_ *post.Request, k *talk) { k.threads = nil }, nil},
		"announced before": {func(q *post.Request, _ *talk) { q.Review.Earlier[2].Announced = true }, nil},
		"still there":      {func(q *post.Request, _ *talk) { q.Review.Earlier[2].Now = finding.StillThere }, nil},
		"said by a person": {func(q *post.Request, _ *talk) { q.Review.Earlier[2].Fate = finding.WasCommented }, nil},
	} {
		p, q, k := &page{}, remembering(), &talk{threads: append([]github.ReviewThread{}, threads...)}
		q.Threads = k.posting()
		c.change(&q, k)
		posted, err := post.Review(t.Context(), p, p, q)
		require.NoError(t, err, name)
		require.NoError(t, posted.Unresolved, name)
		require.Equal(t, c.want, k.resolved, name)
	}
}

func TestAThreadThatStaysOpenCostsNothing(t *testing.T) {
	t.Parallel()
	p, q, k := &page{}, remembering(), &talk{mayNot: write.ErrMayNotResolve,
		threads: []github.ReviewThread{{ID: "open", Own: true}}}
	q.Threads = k.posting()
	posted, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.ErrorIs(t, posted.Unresolved, write.ErrMayNotResolve)
	require.Len(t, p.reviews, 1)
	k.mayNot = nil
	again, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.True(t, again.Before)
	require.Equal(t, []string{"open"}, k.resolved, "a run that died behind its review is made up for")
}
