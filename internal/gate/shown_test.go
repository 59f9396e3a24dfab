package gate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/testvolume"
)

const head = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

// world is a pull request that takes reviews as GitHub does: whole, or not at all
// where it refuses inline comments.
type world struct {
	post.Reader
	post.Writer
	refusesInline bool
	body          string
	comments      []write.Comment
}

func (w *world) Pull(context.Context, pull.Ref) (pull.Pull, error) {
	return pull.Pull{State: "open", HeadSHA: head}, nil
}

func (w *world) Reviews(context.Context, pull.Ref) ([]github.Review, error) { return nil, nil }

func (w *world) Viewer(context.Context) (github.Viewer, error) {
	return github.Viewer{Login: "github-actions[bot]"}, nil
}

func (w *world) Submit(context.Context, pull.Ref, int64, string) (string, error) { return "", nil }

func (w *world) CreatePending(_ context.Context, _ pull.Ref, _, body string,
	comments []write.Comment) (int64, string, error) {
	if w.refusesInline && len(comments) > 0 {
		return 0, "", write.ErrRefused
	}
	w.body, w.comments = body, comments
	return 1, "https://github.com/octo/demo/pull/42#pullrequestreview-1", nil
}

var (
	ending = regexp.MustCompile(`(?s)^(.*)\n\n[^\n]+\n<!-- pr-review:v1 [^\n]+ -->$`)
	mark   = regexp.MustCompile(`\n+<!-- pr-review:f=[0-9a-f]{16} -->$`)
	word   = regexp.MustCompile(`qz(\d+)(title|body|fix|new)`)
)

// sent posts a review and gives what arrives, less approval line and markers.
func sent(t *testing.T, s reviewpr.State, refusesInline bool) (body string, comments []string) {
	t.Helper()
	w := &world{refusesInline: refusesInline}
	_, err := post.Review(t.Context(), w, w, post.Request{
		Ref: pull.Ref{Owner: "octo", Repo: "demo", Number: 42}, Commit: head, Thread: "octo/demo#42:" + head,
		Digest: strings.Repeat("a", 64),
		Review: s.Review(), Decision: decision.Record{By: "maya"},
	})
	require.NoError(t, err)
	found := ending.FindStringSubmatch(w.body)
	require.NotNil(t, found, "%s", w.body)
	for _, c := range w.comments {
		comments = append(comments, mark.ReplaceAllString(c.Body, ""))
	}
	return found[1], comments
}

// drawn is a draft drawn at random. Each finding's texts hold words that are its
// own, qz7title for the title of the seventh, among what a model might write.
func drawn(random *rand.Rand) reviewpr.State {
	pieces := []string{
		"The value is never read.", "\n", "\n\n", "`code`", "``", "```\nfence\n```", "```suggestion\nx\n```", "~~~",
		"<b>", "<!-- x", "-->", "<details>", "</details>", "@maya", "#42", "GH-7",
		"https://evil.example/?q=1", "![x](http://evil.example/x.png)", "[a](b)", "| a | b |", "## Inline comments",
		"### `x`", "> quote", "- item", "---", "\\", "&amp;", "\u202e", "\u200b", "\x1b[31m",
		"\x00", "é", "漢字", "\r\n", "\t", "/approve", "::error::x", "\u2028", strings.Repeat("long ", 40),
	}
	text := func(own string, most int) string {
		parts := []string{own}
		for range random.IntN(most) {
			parts = append(parts, pieces[random.IntN(len(pieces))])
		}
		return strings.Join(parts, " ")
	}
	about := checkpoint.Manifest{Thread: "octo/demo#42:" + head, Subject: checkpoint.Subject{Head: head}}
	s := reviewpr.State{Draft: reviewpr.Draft{Manifest: about, Name: "#42", Web: "https://github.com/octo/demo"},
		Pull: &pull.Pull{Title: text("T", 4)}}
	for n, path := range []string{"ledger/transfer.go", "web/cart.ts", "docs/a b.md", "ops/run.sh"} {
		s.Files = append(s.Files, diff.File{Path: path, Additions: 40,
			Patch: "@@ -0,0 +1,40 @@" + strings.Repeat(fmt.Sprintf("\n+line of file %d", n), 40)})
		s.FileReviews = append(s.FileReviews, finding.FileReview{Path: path, State: finding.Reviewed})
	}
	most := 9
	if random.IntN(100) == 0 {
		most = 300 // more than a body has room for
	}
	for k := range 1 + random.IntN(most) {
		line := 1 + random.IntN(44)
		r := &s.FileReviews[random.IntN(4)]
		r.Findings = append(r.Findings, finding.Finding{
			Path: r.Path, Side: finding.Right, StartLine: max(1, line-random.IntN(3)), Line: line,
			Severity: finding.Severities()[random.IntN(4)], Category: "correctness",
			Confidence: 0.45 + random.Float64()/2, Title: text(fmt.Sprintf("qz%dtitle", k), 4),
			Body:       text(fmt.Sprintf("qz%dbody", k), 14),
			Suggestion: []string{"", text(fmt.Sprintf("qz%dfix", k), 3)}[random.IntN(2)], Source: finding.Model,
		})
	}
	s.Comments, s.Earlier = aggregate.Findings(aggregate.Input{Files: s.Files, Reviews: s.FileReviews, Inline: 15})
	return s
}

// TestT27_P2_APostedReviewIsTheShownOneLessDroppedPlusEdited compares what a pull
// request receives of 1,000 drafts, in full, with review.md, undecided and decided, with
// inline comments and where those are refused.
func TestT27_P2_APostedReviewIsTheShownOneLessDroppedPlusEdited(t *testing.T) {
	t.Parallel()
	reviews := testvolume.Of(1000, 200)
	inline, changed := 0, 0
	for seed := range uint64(reviews) {
		random := rand.New(rand.NewPCG(seed, 27))
		s := drawn(random)
		shown := s.Shown()

		body, comments := sent(t, s, false)
		require.True(t, strings.HasPrefix(shown, body+"\n"), "seed %d, posted:\n%s\nshown:\n%s", seed, body, shown)
		rest := strings.TrimPrefix(shown, body)
		for _, c := range comments {
			var found bool
			_, rest, found = strings.Cut(rest, "\n\n"+c+"\n")
			require.True(t, found, "seed %d: not shown, or in another order:\n%s", seed, c)
		}
		fallback, none := sent(t, s, true)
		require.Empty(t, none)
		require.Contains(t, shown, fallback, "seed %d", seed)
		inline += len(comments)

		d := chosen(t, random, finding.Kept(s.Comments))
		before := s.Comments
		s.Comments = finding.Apply(d, s.Comments)
		changed += len(d.Commands)
		for _, refuses := range []bool{false, true}[:1+(seed+1)%2] {
			body, comments := sent(t, s, refuses)
			posted := strings.Join(append([]string{body}, comments...), "\n")
			require.NoError(t, agrees(shown, posted, d, finding.Kept(before)), "seed %d, decided by\n%v\nposted:\n%s",
				seed, d.Commands, posted)
			for _, c := range comments {
				moved := slices.ContainsFunc(d.Move, func(m decision.Move) bool {
					return strings.Contains(c, own(before, m.ID)+"title")
				})
				require.False(t, moved, "seed %d: was to leave its line:\n%s", seed, c)
			}
		}
	}
	t.Logf("%d reviews with %d inline comments are what was shown, and %d commands changed what they say", reviews,
		inline, changed)
	require.Greater(t, inline, reviews)
	require.Greater(t, changed, reviews)
}

// chosen is a random decision, as somebody would write it.
func chosen(t *testing.T, random *rand.Rand, kept []finding.Finding) decision.Decision {
	t.Helper()
	lines := []string{"Thanks."}
	for _, f := range kept {
		switch random.IntN(8) {
		case 0:
			lines = append(lines, "/drop "+f.ID+": known")
		case 1:
			lines = append(lines, "/edit "+f.ID+": "+own(kept, f.ID)+"new @maya ```x <b> é")
		case 2:
			lines = append(lines, "/summary "+f.ID)
		case 3:
			lines = append(lines, "/severity "+f.ID+" "+string(finding.Severities()[random.IntN(4)]))
		}
	}
	d, err := gate.Decide(strings.Join(lines, "\n"), "", decision.Approve, finding.Items(kept), time.Time{})
	require.NoError(t, err)
	return d
}

// own is the beginning of the words that are a finding's own: qz7.
func own(all []finding.Finding, id string) string {
	i := slices.IndexFunc(all, func(f finding.Finding) bool { return f.ID == id })
	found := word.FindStringSubmatch(all[i].Title)
	return "qz" + found[1]
}

// agrees holds every line of a posted review that is about a finding against the
// lines that were shown and the decision.
func agrees(shown, posted string, d decision.Decision, kept []finding.Finding) error {
	verdicts := map[string]string{} // by qz7
	for _, x := range d.Drop {
		verdicts[own(kept, x.ID)] = "dropped"
	}
	for _, x := range d.Edit {
		verdicts[own(kept, x.ID)] = "edited"
	}
	for _, x := range d.Severity {
		verdicts[own(kept, x.ID)] = "graded"
	}
	lines := map[string]bool{}
	for _, l := range strings.Split(shown, "\n") {
		lines[l] = true
	}
	for _, l := range strings.Split(posted, "\n") {
		for _, w := range word.FindAllStringSubmatch(l, -1) {
			verdict, part := verdicts["qz"+w[1]], w[2]
			switch {
			case verdict == "dropped":
				return fmt.Errorf("a dropped finding is posted: %s", l)
			case verdict == "edited" && part == "body":
				return fmt.Errorf("a text that was replaced is posted: %s", l)
			case part == "new" && verdict == "edited", verdict == "graded":
			case part == "title" && strings.Contains(shown, "for length"):
				// it found room, and is headed as findings of the body are
			case !lines[l]:
				return fmt.Errorf("what was not shown is posted: %q", l)
			}
		}
	}
	if strings.Contains(posted, "for length") {
		return nil // a body has room for so much
	}
	for _, f := range kept {
		name := own(kept, f.ID)
		wants := name + map[bool]string{true: "new", false: "title"}[verdicts[name] == "edited"]
		if verdicts[name] != "dropped" && !strings.Contains(posted, wants) {
			return fmt.Errorf("%s is not posted: no %s", f.ID, wants)
		}
	}
	return nil
}
