package handofftest

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
)

// paid is the file of the base commit.
var paid = map[string]string{"pay/round.go": "package pay\n\nfunc Round(x float64) int { return int(x) }\n"}

// model answers each question by its name, and says that it was paid.
type model func(question string)

func (m model) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	m(r.SchemaName)
	return llm.Answer{Text: map[string]string{
		"implement_classify": `{"confirmed_type": "Bug", "technical_summary": "Round cuts halves off",
			"affected_components": ["pay"], "complexity": "low"}`,
		"implement_modules": `{"affected_modules": ["pay"], "reasoning": {"pay": "Round is there"},
			"files_likely_to_change": ["pay/round.go"]}`,
		"implement_code": `{"root_cause": "int() cuts off", "changes": [{"path": "pay/round.go",
			"description": "adds a half", "edits": [{"search": "int(x)", "replace": "int(x + 0.5)"}]}]}`,
		"implement_tests": `{"tests": [{"path": "pay/half_test.go", "description": "a half",
			"new_content": "package pay\n"}]}`,
	}[r.SchemaName]}, nil
}

func (m model) Identity() string { return "a model" }

// ticketFlow is the graph with a model that fixes the bug. What was approved goes to a
// folder; apply's own tests and those of the jobs hold it against GitHub.
func ticketFlow(w World) (*graph.Flow[ticketpr.State], error) {
	entries := map[string]diff.Entry{}
	for path := range paid {
		entries[path] = diff.Entry{Mode: "100644", Blob: strings.Repeat("ab", 20)}
	}
	module := config.Module{Name: "pay", Paths: []string{"pay/**"}}
	return ticketpr.New(ticketpr.Steps{
		Ticket: ticket.Ticket{Key: "PAY-88", Summary: "Round half up"}, Show: ticket.ShowFull,
		Model: &implement.Model{Chat: model(w.Paid), Once: graph.Once[implement.Recorded]},
		Base: implement.Base{Tree: tree.Files(paid),
			Rules:  &scope.Rules{Modules: []config.Module{module}, Entries: entries},
			Broken: func(context.Context, string, string) (errors, unmatched bool) { return false, false }},
		Search: func(context.Context, string, config.Module) (found implement.Found, err error) { return },
		Review: func(context.Context, ticketpr.State, ticket.Ticket) (seen ticketpr.Seen, err error) { return },
		Apply: func(ctx context.Context, s ticketpr.State) (apply.Applied, error) {
			at := apply.Applied{Branch: s.BranchName()}
			_, done, err := w.Out.Look(*s.Decision)
			if err == nil && !done {
				_, err = w.Out.Write(ctx, *s.Decision, change.Unified(s.Kept().Proposed()))
			}
			return at, err
		},
		Open: func(_ context.Context, s ticketpr.State) (string, error) {
			return "pull request of " + s.Applied.Branch, nil
		},
	}, w.Store)
}

// aTicket is the graph as it is put to the tests that every flow has to pass.
func aTicket() Flow[ticketpr.State] {
	return Flow[ticketpr.State]{
		Graph: ticketpr.Name, Version: ticketpr.Version, Names: ticketpr.Names,
		Subject: ticketpr.Subject(), Items: ticketpr.State.Items,
		About: checkpoint.Subject{Kind: "ticket", Key: "PAY-88"},
		Thread: func(base string) string {
			return ticketpr.ThreadID(pull.Ref{Owner: "o", Repo: "r"}, "PAY-88", base)
		},
		Begin: func(m checkpoint.Manifest) ticketpr.State {
			return ticketpr.State{Facts: m, Into: "main"}
		},
		Build: ticketFlow,
		Text: "diff --git a/pay/round.go b/pay/round.go\n--- a/pay/round.go\n+++ b/pay/round.go\n@@ -1,3 +1,3 @@\n" +
			" package pay\n \n-func Round(x float64) int { return int(x) }\n" +
			"+func Round(x float64) int { return int(x + 0.5) }\n" +
			"diff --git a/pay/half_test.go b/pay/half_test.go\nnew file mode 100644\n--- /dev/null\n" +
			"+++ b/pay/half_test.go\n@@ -0,0 +1 @@\n+package pay\n",
	}
}

// TestMain is the tests, or the program that they kill, of the flow that its environment names.
func TestMain(m *testing.M) {
	switch os.Getenv("HANDOFF_FLOW") {
	case noteGraph:
		lives(aNote())
	case ticketpr.Name:
		lives(aTicket())
	default:
		debug.SetGCPercent(400) // they allocate much and keep little
		os.Exit(m.Run())
	}
}

func TestP3_ATicketGoesByEitherRoute(t *testing.T)           { Routes(t, aTicket()) }
func TestCheck1_Check13_EachRefusesATicket(t *testing.T)     { Checks(t, aTicket()) }
func TestP5_T25_RacingDecidersApplyOneTicket(t *testing.T)   { Races(t, aTicket()) }
func TestP4_P5_ATicketSurvivesAKillAtEveryStep(t *testing.T) { Kills(t, aTicket()) }
