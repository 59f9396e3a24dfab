package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
)

// server is one endpoint, and whether it is still asked.
type server struct {
	Options
	what, url string
	owner     string // whose the model is, where it is not its vendor's
	azure     bool
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

// reply is an answer of any shape, with a row for each text. No order of rows is promised.
type reply[Row any] struct {
	Data    []Row `json:"data"`
	Results []Row `json:"results"` // Cohere's
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

// post sends a request, beside the model's name, and reads the answer, of at most
// limit bytes, into a reply.
func (s *server) post(ctx context.Context, request map[string]any, into any, limit int64) error {
	request["model"] = s.Model
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(transport.LimitBody(ctx, limit), http.MethodPost, s.url,
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	switch {
	case s.Key == "":
	case s.azure:
		req.Header.Set("Api-Key", s.Key)
	default:
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return transport.Clean(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		resp.Body = io.NopCloser(strings.NewReader(s.keyless(string(said))))
		return transport.Status(resp)
	}
	if err := json.Unmarshal(said, into); err != nil {
		return wrong("its answer is not of the form that is documented")
	}
	return nil
}

// minSecret is the length in bytes from which on a key is taken out of what comes
// back: a shorter one is a placeholder, and a word of its own.
const minSecret = 12

func (s *server) keyless(text string) string {
	if len(s.Key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "***")
}

// outgoing are texts as they may leave: redacted, and cut to so many bytes. Servers
// refuse an empty one.
func (s *server) outgoing(texts []string, most int) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if s.Redact != nil {
			text = s.Redact(text)
		}
		if out[i] = clip(text, most); strings.TrimSpace(out[i]) == "" {
			out[i] = "-"
		}
	}
	return out
}

// clip cuts a text to so many bytes, at the end of a character.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// name is the SHA-256, in hex, of all that settles an answer.
func (s *server) name(purpose, identity string, texts ...string) string {
	h := sha256.New()
	for _, t := range append([]string{purpose, identity, s.Style}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// count is a number that a server reported, from 0 to a bound: a hostile report costs
// no more than what was set aside.
func count(reported float64, most int64) int64 {
	if !(reported > 0) {
		return 0
	}
	return int64(min(math.Ceil(reported), float64(most)))
}
