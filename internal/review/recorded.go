package review

import (
	"context"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
)

// Recorded is a paid answer as it is kept, or what the tools gave that it called.
// Texts are untrusted; the question is not in it, but for the boundary that goes
// on through the conversation.
type Recorded struct {
	Boundary guard.Boundary `json:"boundary,omitempty"`
	Text     string         `json:"text,omitempty"`
	Ended    string         `json:"ended,omitempty"` // truncated, refused or empty; "" for a whole answer
	Usage    cost.Usage     `json:"usage"`

	Calls   []llm.Call    `json:"calls,omitempty"`
	State   []byte        `json:"state,omitempty"` // llm.Answer's
	Model   string        `json:"model,omitempty"`
	Finish  string        `json:"finish,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	Results []tool.Record `json:"results,omitempty"`

	Vectors []byte    `json:"vectors,omitempty"` // as embed.Answer has them: of a query, of a change's own code
	Scores  []float64 `json:"scores,omitempty"`  // of what a search found, by a reranker
}

// Once gives the kept answer of a key, or lets do ask and keeps what it says. An
// error of do is passed on and not kept; any other error says that the answer
// could not be kept.
type Once func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error)
