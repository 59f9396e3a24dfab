package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/transport"
)

// server is an endpoint, and whether it is still asked.
type server struct {
	Options
	what, url string
	identity  string // of the model: its name, its host if that is not the vendor's, its dimensions if configured
	lost      atomic.Pointer[LostError]
}

// disabledError returns why the server is no longer asked; nil while it is.
func (s *server) disabledError() error {
	if lost := s.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// recordFailure records a failure that the next call would meet too, and returns the *LostError.
// It returns err as it is if ctx or the budget has ended.
func (s *server) recordFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, cost.ErrSpent) || errors.Is(err, cost.ErrFileSpent) {
		return err
	}
	if lost := (&LostError{s.what, err}); s.lost.CompareAndSwap(nil, lost) && s.OnLost != nil {
		s.OnLost(lost)
	}
	return s.disabledError()
}

// request is a request of either kind and style. Its body lacks the model's name.
type request struct {
	body  map[string]any
	name  string // key of the answer, for Ask
	texts int
	bytes int        // at most, of the reply per text
	most  cost.Usage // that it may use at most
}

// row is the reply for one text: a vector or a score.
type row struct {
	Index  int      `json:"index"` // Gemini leaves a zero out
	Vector numbers  `json:"embedding"`
	Score  *float64 `json:"relevance_score"`
}

// reply is a reply in any style, with a row for each text. The rows may be in any order.
type reply struct {
	Data    []row `json:"data"`
	Results []row `json:"results"` // Cohere
	Usage   struct {
		Prompt float64 `json:"prompt_tokens"`
		Total  float64 `json:"total_tokens"`
	} `json:"usage"`
	Meta struct { // Cohere: searches or, for its later models, tokens
		Billed struct {
			Units  float64 `json:"search_units"`
			Tokens float64 `json:"input_tokens"`
		} `json:"billed_units"`
		Counted struct {
			Tokens float64 `json:"input_tokens"`
		} `json:"tokens"`
	} `json:"meta"`
}

// answerFrame bounds the bytes of a reply in addition to its rows.
const answerFrame = 64 << 10

// answer makes a request, or returns the kept answer. take is called for each row, in the order of
// the texts; it checks the row and adds it to the answer.
func (s *server) answer(ctx context.Context, r request, take func(*Answer, row) error) (Answer, error) {
	return s.Ask(ctx, r.name, r.most, func(ctx context.Context) (a Answer, err error) {
		r.body["model"] = s.Model
		body, _ := json.Marshal(r.body) // texts, numbers and booleans: it cannot fail
		ctx = transport.LimitBody(ctx, int64(answerFrame+r.texts*r.bytes))
		text, err := transport.Post(ctx, s.HTTP, s.url, s.Key, body)
		if err != nil {
			return a, err
		}
		var said reply
		if json.Unmarshal(text, &said) != nil {
			return a, newWrongError("its answer is not of the form that is documented")
		}
		a.Usage = said.usage(r.most)
		rows, err := said.rows(r.texts)
		for i := 0; i < len(rows) && err == nil; i++ {
			err = take(&a, rows[i])
		}
		return a, err
	})
}

// rows returns the rows of n texts, in their order.
func (r reply) rows(n int) ([]row, error) {
	all := slices.Concat(r.Data, r.Results)
	if len(all) != n {
		return nil, newWrongError("it gave %d answers for %d texts", len(all), n)
	}
	order.Stable(all, func(a, b row) int { return cmp.Compare(a.Index, b.Index) })
	for i, row := range all {
		if row.Index != i {
			return nil, newWrongError("it gave no answer for text %d of %d", i+1, n)
		}
	}
	return all, nil
}

// usage returns the usage that the server reports, bounded by most, so that a hostile report
// costs no more. A reranker that reports neither searches nor tokens is counted all of most's tokens.
func (r reply) usage(most cost.Usage) cost.Usage {
	billed := r.Meta.Billed
	tokens := max(r.Usage.Prompt, r.Usage.Total, billed.Tokens, r.Meta.Counted.Tokens)
	u := cost.Usage{Calls: 1, EmbeddingTokens: count(tokens, most.EmbeddingTokens)}
	if most.RerankUnits > 0 {
		u.RerankUnits = max(1, count(billed.Units, most.RerankUnits))
		if billed.Units <= 0 {
			u.EmbeddingTokens = cmp.Or(u.EmbeddingTokens, most.EmbeddingTokens)
		}
	}
	return u
}

// count returns a reported number, rounded up and bounded by 0 and most.
func count(reported float64, most int64) int64 {
	return int64(min(max(math.Ceil(reported), 0), float64(most)))
}

// outgoing returns texts as they may be sent: redacted, and cut to at most that many bytes.
// Servers refuse an empty text, so it becomes "-".
func (s *server) outgoing(texts []string, most int) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if out[i] = guard.CutBytes(s.Redact(text), most); strings.TrimSpace(out[i]) == "" {
			out[i] = "-"
		}
	}
	return out
}

// answerKey returns the SHA-256, in hex, of everything that determines an answer.
func (s *server) answerKey(purpose string, texts ...string) string {
	h := sha256.New()
	for _, t := range append([]string{purpose, s.identity, s.Style}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
