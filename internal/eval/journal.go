package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	strict "github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/review"
)

// Exchange is one question to a model, and the answer. All of it is untrusted
// text. Seconds is the time that the answer took.
type Exchange struct {
	Key     string          `json:"key"`
	About   string          `json:"about"` // the reviewed file, or the finding judged
	System  string          `json:"system"`
	User    string          `json:"user"`
	Answer  review.Recorded `json:"said"`
	Seconds float64         `json:"seconds"`
}

// journal keeps the exchanges about one case, each on disk before it is used: an
// interrupted or repeated run pays for none of them twice (P4). It holds no
// questions in memory, as they are long.
type journal struct {
	store  *filestore.Store
	thread string
	onLoss func(error) // called if a paid answer could not be stored

	mu    sync.Mutex
	saved bool // the thread exists in the store
	known map[string]Exchange
	list  []Exchange
}

// openJournal opens a thread of the journal in dir, with the exchanges of earlier runs.
func openJournal(ctx context.Context, dir, thread string) (*journal, error) {
	store, err := filestore.New(dir)
	if err != nil {
		return nil, err
	}
	release, err := store.Lock(ctx, thread) // syncs to disk what a killed run has written
	if err != nil {
		return nil, err
	}
	list, err := exchanges(ctx, store, thread)
	j := &journal{store: store, thread: thread, saved: len(list) > 0, known: map[string]Exchange{}}
	for _, e := range list {
		j.add(e)
	}
	return j, errors.Join(err, release(), store.Close())
}

func (j *journal) add(e Exchange) {
	e.System, e.User = "", ""
	j.known[e.Key] = e
	j.list = append(j.list, e)
}

// close releases the files that are open for writing. A later write opens them again.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.store.Close()
}

// exchanges returns what a thread has, which is nothing as long as there is no such thread.
func exchanges(ctx context.Context, store *filestore.Store, thread string) (list []Exchange, err error) {
	saved, err := store.Load(ctx, thread)
	if err != nil && !errors.Is(err, graph.ErrNoThread) {
		return nil, err
	}
	for i, record := range saved.Journal {
		var e Exchange
		if err := strict.Unmarshal(record, &e, strict.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("the journal of %s in %s is damaged at record %d: %w", thread, store.Where(), i+1,
				err)
		}
		list = append(list, e)
	}
	return list, nil
}

type exchangeKey struct{}

type aboutKey struct{}

func withAbout(ctx context.Context, what string) context.Context {
	return context.WithValue(ctx, aboutKey{}, what)
}

// once is the review.Once of the case: it returns a known answer without asking again.
func (j *journal) once(ctx context.Context, key string,
	do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
	j.mu.Lock()
	e, known := j.known[key]
	j.mu.Unlock()
	if known {
		return e.Answer, nil
	}
	e = Exchange{Key: key}
	e.About, _ = ctx.Value(aboutKey{}).(string)
	said, err := do(context.WithValue(ctx, exchangeKey{}, &e))
	if err != nil {
		return said, err
	}
	e.Answer = said
	err = j.keep(context.WithoutCancel(ctx), e)
	if err != nil {
		j.onLoss(err)
	}
	return said, err
}

// keep stores an exchange, and creates the thread for the first one. A paid answer is kept
// even if the run was cancelled.
func (j *journal) keep(ctx context.Context, e Exchange) error {
	record, err := json.Marshal(e)
	if err == nil {
		err = j.createThread(ctx)
	}
	if err == nil {
		err = j.store.Append(ctx, j.thread, record)
	}
	if err != nil {
		return fmt.Errorf("keeping an answer: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
	return nil
}

func (j *journal) createThread(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.saved {
		return nil
	}
	err := j.store.Save(ctx, j.thread, []byte("{}"))
	j.saved = err == nil
	return err
}

// exchanges returns the exchanges so far, in the order of the answers.
func (j *journal) exchanges() []Exchange {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}
