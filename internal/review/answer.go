package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// Recorded is a paid answer as it is kept. Text is untrusted; the question is
// not in it, but for the boundary that goes on through the conversation.
type Recorded struct {
	Boundary guard.Boundary `json:"boundary"`
	Text     string         `json:"text,omitempty"`
	Ended    string         `json:"ended,omitempty"` // truncated, refused or empty; "" for a whole answer
	Usage    cost.Usage     `json:"usage"`
}

// Once gives the kept answer of a key, or lets do ask and keeps what it says. An
// error of do is passed on and not kept; any other error says that the answer
// could not be kept.
type Once func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error)

// Key is the SHA-256, in hex, over who reviews and what. An identity names all
// of a reviewer that can change its result.
func Key(identity string, f diff.File) string {
	return hash(identity, f.Path, f.OldPath, string(f.Status), f.Patch)
}

// protocol rises when the same answers are asked for or read in another way.
const protocol = "1"

// Key covers the prompts, the model and the limit of its output.
func (m *Model) Key(f diff.File) string {
	return Key(hash(protocol, prompt.Fingerprint(), m.chat.Identity(), strconv.Itoa(maxTokens)), f)
}

func hash(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// question is one turn. Its key stands for what the model is sent, the boundary
// left out.
type question struct {
	key      string
	path     string
	boundary guard.Boundary // of the conversation; empty for its first turn,
	avoid    []string       // where one is drawn that none of these texts holds
	user     turn
}

// attempt is what one call came to.
type attempt struct {
	boundary guard.Boundary
	text     string
	usage    cost.Usage
	findings []finding.Finding // those that are whole
	err      error             // why the answer is not whole; nil when it is
}

// notKeptError is an answer that could not be kept: using it would mean to pay
// for it again after a crash, so the run ends.
type notKeptError struct{ error }

func (e *notKeptError) Unwrap() error { return e.error }

// ask makes one call, unless its answer is known, and reads the answer.
func (m *Model) ask(ctx context.Context, q question) attempt {
	var said Recorded
	var failure error
	r, err := m.once(ctx, q.key, func(ctx context.Context) (Recorded, error) {
		said, failure = m.call(ctx, q)
		return said, failure
	})
	switch {
	case failure != nil:
		return attempt{usage: said.Usage, err: failure}
	case err != nil:
		return attempt{usage: said.Usage, err: &notKeptError{fmt.Errorf("keeping an answer: %w", err)}}
	}
	a := attempt{boundary: r.Boundary, text: r.Text, usage: r.Usage, err: endings()[r.Ended]}
	if a.err == nil || errors.Is(a.err, llm.ErrTruncated) {
		found, bad := decode(a.text, q.path)
		a.findings, a.err = found, cmp.Or(a.err, bad)
	}
	return a
}

func (m *Model) once(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error) {
	if m.Once == nil {
		return do(ctx)
	}
	return m.Once(ctx, key, do)
}

// endings are the errors with which a call is billed all the same, by the names
// under which they are kept.
func endings() map[string]error {
	return map[string]error{"truncated": llm.ErrTruncated, "refused": llm.ErrRefused, "empty": llm.ErrEmpty}
}

// call asks the model. What was billed is no error, whatever the answer is worth.
func (m *Model) call(ctx context.Context, q question) (Recorded, error) {
	b := q.boundary
	if b == "" {
		var err error
		if b, err = guard.NewBoundary(m.random, q.avoid...); err != nil {
			return Recorded{}, err
		}
	}
	answer, err := m.chat.Chat(ctx, llm.Request{
		System: prompt.System(), User: q.user(b),
		SchemaName: prompt.SchemaName, Schema: prompt.Schema(), MaxTokens: maxTokens,
	})
	r := Recorded{Boundary: b, Text: answer.Text, Usage: answer.Usage}
	if r.Ended = Ending(err); r.Ended != "" {
		err = nil
	}
	return r, err
}

// Ending names how a call ended that was billed without a whole answer, as Recorded
// has it; "" for any other error.
func Ending(err error) string {
	for name, ending := range endings() {
		if errors.Is(err, ending) {
			return name
		}
	}
	return ""
}
