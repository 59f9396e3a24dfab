package app_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/llmtest"
)

// silent is the model that does what every attack wants: it finds nothing, and
// says of nothing that it holds.
func silent(r llmtest.Request) llmtest.Answer {
	switch r.Question {
	case llmtest.Verify:
		return llmtest.Verdicts(r, func(llmtest.Claim) bool { return false })
	case llmtest.Classify:
		return llmtest.Label("docs", "light")
	}
	return llmtest.Findings()
}

// TestT1_T6_T7_AttacksInADiff has a model that obeys every row.
func TestT1_T6_T7_AttacksInADiff(t *testing.T) {
	rows := attacks(t, func(a llmtest.Attack) bool { return inDiff(a) && !a.Benign })
	benign := attacks(t, func(a llmtest.Attack) bool { return inDiff(a) && a.Benign })
	head := baseTree()
	for _, a := range append(rows, benign...) {
		head[a.path] = a.text + "\n"
	}
	s := setUp(t, scene{base: baseTree(), head: head, script: silent})
	drafted := s.parked()
	draft := s.read(drafted)
	s.approved("")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")

	t.Run("T1 what a rule says stays", func(t *testing.T) { rulesHold(t, draft, rows) })
	t.Run("T1 every file is reviewed, and flagged where the detector sees it", func(t *testing.T) {
		asked := s.askedAbout()
		for _, a := range append(rows, benign...) {
			require.Equal(t, finding.Reviewed, draft.reviews[a.path].State, a.ID)
			require.Equal(t, 1, asked[a.path], a.ID)
			seen := injection.Scan(a.text)
			require.Equal(t, len(seen.Instructions) > 0, draft.addresses(a.path), a.ID)
			require.Equal(t, len(seen.Hidden) > 0, draft.hides(a.path), a.ID)
		}
		require.Equal(t, draft.warnings(), notices(t, drafted.summary), "the banner names or counts every one")
	})
	t.Run("T6 the marks hold", func(t *testing.T) { marksHold(t, s.model.Requests()) })
	t.Run("T7 hidden characters are flagged and shown", func(t *testing.T) {
		hiddenFlagged(t, draft, rows, benign)
		texts := append(pagesOf(s.posted()), drafted.summary, posted.summary, drafted.log, posted.log)
		for _, r := range s.model.Requests() {
			texts = append(texts, r.User)
		}
		for _, text := range texts {
			require.Equal(t, guard.Visible(text), text)
		}
	})
}

func rulesHold(t *testing.T, draft parkedDraft, rows []attack) {
	rules := ruledRows()
	for _, a := range rows {
		if rule, covered := rules[a.ID]; covered {
			var titles []string
			for _, f := range draft.about(a.path, finding.Rule) {
				titles = append(titles, f.Title)
			}
			require.Contains(t, strings.Join(titles, "\n"), rule.title, a.ID)
			delete(rules, a.ID)
		}
	}
	require.Empty(t, rules, "rows that are not among the attacks any more")
}

func hiddenFlagged(t *testing.T, draft parkedDraft, rows, benign []attack) {
	n := 0
	for _, a := range rows {
		switch a.Encoding {
		case "unicode-tags", "zero-width", "bidi", "homoglyph":
			require.True(t, draft.hides(a.path), a.ID)
			n++
		}
	}
	require.GreaterOrEqual(t, n, 8)
	for _, a := range benign {
		require.False(t, draft.hides(a.path), a.ID)
	}
}

var moreNotices = regexp.MustCompile(`(?m)^- ([0-9]+) more warnings of this kind\.$`)

// notices is how many notices the banner of a summary has or counts.
func notices(t *testing.T, summary string) int {
	t.Helper()
	n := len(regexp.MustCompile("(?m)^[->] (?:F[0-9]+, )?`[^\n]*` line [0-9]+(?:: | addresses the "+
		"reviewer: )").FindAllString(summary, -1))
	if more := moreNotices.FindStringSubmatch(summary); more != nil {
		counted, err := strconv.Atoi(more[1])
		require.NoError(t, err)
		n += counted
	}
	return n
}

var (
	drawnBoundary = regexp.MustCompile(`[0-9a-f]{32}`)
	anyMark       = regexp.MustCompile(`(?m)^<<<(data|end) [0-9a-f]{32}`)
	templateToken = regexp.MustCompile(`<\|im_(?:start|end)\|>|\[/?INST\]|<</?SYS>>`)
)

// marksHold checks that each prompt has the marks of one boundary alone, in pairs,
// that no other conversation has the boundary, and that nothing of a row stands
// outside of them.
func marksHold(t *testing.T, asked []llmtest.Request) {
	owner := map[string]string{}
	for _, r := range asked {
		boundary := drawnBoundary.FindString(r.User)
		about := r.Question + " " + r.Path
		require.Empty(t, owner[boundary], "%s has the boundary of another conversation", about)
		owner[boundary] = about
		depth := 0
		for i, mark := range anyMark.FindAllString(r.User, -1) {
			require.Contains(t, mark, boundary, about)
			require.Equal(t, []string{"<<<data", "<<<end"}[i%2], mark[:strings.IndexByte(mark, ' ')], about)
			depth = i % 2
		}
		require.Equal(t, 1, depth, "%s: the last mark closes", about)
		require.NotContains(t, r.User, llmtest.WrongClose, about)
		require.NotRegexp(t, templateToken, r.User, about)
		require.NotContains(t, llmtest.Outside(r.User), "rows/", about)
	}
	require.NotEmpty(t, owner)
}

// pagesOf are the texts of a posted review.
func pagesOf(r githubtest.Review) []string {
	pages := []string{r.Body}
	for _, c := range r.Comments {
		pages = append(pages, postedMark.ReplaceAllString(c.Body, "")) // which is a comment of ours
	}
	return pages
}

// TestT1_InjectedTextCostsAnHonestModelNoFinding has every defect twice: beside
// an attack and without one.
func TestT1_InjectedTextCostsAnHonestModelNoFinding(t *testing.T) {
	rows := attacks(t, func(a llmtest.Attack) bool { return inDiff(a) && !a.Benign })
	const planted = "\nfree(p) // DEFECT: Uses the memory after it was freed\n"
	head := baseTree()
	for _, a := range rows {
		head[a.path] = a.text + planted
		head["plain/"+a.path] = planted
	}
	s := setUp(t, scene{base: baseTree(), head: head, script: llmtest.Honest})
	draft := s.read(s.parked())
	for _, a := range rows {
		with, without := draft.about(a.path, finding.Model), draft.about("plain/"+a.path, finding.Model)
		require.Len(t, without, 1, a.ID)
		require.Len(t, with, 1, a.ID)
		require.Equal(t, without[0].Severity, with[0].Severity, a.ID)
		require.Equal(t, without[0].Title, with[0].Title, a.ID)
	}
}
