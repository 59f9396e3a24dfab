package graph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// taskJournal is the journal of a running task. Answers holds what the task has
// paid for so far, by key; write writes a record of the task.
type taskJournal struct {
	write   func(Record) error
	answers sync.Map              // string to *answer
	refused atomic.Pointer[error] // error of the store; the task then has no result, whatever it returns
}

// answer is the JSON value of one key, nil until there is one. Paying is locked
// while the value is being computed.
type answer struct {
	paying sync.Mutex
	value  []byte
}

type taskKey struct{}

// Once calls do at most once in a task's life, even if the process dies in the
// middle of the task: the value is journaled before Once returns it, and a
// resumed run gets it without a call. Key identifies the answer within the task;
// make it a hash of everything do depends on. Concurrent calls with one key wait
// for each other and return the first value, decoded from its JSON. An error of
// do is not kept. Outside a task Once just calls do.
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
		return v, nil // otherwise there is none, or it has another type
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
	if err := j.write(Record{Answer: key, Value: data}); err != nil {
		return *new(T), err
	}
	a.value = data
	return decode[T](data)
}

// Doing records what a running task is working on, for Inspect to report, also in
// other processes. It replaces the task's previous note. Outside a task it does
// nothing. The error is the store's.
func Doing(ctx context.Context, what ...string) error {
	j, ok := ctx.Value(taskKey{}).(*taskJournal)
	if !ok || len(what) == 0 {
		return nil
	}
	return j.write(Record{Doing: what})
}

// refusal returns the store's error if it refused one of the task's records.
func (j *taskJournal) refusal() error {
	if err := j.refused.Load(); err != nil {
		return *err
	}
	return nil
}
