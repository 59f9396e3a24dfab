package pgstore

import (
	"context"
	"slices"
	"sync"
)

// maxCommit bounds the records of one commit, in bytes. A single record may be longer.
const maxCommit = 64 << 20

// queue collects the records of a thread that wait for the current commit to end.
type queue struct {
	writing sync.Mutex // held by the caller that writes a commit for all
	next    *commit    // guarded by the store's mutex
}

// commit is a single insert of several records.
type commit struct {
	records [][]byte
	size    int
	done    chan struct{} // closed when err is known
	err     error
}

// Append adds a record to the journal of a saved thread; it is durable when
// Append returns. Calls during a commit share the next one. After an error the
// record may or may not be kept, but earlier ones are.
func (s *Store) Append(ctx context.Context, thread string, record ...[]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q, c, first := s.joinCommit(thread, slices.Concat(record...))
	if !first {
		<-c.done
		return c.err
	}
	q.writing.Lock()
	defer q.writing.Unlock()
	s.mu.Lock()
	if q.next == c {
		q.next = nil
	}
	s.mu.Unlock()
	defer close(c.done)
	c.err = s.insert(ctx, thread, c.records)
	return c.err
}

// joinCommit adds a record to the next commit of its thread. The caller that gets first
// writes that commit.
func (s *Store) joinCommit(thread string, record []byte) (q *queue, c *commit, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q = s.queues[thread]; q == nil {
		q = &queue{}
		s.queues[thread] = q
	}
	if q.next == nil || q.next.size+len(record) > maxCommit {
		q.next, first = &commit{done: make(chan struct{})}, true
	}
	q.next.records = append(q.next.records, record)
	q.next.size += len(record)
	return q, q.next, first
}

func (s *Store) insert(ctx context.Context, thread string, records [][]byte) error {
	rows, err := s.write(context.WithoutCancel(ctx), "journalling", thread, `
		INSERT INTO pr_review.record (thread, data)
		SELECT t.number, r.data FROM pr_review.thread t, unnest($3::bytea[]) WITH ORDINALITY r (data, n)
		WHERE t.id = $1 AND pr_review.held($2) ORDER BY r.n`, records)
	if err == nil && rows == 0 {
		return s.noThread(thread)
	}
	return err
}
