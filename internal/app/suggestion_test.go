package app_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

// suggestionBlock is what GitHub offers to commit.
var suggestionBlock = regexp.MustCompile("(?s)\n```suggestion\n(.*?)```")

// ranged is a finding about lines of the cart, of which the first is to be replaced
// and the others to go.
func ranged(start, last int, quote string) llmtest.Finding {
	return llmtest.Finding{
		Side: "RIGHT", StartLine: start, Line: last, Quote: quote, Title: fmt.Sprintf("Range %d is wrong", start),
		Body:     "B",
		Category: "correctness", Severity: "minor", Confidence: 0.9, Suggestion: fixed(start),
	}
}

func fixed(line int) string { return fmt.Sprintf("  fixed%02d(cart, order)", line) }

// TestASuggestionReplacesTheLinesThatWereSaid has twelve ranges of one to three
// lines whose quote is another of their lines each, and two whose quote stands
// elsewhere; GitHub's button is pressed on all that is offered, on both routes.
func TestASuggestionReplacesTheLinesThatWereSaid(t *testing.T) {
	for _, route := range []string{"approval", "dispatch"} {
		t.Run(route, func(t *testing.T) {
			head := lines("export {}", 60, "  call%02d(cart, order)")
			code := strings.Split(head, "\n")
			var found []llmtest.Finding
			want := slices.Clone(code)
			for i := range 12 {
				start, length := 2+4*i, 1+i%3
				said := code[start-1 : start-1+length]
				quotes := []string{said[0], said[length-1], strings.Join(said, "\n"), strings.TrimSpace(said[length/2])}
				found = append(found, ranged(start, start+length-1, quotes[i/3]))
				want[start-1] = fixed(start)
				for n := 1; n < length; n++ {
					want[start-1+n] = "gone"
				}
			}
			found = append(found, ranged(50, 52, code[53]), ranged(56, 56, strings.Join(code[56:58], "\n")))
			base := baseTree().Without("web/cart.ts")
			change := base.With(map[string]string{"web/cart.ts": head})
			s := setUp(t, scene{base: base, head: change, script: llmtest.Always(llmtest.Findings(found...))})
			drafted := s.parked()
			if route == "approval" {
				s.approved("")
				s.postJob(drafted.digest()).start().is(0, "POSTED")
			} else {
				s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
			}
			comments := s.posted().Comments
			require.Len(t, comments, 14)
			offered := 0
			for _, c := range comments {
				block := suggestionBlock.FindStringSubmatch(c.Body)
				if block == nil {
					require.Contains(t, c.Body, "Suggested in place of")
					continue
				}
				offered++
				start := cmp.Or(c.StartLine, c.Line)
				for n := start; n <= c.Line; n++ {
					code[n-1] = "gone"
				}
				code[start-1] = strings.TrimSuffix(block[1], "\n")
			}
			require.Equal(t, 12, offered, "of those that were moved none is offered")
			require.Equal(t, want, code)
		})
	}
}
