package ticketcontext

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// request is a ticket or page to fetch, and the outcome.
type request struct {
	kind    ticket.Kind
	id      string
	result  *ticket.Ticket
	links   []ticket.PageID
	reports []ticket.SourceReport // of each source that was asked
}

// read asks the sources that serve this kind of request in turn, until one returns what is asked for.
func (w *request) read(ctx context.Context, o Options) {
	for _, s := range o.Sources {
		reader := s.reader(w.kind, w.id)
		if reader == nil || w.result != nil {
			continue
		}
		r := ticket.SourceReport{Source: s.Name, Kind: w.kind, ID: w.id}
		began := time.Now()
		failed := atlassian.Fail("%s", cmp.Or(s.Lacks, "was not asked, since the time for context was over"))
		if s.Lacks == "" && ctx.Err() == nil {
			failed = o.retry(ctx, func(ctx context.Context) error { return w.readFrom(ctx, reader, o) })
		}
		r.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
		if r.OK = failed == nil; r.OK {
			w.result.Source = s.Name
			if w.result.Key != w.id {
				addNote(&r, fmt.Sprintf("%s was moved and is %s now", w.id, w.result.Key))
			}
			o.sanitize(w.result, &r)
		} else {
			addNote(&r, failureSentence(s, failed, w.id))
		}
		w.reports = append(w.reports, r)
	}
}

// readFrom accepts an answer about what was asked for, or about a ticket that was moved from one of the settings'
// projects to another.
func (w *request) readFrom(ctx context.Context, read Reader, o Options) error {
	t, err := read(ctx, w.id)
	if err != nil {
		return err
	}
	from, to := ticket.Project(w.id), ticket.Project(t.Key)
	moved := from != to && slices.Contains(o.Projects, from) && slices.Contains(o.Projects, to)
	if t.Key != w.id && !moved {
		return atlassian.Fail("answered with another %s than %s", w.kind, w.id)
	}
	w.result = &t
	return nil
}

// reason says why no source returned it.
func (w *request) reason() string {
	var notes []string
	for _, r := range w.reports {
		notes = append(notes, r.Note)
	}
	return cmp.Or(strings.Join(notes, "; "), "no source gives "+w.id)
}

// followLinks reads which pages a ticket's links lead to. If they cannot be read it finds none: the ticket's own report
// says what is wrong.
func (w *request) followLinks(ctx context.Context, o Options) {
	at := slices.IndexFunc(o.Sources, func(s Source) bool { return s.Links != nil && s.Lacks == "" })
	if at < 0 || w.kind != ticket.KindTicket || strings.Contains(w.id, "#") {
		return
	}
	_ = o.retry(ctx, func(ctx context.Context) (err error) {
		w.links, err = o.Sources[at].Links(ctx, w.id)
		return err
	})
}

// failureSentence says why a source does not return a ticket or page.
func failureSentence(s Source, f *atlassian.Failure, id string) string {
	switch {
	case strings.HasPrefix(f.Note, id+" "):
		return f.Note // "PAY-123 is not visible to the Jira user"
	case s.Lacks != "":
		return id + ": " + f.Note
	case strings.Contains(f.Note, id):
		return s.Title + " " + f.Note
	}
	return id + ": " + s.Title + " " + f.Note
}

func addNote(r *ticket.SourceReport, notes ...string) {
	r.Note = strings.TrimPrefix(strings.Join(append([]string{r.Note}, notes...), "; "), "; ")
}

const (
	tries         = 3
	firstWait     = 500 * time.Millisecond
	maxRetryAfter = 10 * time.Second
)

// retry is the only rule for retrying requests for tickets and pages: three tries, each within the limit of a call,
// with waits that double and are partly random, or as long as the server asks, up to 10 s. It does not retry
// permanent failures, nor what took a whole call's time. Nothing below it repeats a request. It returns the last
// failure.
func (o Options) retry(ctx context.Context, call func(context.Context) error) *atlassian.Failure {
	sleep, jitter := o.Sleep, o.Jitter
	if sleep == nil {
		sleep = transport.Sleep
	}
	if jitter == nil {
		jitter = rand.Float64
	}
	for try := 1; ; try++ {
		failed := o.once(ctx, call)
		if failed == nil || !failed.Temporary || try == tries {
			return failed
		}
		wait := firstWait << (try - 1)
		wait = cmp.Or(failed.RetryAfter, wait/2+time.Duration(jitter()*float64(wait/2)))
		deadline, limited := ctx.Deadline()
		if wait > maxRetryAfter || limited && time.Until(deadline) < wait || sleep(ctx, wait) != nil {
			return failed
		}
	}
}

func (o Options) once(ctx context.Context, call func(context.Context) error) *atlassian.Failure {
	ctx, cancel := withLimit(ctx, o.CallLimit)
	defer cancel()
	err := call(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &atlassian.Failure{Note: "did not answer in time", Err: err}
	}
	return atlassian.Explain(err, "it", "the account")
}

// sanitize removes credentials from a ticket or page and cuts it to maxCharacters.
func (o Options) sanitize(t *ticket.Ticket, r *ticket.SourceReport) {
	clean := o.Redact
	if clean == nil {
		clean = func(text string) string { return text }
	}
	t.Summary, t.Type = clean(t.Summary), clean(t.Type)
	for i := range t.Labels {
		t.Labels[i] = clean(t.Labels[i])
	}
	left := maxCharacters
	for i := range t.Criteria {
		text := &t.Criteria[i].Text
		*text = cut(clean(*text), left, r)
		if left -= utf8.RuneCountInString(*text); *text == "" {
			t.Criteria = t.Criteria[:i]
			break
		}
	}
	t.Description = cut(clean(t.Description), maxCharacters, r)
	r.Characters = maxCharacters - left + utf8.RuneCountInString(t.Summary) + utf8.RuneCountInString(t.Description)
}

// cut shortens a text to no more than most characters, at the last end of a paragraph, otherwise of a line or word.
// The report notes it once.
func cut(text string, most int, r *ticket.SourceReport) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	kept := string(runes[:max(most, 0)])
	for _, border := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(kept, border); at > len(kept)/2 {
			kept = kept[:at]
			break
		}
	}
	if !strings.Contains(r.Note, "cut at") {
		addNote(r, fmt.Sprintf("cut at %d of %d characters", utf8.RuneCountInString(kept), len(runes)))
	}
	return kept
}
