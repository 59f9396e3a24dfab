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
	"sync"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
)

// server is one endpoint, and whether it is still asked.
type server struct {
	what, style, model string
	url, key, owner    string
	azure              bool
	http               *http.Client
	redact             func(string) string
	ask                Ask
	onLost             func(*LostError)

	mu   sync.Mutex
	lost *LostError
}

// identity names the model, and whose it is where that is not its vendor.
func (s *server) identity() string { return s.model + s.owner }

// off is why the server is not asked any more; nil while it is.
func (s *server) off() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		return nil
	}
	return s.lost
}

// failed keeps a failure that the next call would have too. The end of the caller's
// time and of the money is none.
func (s *server) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, cost.ErrSpent) || errors.Is(err, cost.ErrFileSpent) {
		return err
	}
	s.mu.Lock()
	first := s.lost == nil
	if first {
		s.lost = &LostError{s.what, err}
	}
	lost := s.lost
	s.mu.Unlock()
	if first && s.onLost != nil {
		s.onLost(lost)
	}
	return lost
}

// call asks, or takes what was paid before.
func (s *server) call(ctx context.Context, key string, most cost.Usage,
	do func(context.Context) (Answer, error)) (Answer, error) {
	if s.ask == nil {
		return do(ctx)
	}
	return s.ask(ctx, key, most, do)
}

// post sends a request and reads the answer, of at most limit bytes, into a value.
func (s *server) post(ctx context.Context, request, into any, limit int64) error {
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
	case s.key == "":
	case s.azure:
		req.Header.Set("Api-Key", s.key)
	default:
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := s.http.Do(req)
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
	if len(s.key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, s.key, "***")
}

// outgoing are texts as they may leave: redacted, and cut to so many bytes. Servers
// refuse an empty one.
func (s *server) outgoing(texts []string, most int) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if s.redact != nil {
			text = s.redact(text)
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

// key is the SHA-256, in hex, of texts.
func key(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
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
