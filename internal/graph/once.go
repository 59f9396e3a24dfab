package graph

import (
	"context"
	"errors"
	"sync"
)

// taskJournal is what a running task has in the journal before it is done: the
// answers it paid for. Append writes a record of the task.
type taskJournal struct {
	append func(Record) error

	mu      sync.Mutex
	answers map[string]*answer
	refused error // by the store: the task has no result then, whatever it returns
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
	a := j.answer(key)
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
	if err == nil {
		err = j.note(Record{Answer: key, Value: value})
	}
	if err != nil {
		return *new(T), err
	}
	a.value = value
	return decode[T](value)
}

func (j *taskJournal) answer(key string) *answer {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.answers[key] == nil {
		j.answers[key] = &answer{}
	}
	return j.answers[key]
}

// note appends a record, and remembers if the store refused it.
func (j *taskJournal) note(r Record) error {
	err := j.append(r)
	if errors.Is(err, errNotKept) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.refused = err
	}
	return err
}

// refusal is the error of a store that did not keep one of the task's records.
func (j *taskJournal) refusal() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refused
}
