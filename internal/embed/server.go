package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
)

// server is one endpoint, and whether it is still asked.
type server struct {
	Options
	what, url string
	owner     string // whose the model is, where it is not its vendor's
	lost      atomic.Pointer[LostError]
}

// identity names the model, and whose it is where that is not its vendor.
func (s *server) identity() string { return s.Model + s.owner }

// off is why the server is not asked any more; nil while it is.
func (s *server) off() error {
	if lost := s.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// failed keeps a failure that the next call would have too. The end of the caller's
// time and of the money is none.
func (s *server) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, cost.ErrSpent) || errors.Is(err, cost.ErrFileSpent) {
		return err
	}
	if lost := (&LostError{s.what, err}); s.lost.CompareAndSwap(nil, lost) && s.OnLost != nil {
		s.OnLost(lost)
	}
	return s.off()
}

// request is one request of either kind and style, beside the model's name.
type request struct {
	body  map[string]any
	name  string // of its answer, as Ask has it
	texts int
	bytes int        // that a server's words on a text may have
	most  cost.Usage // that it may cost
}

// row is what a server says of a text: a vector, or a score.
type row struct {
	Index  *int     `json:"index"`
	Vector numbers  `json:"embedding"`
	Score  *float64 `json:"relevance_score"`
}

// reply is an answer of any shape, with a row for each text. No order of rows is promised.
type reply struct {
	Data    []row `json:"data"`
	Results []row `json:"results"` // Cohere's
	Usage   struct {
		Prompt float64 `json:"prompt_tokens"`
		Total  float64 `json:"total_tokens"`
	} `json:"usage"`
	Meta struct {
		Billed struct {
			Units float64 `json:"search_units"`
		} `json:"billed_units"`
	} `json:"meta"`
}

// answer makes a request, or takes what was kept of it. Take adds to an answer what is said of each
// text, in their order, once it has looked at it.
func (s *server) answer(ctx context.Context, r request, take func(*Answer, row) error) (Answer, error) {
	return s.Ask(ctx, r.name, r.most, func(ctx context.Context) (Answer, error) {
		said, err := s.post(ctx, r)
		if err != nil {
			return Answer{}, err
		}
		a := Answer{Usage: said.usage(r.most)}
		rows, err := said.rows(r.texts)
		for _, row := range rows {
			if err == nil {
				err = take(&a, row)
			}
		}
		return a, err
	})
}

// answerFrame is the bytes of an answer beside its rows, at most.
const answerFrame = 64 << 10

// post sends a request and reads the answer.
func (s *server) post(ctx context.Context, r request) (said reply, err error) {
	r.body["model"] = s.Model
	body, err := json.Marshal(r.body)
	if err != nil {
		return said, err
	}
	ctx = transport.LimitBody(ctx, int64(answerFrame+r.texts*r.bytes))
	text, err := transport.Post(ctx, s.HTTP, s.url, s.Key, body)
	if err == nil && json.Unmarshal(text, &said) != nil {
		err = wrong("its answer is not of the form that is documented")
	}
	return said, err
}

// rows are those of n texts, in their order. Of a single text nobody has to say which it is.
func (r reply) rows(n int) ([]row, error) {
	said := slices.Concat(r.Data, r.Results)
	if len(said) != n {
		return nil, wrong("it gave %d answers for %d texts", len(said), n)
	}
	all, seen := make([]row, n), make([]bool, n)
	for _, row := range said {
		at := 0
		switch {
		case row.Index != nil:
			at = *row.Index
		case n > 1:
			return nil, wrong("it did not say which answer is of which text")
		}
		if at < 0 || at >= n {
			return nil, wrong("it gave an answer for text %d of %d", at+1, n)
		}
		if seen[at] {
			return nil, wrong("it gave two answers for one text")
		}
		all[at], seen[at] = row, true
	}
	return all, nil
}

// usage is what a server says that it bills, within what was set aside: a hostile report
// costs no more. Where units are billed, tokens of which it says nothing are all of them.
func (r reply) usage(most cost.Usage) cost.Usage {
	u := cost.Usage{Calls: 1, EmbeddingTokens: count(max(r.Usage.Prompt, r.Usage.Total), most.EmbeddingTokens)}
	if most.RerankUnits > 0 {
		u.EmbeddingTokens = cmp.Or(u.EmbeddingTokens, most.EmbeddingTokens)
		u.RerankUnits = max(1, count(r.Meta.Billed.Units, most.RerankUnits))
	}
	return u
}

// count is a number that a server reported, from 0 to a bound.
func count(reported float64, most int64) int64 {
	return int64(min(max(math.Ceil(reported), 0), float64(most)))
}

// outgoing are texts as they may leave: redacted, and cut to so many bytes. Servers
// refuse an empty one.
func (s *server) outgoing(texts []string, most int) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if out[i] = clip(s.Redact(text), most); strings.TrimSpace(out[i]) == "" {
			out[i] = "-"
		}
	}
	return out
}

// clip cuts a text to so many bytes, at the end of a character.
func clip(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// name is the SHA-256, in hex, of all that settles an answer.
func (s *server) name(purpose, identity string, texts ...string) string {
	h := sha256.New()
	for _, t := range append([]string{purpose, identity, s.Style}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
