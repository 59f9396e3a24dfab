package reviewpr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
)

// Asked is what was asked for, as far as it may leave the job: the descriptions of tickets
// and the texts of pages, which nothing behind the reviews needs, are not in it.
type Asked struct {
	Context ticket.Context `json:"context,omitzero"`
	Show    ticket.Show    `json:"show,omitzero"`
	// names the context's text in keys of what was paid; too short to confirm a guess of it
	Digest string `json:"digest,omitzero"`
}

// inFull is the context in the memory of this job: in full, and nowhere else. A process
// that goes on with a run fetches it again.
type inFull struct {
	once sync.Once
	got  ticket.Context
}

// context fetches what was asked for. A source that fails costs itself alone: what is
// missing is named, and the review goes on.
func (r *run) context(ctx context.Context, s State) (State, error) {
	if !r.asks(s) {
		return s, nil
	}
	r.full.once.Do(func() { r.full.got = r.Context(ctx, s) })
	if ctx.Err() != nil {
		r.full.once = sync.Once{} // cut short: it is fetched when the run goes on
		return s, ctx.Err()
	}
	show := r.Show
	if s.Pull != nil {
		show = s.Draft.Config.Context.Shows(s.Pull.Private)
	}
	s.Asked = Asked{Context: r.full.got.Shown(show).Mapped(ticket.Ticket.Undescribed), Show: show,
		Digest: digest(r.full.got)}
	r.teach(s, r.full.got)
	return s, nil
}

// asks reports whether the repository names a source of context for this change.
func (r *run) asks(s State) bool {
	named := s.Pull != nil && len(s.Draft.Config.Context.Sources) > 0
	return r.Context != nil && (named || s.Pull == nil && r.Show != "")
}

// remember is the context in full, fetched again where another process fetched it first.
func (r *run) remember(ctx context.Context, s State) ticket.Context {
	if s.Asked.Digest == "" || !r.asks(s) {
		return ticket.Context{}
	}
	r.full.once.Do(func() {
		r.full.got = r.Context(ctx, s)
		r.teach(s, r.full.got)
	})
	return r.full.got
}

// teach gives the reviewer of files the pages, where its words may have read them.
func (r *run) teach(s State, c ticket.Context) {
	if r.Learn != nil && s.Asked.Show != ticket.ShowKey && len(s.Asked.Context.Pages) > 0 {
		r.Learn(review.Pages(c), s.Asked.Digest)
	}
}

// digest is 32 bits over the texts of a context; "" where there is none.
func digest(c ticket.Context) string {
	if c.Empty() {
		return ""
	}
	text, _ := json.Marshal([]any{c.Tickets, c.Pages}) // plain values: it cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
