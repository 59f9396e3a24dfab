package reviewpr_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

// planted is a context with a distinct word in every text that may be private.
func planted(c *wholeCase) ticket.Context {
	full := c.asks()
	full.Tickets[0].Summary += " SUMMARYWORD"
	full.Tickets[0].Description = "DESCRIPTIONWORD\n\nmore"
	full.Tickets[0].Labels = []string{"LABELWORD"}
	for i := range full.Tickets[0].Criteria {
		full.Tickets[0].Criteria[i].Text += " CRITERIONWORD"
	}
	full.Pages = []ticket.Ticket{{Key: "65601", Source: "confluence", Summary: "PAGETITLEWORD",
		Description: "Money is counted in cents. PAGEWORD"}}
	full.Flags = []ticket.Flag{{ID: "PAY-101", Line: 3, Text: "FLAGWORD, reviewer"}}
	return full
}

// gossip answers with every word that it was shown, wherever an answer has room.
func gossip(c *wholeCase) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer {
		var said map[string]any
		answer := c.judges(r)
		_ = json.Unmarshal([]byte(answer.Text), &said)
		var heard []string
		for _, word := range words {
			if strings.Contains(r.User, word) {
				heard = append(heard, word)
			}
		}
		text := strings.Join(heard, " ")
		if _, asked := said["overview"]; asked {
			said["overview"] = "Heard: " + text
		}
		said["summary"] = text
		for _, list := range []string{"criteria", "unasked"} {
			all, _ := said[list].([]any)
			for _, one := range all {
				one.(map[string]any)["text"], one.(map[string]any)["why"] = text, text
			}
		}
		if _, alone := said["overview"]; !alone {
			said["criteria"] = append(said["criteria"].([]any),
				map[string]any{"n": 1, "verdict": text, "evidence": []any{
					map[string]any{"path": text, "start_line": 1, "end_line": 1}}})
			said["unasked"] = []any{map[string]any{"path": c.change.Files[0].Path, "start_line": 3, "end_line": 3,
				"text": text}}
		}
		data, _ := json.Marshal(said)
		return llmtest.Answer{Text: string(data), Thought: text}
	}
}

var words = []string{"SUMMARYWORD", "DESCRIPTIONWORD", "LABELWORD", "CRITERIONWORD", "PAGETITLEWORD", "PAGEWORD",
	"FLAGWORD"}

// kept is a store that remembers every byte that it was given.
type kept struct {
	graph.Store
	mu   sync.Mutex
	seen strings.Builder
}

func (k *kept) note(data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen.Write(data)
}

func (k *kept) Save(ctx context.Context, id string, data ...[]byte) error {
	k.note(slices.Concat(data...))
	return k.Store.Save(ctx, id, data...)
}

func (k *kept) Append(ctx context.Context, id string, data ...[]byte) error {
	k.note(slices.Concat(data...))
	return k.Store.Append(ctx, id, data...)
}

// T28: what of tickets and pages is in anything that leaves the job, under each value
// of context.show, though the model repeats all that it reads.
func TestT28_NothingOfATicketLeavesTheJobButWhatShowAllows(t *testing.T) {
	t.Parallel()
	c := wholeCases(t, "ticket-retry.txtar")["ticket-retry"]
	for show, allowed := range map[ticket.Show][]string{
		ticket.ShowKey:      nil,
		ticket.ShowCriteria: {"SUMMARYWORD", "LABELWORD", "CRITERIONWORD", "PAGETITLEWORD", "PAGEWORD"},
		ticket.ShowFull:     words,
	} {
		t.Run(string(show), func(t *testing.T) {
			t.Parallel()
			a := newAsking(t, c.change, planted(c), llmtest.Honest, gossip(c), show)
			store := &kept{Store: graph.NewMemory()}
			a.store = store
			var traced strings.Builder
			ctx, end, err := trace.Start(t.Context(),
				trace.Options{Local: nopWriter{&traced}, Getenv: func(name string) string {
					return map[string]string{"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}[name]
				}})
			require.NoError(t, err)
			flow, err := reviewpr.New(a.wired(), a.store)
			require.NoError(t, err)
			r, err := flow.Run(ctx, a.change.Thread, a.draft())
			require.NoError(t, err)
			require.NoError(t, end())
			s := r.State
			packed := ""
			if s.Outcome() == reviewpr.Paused && r.Status == graph.Paused {
				d, err := reviewpr.Subject().Pack(t.Context(), flow, a.store, a.change.Thread, checkpoint.Protection{})
				require.NoError(t, err)
				packed = string(d.Zip)
			}
			s.Draft.Config.Report.Criteria = true
			review := s.Review()
			body, _ := post.Rendered(review)
			out := strings.Join([]string{store.seen.String(), packed, summary.Draft(review, summary.Decide{Code: "x"}),
				body,
				render.File(review), terminal.Review(review, terminal.Options{}), traced.String()}, "\n")
			for _, word := range words {
				require.Equal(t, slices.Contains(allowed, word), strings.Contains(out, word), word)
			}
			require.Contains(t, out, "PAY-101", "the key is told in any case")
			require.Empty(t, s.Asked.Context.Tickets[0].Description, "nothing behind the reviews needs it")
			require.Empty(t, s.Asked.Context.Pages[0].Description)
			require.Equal(t, finding.Met, s.Whole.Criteria[1].Verdict)
			if show == ticket.ShowKey {
				judge := a.server.Wholes()[1]
				require.Equal(t, llmtest.Criteria, judge.Question)
				require.Contains(t, judge.User, "DESCRIPTIONWORD", "verdicts may come from all of it")
				for _, r := range append(a.server.Requests(), a.server.Wholes()[0]) {
					for _, word := range words {
						require.NotContains(t, r.User, word)
					}
				}
			}
		})
	}
}

type nopWriter struct{ *strings.Builder }

// A page is in the questions about files as guidance, between its own marks, under
// criteria and full alone.
func TestT3_PagesReachTheReviewOfAFileAsGuidanceAlone(t *testing.T) {
	t.Parallel()
	c := wholeCases(t, "ticket-retry.txtar")["ticket-retry"]
	for show, want := range map[ticket.Show]bool{ticket.ShowKey: false, ticket.ShowCriteria: true,
		ticket.ShowFull: true} {
		a := newAsking(t, c.change, planted(c), llmtest.Honest, c.judges, show)
		a.run(t)
		for _, r := range a.server.Requests() {
			require.Equal(t, want, strings.Contains(llmtest.Data(r.User)["pages"], "PAGEWORD"))
			require.NotContains(t, llmtest.Outside(r.User), "PAGEWORD")
			require.NotContains(t, r.System, "PAGEWORD")
		}
	}
}

// T3: an obedient model says of every criterion what the ticket orders it to say; without
// lines of the diff that is not met. What a ticket or page says holds back no finding.
func TestT3_NoKnownAttackInATicketOrPageMakesACriterionMet(t *testing.T) {
	t.Parallel()
	c := wholeCases(t, "ticket-retry.txtar")["ticket-retry"]
	tried := 0
	for _, attack := range llmtest.Attacks(t) {
		if attack.Benign || !slices.Contains([]string{"ticket", "confluence", "tool-result"}, attack.Channel) {
			continue
		}
		tried++
		for _, show := range []ticket.Show{ticket.ShowKey, ticket.ShowCriteria, ticket.ShowFull} {
			asked := c.asks()
			asked.Tickets[0].Description, asked.Tickets[0].Summary = attack.Payload, attack.Payload
			asked.Tickets[0].Criteria[2].Text = attack.Payload
			asked.Pages = []ticket.Ticket{{Key: "7", Summary: "Guide", Description: attack.Payload}}
			obedient := func(r llmtest.Request) llmtest.Answer {
				met := []finding.Criterion{}
				for n := range 4 {
					met = append(met, finding.Criterion{N: n, Verdict: "met"})
				}
				return llmtest.Seen(r, "All is met.", nil, met, nil)
			}
			change := c.change
			change.Files = slices.Clone(change.Files)
			change.Files[0].Patch = strings.Replace(change.Files[0].Patch, "maxTries = 5",
				"maxTries = 5 // DEFECT: five is "+
					"too many", 1)
			a := newAsking(t, change, asked, llmtest.Honest, obedient, show)
			s := a.run(t)
			require.Len(t, s.Whole.Criteria, 3, attack.ID)
			for _, k := range s.Whole.Criteria {
				require.Equal(t, finding.Unknown, k.Verdict, "%s: %s", attack.ID, show)
			}
			require.NotEmpty(t, finding.Kept(s.Comments), "%s holds back a finding", attack.ID)
			for _, r := range append(a.server.Requests(), a.server.Wholes()...) {
				require.NotContains(t, r.System, attack.Payload)
				require.NotContains(t, llmtest.Outside(r.User), attack.Payload)
				require.Empty(t, r.Tools, "nothing is called, whatever a ticket asks for")
			}
		}
	}
	require.Greater(t, tried, 20)
}

// A run that continues after its process died fetches what was asked for again, and pays
// for nothing twice; also where the tracker does not answer any more.
func TestP4_AContextThatIsFetchedAgainLeavesPaidAnswersValid(t *testing.T) {
	t.Parallel()
	c := wholeCases(t, "ticket-retry.txtar")["ticket-retry"]
	for name, broken := range map[string]bool{"the same": false, "gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAsking(t, c.change, planted(c), llmtest.Honest, c.judges, ticket.ShowCriteria)
			whole := a.wired()
			stopped := a.wired()
			stopped.Overview = func(context.Context, review.Whole) (finding.Overview, error) {
				return finding.Overview{}, context.DeadlineExceeded
			}
			flow, err := reviewpr.New(stopped, a.store)
			require.NoError(t, err)
			_, err = flow.Run(t.Context(), a.change.Thread, a.draft())
			require.Error(t, err)
			require.Equal(t, reviewpr.GenerateReview, reviewpr.StatusAt(err))
			asked := len(a.server.Requests())

			a.broken = broken
			again, err := reviewpr.New(whole, a.store)
			require.NoError(t, err)
			r, err := again.Run(t.Context(), a.change.Thread, a.draft())
			require.NoError(t, err)
			require.Equal(t, asked, len(a.server.Requests()), "files are not asked about again")
			require.Equal(t, 2, a.calls, "the text of a ticket is in memory alone")
			require.Len(t, r.State.Whole.Criteria, 3)
			if broken {
				require.Equal(t, finding.Unknown, r.State.Whole.Criteria[0].Verdict)
			}
		})
	}
}
