package graph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// taskJournal is what a running task has in the journal before it is done: the
// answers it paid for, by key. Note writes a record of the task.
type taskJournal struct {
	note    func(Record) error
	answers sync.Map              // string to *answer
	refused atomic.Pointer[error] // by the store: the task has no result then, whatever it returns
}

// answer is one key's value as JSON, nil until there is one. The lock is held
// by whoever is paying for it.
type answer struct {
	paying sync.Mutex
	value  []byte
}

type taskKey struct{}

// Once pays for an answer once in a task's life, also when the process dies in
// the middle of the task: the value of do is in the journal before Once returns
// it, and a run that goes on is given it without a call. Key names the answer
// within the task, by a hash of all that do depends on. Calls with one key wait
// for each other and get the first value, as its JSON is read back; an error
// of do is not kept. Where ctx is of no task, Once is do.
func Once[T any](ctx context.Context, key string, do func(context.Context) (T, error)) (T, error) {
	j, ok := ctx.Value(taskKey{}).(*taskJournal)
	if !ok {
		return do(ctx)
	}
	if key == "" {
		return *new(T), errors.New("an answer that is to be paid for once needs a key")
	}
	kept, _ := j.answers.LoadOrStore(key, &answer{})
	a := kept.(*answer)
	a.paying.Lock()
	defer a.paying.Unlock()
	if v, err := decode[T](a.value); err == nil {
		return v, nil // else there is none, or one of another type
	}
	v, err := do(ctx)
	if err != nil {
		return v, err
	}
	value, err := encode(&v)
	if err != nil {
		return *new(T), err
	}
	data := value.join()
	if err := j.note(Record{Answer: key, Value: data}); err != nil {
		return *new(T), err
	}
	a.value = data
	return decode[T](data)
}

// Doing notes what a task under way is at, so that Inspect tells it while the task
// runs, in other processes too. It replaces what the task noted before. Where ctx is
// of no task it does nothing. The error is the store's.
func Doing(ctx context.Context, what ...string) error {
	j, ok := ctx.Value(taskKey{}).(*taskJournal)
	if !ok || len(what) == 0 {
		return nil
	}
	return j.note(Record{Doing: what})
}

// refusal is the error of a store that did not keep one of the task's records.
func (j *taskJournal) refusal() error {
	if err := j.refused.Load(); err != nil {
		return *err
	}
	return nil
}
