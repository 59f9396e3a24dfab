package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// Key returns the SHA-256, in hex, of a reviewer's identity and the file. An identity covers
// everything about a reviewer that can change its result.
func Key(identity string, f diff.File) string {
	return Hash(identity, f.Path, f.OldPath, string(f.Status), f.Patch)
}

// protocol is incremented when the same answers are requested or read in another way.
const protocol = "3"

// Key covers the prompts, the models, the tools, the guides and the limits of a conversation. It
// does not cover what the tools would find, the text around the change, or the file's cap: a paid
// answer stays valid.
func (m *Model) Key(f diff.File) string {
	packTokens := m.PackTokens
	if m.Pack == nil {
		packTokens = 0
	}
	identity := []string{protocol, prompt.Fingerprint(), fmt.Sprint(m.limit(), m.Limits, m.Head != nil, packTokens)}
	for _, c := range []Chatter{m.Options.Review, m.Verify, m.Classify} {
		name := ""
		if c != nil {
			name = c.Identity()
		}
		identity = append(identity, name)
	}
	identity = append(identity, m.Guides.Language, Hash(m.Guides.guidelines(f.Path)...))
	for _, d := range m.Guides.instructions(f.Path) {
		identity = append(identity, Hash("instructions", d.Path, d.Text))
	}
	if m.Guides.Pages != nil {
		identity = append(identity, Hash("pages", m.Guides.PagesDigest))
	}
	if m.Guides.Style {
		identity = append(identity, "style")
	}
	if said := m.linters(f.Path); len(said) > 0 {
		identity = append(identity, Hash(append([]string{"linters"}, said...)...))
	}
	for _, t := range m.Tools.Offers() {
		identity = append(identity, Hash("tool", t.Name, t.Description, string(t.Schema)))
	}
	return Key(Hash(identity...), f)
}

// Hash returns the SHA-256, in hex, of texts, each prefixed with its length.
func Hash(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The tasks for which a model is called, as recorded in finding.Call.
const (
	classifying = "classify"
	reviewing   = "review"
	redrafting  = "redraft"
	asking      = "again"
	repairing   = "repair"
	verifying   = "verify"
	overviewing = "overview"
	judging     = "criteria"
)

// The output limits of one call, reasoning included; a label is one word.
const (
	defaultTokens = 16_384
	labelTokens   = 4_096
)

// limit returns the output limit of a review's or a verification's answer.
func (m *Model) limit() int { return cmp.Or(m.MaxTokens, defaultTokens) }

// question is one request. Its key covers all that the model is sent except the boundary.
type question struct {
	task     string
	key      string
	chat     Chatter
	boundary guard.Boundary              // of the conversation; empty for the first turn, which draws one
	request  llm.Request                 // without the first user's turn,
	user     func(guard.Boundary) string // which depends on the boundary
	keep     func(Recorded) Recorded     // which parts of an answer may be kept; nil for all
}

// noBoundary is the placeholder for the one that is drawn.
const noBoundary = guard.Boundary("00000000000000000000000000000000")

// request returns what all requests of a task about the file have in common.
func (t *task) request(about prompt.Task) llm.Request {
	return llm.Request{System: about.System, SchemaName: about.SchemaName, Schema: about.Schema, MaxTokens: t.limit(),
		Effort: t.depth.effort}
}

// ask makes one call, unless its answer is known, and adds it to the file's account. A billed call
// is not an error, however poor the answer.
func (t *task) ask(ctx context.Context, q question) (Recorded, error) {
	var said Recorded
	var failure error
	asked := false
	r, err := t.once(ctx, q.key, func(ctx context.Context) (Recorded, error) {
		asked = true
		said, failure = t.call(ctx, q)
		return said, failure
	})
	switch {
	case failure != nil:
		r, err = said, failure
	case err != nil:
		r, err = said, &notKeptError{fmt.Errorf("keeping an answer: %w", err)}
	case !asked: // charge the file's cap too, so that the conversation takes the same course
		budget.Charge(ctx, r.Usage.Cost)
	}
	t.note(q.task, r)
	return r, err
}

// note adds a call to the file's account. A call that was not billed is ignored.
func (t *task) note(what string, r Recorded) {
	t.out.Usage = cost.Add(t.out.Usage, r.Usage)
	if r.Usage == (cost.Usage{}) && r.Text == "" && len(r.Calls) == 0 {
		return
	}
	t.out.Calls = append(t.out.Calls, finding.Call{
		Task: what, Part: t.part, Model: r.Model, Finish: r.Finish, Seconds: r.Seconds, Usage: r.Usage,
	})
}

func (m *Model) once(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error) {
	if m.Once == nil {
		return do(ctx)
	}
	return m.Once(ctx, key, do)
}

func (t *task) call(ctx context.Context, q question) (Recorded, error) {
	b := q.boundary
	if b == "" {
		var err error
		if b, err = guard.NewBoundary(t.Random, q.user(noBoundary)); err != nil {
			return Recorded{}, err
		}
	}
	q.request.User = q.user(b)
	began := t.Now()
	answer, err := q.chat.Chat(ctx, q.request)
	for i, c := range answer.ToolCalls {
		answer.ToolCalls[i].Arguments = t.Redact.Redact(c.Arguments)
	}
	r := Recorded{
		Boundary: b, Text: t.Redact.Redact(answer.Text), Calls: answer.ToolCalls, State: answer.State,
		Usage: answer.Usage,
		Model: answer.Model, Finish: answer.Finish, Seconds: t.Now().Sub(began).Seconds(),
	}
	if r.Ended = Ending(err); r.Ended != "" {
		err = nil
	}
	if q.keep != nil {
		r = q.keep(r)
	}
	return r, err
}

// endings maps the names under which they are kept to the errors of calls that are billed
// nevertheless.
var endings = map[string]error{"truncated": llm.ErrTruncated, "refused": llm.ErrRefused, "empty": llm.ErrEmpty}

// Ending returns the name, as in Recorded, of how a call ended that was billed without a complete
// answer, or "" for any other error.
func Ending(err error) string {
	for name, known := range endings {
		if errors.Is(err, known) {
			return name
		}
	}
	return ""
}
