package reviewpr

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
)

// Asked is the context of a change, reduced to what may leave the job. It omits ticket
// descriptions and page texts, which nothing after the reviews needs.
type Asked struct {
	Context ticket.Context `json:"context,omitzero"`
	Show    ticket.Show    `json:"show,omitzero"`
	// identifies the context's text in the keys of paid results; too short to confirm a guess of it
	Digest string `json:"digest,omitzero"`
}

// fullContext holds the full context, in the memory of this job only. A process that resumes
// a run fetches it again.
type fullContext struct {
	once sync.Once
	got  ticket.Context
}

// context fetches the context of the change. A failing source does not stop the
// review: what it lacks is listed as missing.
func (r *run) context(ctx context.Context, s State) (State, error) {
	if !r.wantsContext(s) {
		return s, nil
	}
	r.full.once.Do(func() { r.full.got = r.Context(ctx, s) })
	if ctx.Err() != nil {
		r.full.once = sync.Once{} // interrupted: fetched again when the run resumes
		return s, ctx.Err()
	}
	show := r.Show
	if s.Pull != nil {
		show = s.Draft.Config.Context.Shows(s.Pull.Private)
	}
	s.Asked = Asked{Context: r.full.got.Shown(show).Mapped(ticket.Ticket.Undescribed), Show: show,
		Digest: digest(r.full.got)}
	r.addPages(s, r.full.got)
	return s, nil
}

// wantsContext reports whether the settings name a source of context for this change.
func (r *run) wantsContext(s State) bool {
	named := s.Pull != nil && len(s.Draft.Config.Context.Sources) > 0
	return r.Context != nil && (named || s.Pull == nil && r.Show != "")
}

// loadContext returns the full context, and fetches it again if another process fetched it first.
func (r *run) loadContext(ctx context.Context, s State) ticket.Context {
	if s.Asked.Digest == "" || !r.wantsContext(s) {
		return ticket.Context{}
	}
	r.full.once.Do(func() {
		r.full.got = r.Context(ctx, s)
		r.addPages(s, r.full.got)
	})
	return r.full.got
}

// addPages gives the pages to the file reviewer, unless only the tickets' keys may be shown.
func (r *run) addPages(s State, c ticket.Context) {
	if r.Learn != nil && s.Asked.Show != ticket.ShowKey && len(s.Asked.Context.Pages) > 0 {
		r.Learn(review.Pages(c), s.Asked.Digest)
	}
}

// digest returns 32 bits, in hex, of a hash of a context's texts; "" for an empty context.
func digest(c ticket.Context) string {
	if c.Empty() {
		return ""
	}
	text, _ := json.Marshal([]any{c.Tickets, c.Pages}) // plain values: cannot fail
	return checkpoint.Digest(text)[:8]
}
