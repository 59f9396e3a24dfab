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

// Key is the SHA-256, in hex, over who reviews and what. An identity names all
// of a reviewer that can change its result.
func Key(identity string, f diff.File) string {
	return Hash(identity, f.Path, f.OldPath, string(f.Status), f.Patch)
}

// protocol rises when the same answers are asked for or read in another way.
const protocol = "3"

// Key covers the prompts, the models, the tools, the guides and the limits of a
// conversation. What the tools would find, and the text around the change, are not
// in it, nor is the file's cap: an answer that was paid stays one.
func (m *Model) Key(f diff.File) string {
	identity := []string{protocol, prompt.Fingerprint(), fmt.Sprint(m.limit(), m.Limits, m.Head != nil, m.packTokens())}
	for _, c := range []Chatter{m.Options.Review, m.Verify, m.Classify} {
		name := ""
		if c != nil {
			name = c.Identity()
		}
		identity = append(identity, name)
	}
	identity = append(identity, m.Guides.Language, Hash(m.Guides.guidelines(f.Path)...))
	for _, d := range m.Guides.Instructions {
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

// packTokens is 0 where there is nothing to make packs of.
func (m *Model) packTokens() int {
	if m.Pack == nil {
		return 0
	}
	return m.PackTokens
}

// Hash is the SHA-256, in hex, over texts of which none can pass into the next.
func Hash(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The tasks that a model is asked for, as finding.Call names them.
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

// The bounds of the output of one call, reasoning included; a label is a word.
const (
	defaultTokens = 16_384
	labelTokens   = 4_096
)

// limit is the bound of a review's or a verification's answer.
func (m *Model) limit() int { return cmp.Or(m.MaxTokens, defaultTokens) }

// question is one request. Its key stands for what the model is sent but the boundary.
type question struct {
	task     string
	key      string
	chat     Chatter
	boundary guard.Boundary              // of the conversation; empty for its first turn, where one is drawn
	request  llm.Request                 // without the first user's turn,
	user     func(guard.Boundary) string // which belongs to the boundary
	keep     func(Recorded) Recorded     // what of an answer may be kept; nil for all of it
}

// noBoundary stands for the one that is drawn.
const noBoundary = guard.Boundary("00000000000000000000000000000000")

// request is what all requests of one kind about the file have in common.
func (t *task) request(about prompt.Task) llm.Request {
	return llm.Request{System: about.System, SchemaName: about.SchemaName, Schema: about.Schema, MaxTokens: t.limit(),
		Effort: t.depth.effort}
}

// ask makes one call, unless its answer is known, and counts it. What was billed
// is no error, whatever the answer is worth.
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
	case !asked: // it counts against the file's cap all the same, so that the conversation takes the same course
		budget.Charge(ctx, r.Usage.Cost)
	}
	t.note(q.task, r)
	return r, err
}

// note adds a call to the account of the file. One that was not billed is none.
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
	r := Recorded{
		Boundary: b, Text: t.Redact.Redact(answer.Text), Calls: t.bare(answer.ToolCalls), State: answer.State,
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

func (t *task) bare(calls []llm.Call) []llm.Call {
	for i := range calls {
		calls[i].Arguments = t.Redact.Redact(calls[i].Arguments)
	}
	return calls
}

// endings are the errors with which a call is billed all the same, under the names by which
// they are kept.
var endings = map[string]error{"truncated": llm.ErrTruncated, "refused": llm.ErrRefused, "empty": llm.ErrEmpty}

// Ending names how a call ended that was billed without a whole answer, as Recorded
// has it; "" for any other error.
func Ending(err error) string {
	for name, known := range endings {
		if errors.Is(err, known) {
			return name
		}
	}
	return ""
}
