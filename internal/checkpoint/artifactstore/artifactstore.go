// Package artifactstore keeps a thread in memory and carries it away while it
// runs, as partial checkpoints, so that the next attempt of a job whose runner
// died goes on from what was paid for.
//
// It packs nothing and checks nothing itself: what a partial is, and when it is
// trusted, is checkpoint's. It never ends a run and never makes one wait. Start
// reading at Options and New; Carrier is where partials go.
package artifactstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	firstInterval = 30 * time.Second
	lastInterval  = 30 * time.Minute
)

// ErrTooLarge is progress that no checkpoint has room for. The run goes on, and
// what was carried before stays.
var ErrTooLarge = errors.New("the progress is too large to be carried away")

// Options says where progress goes, in which form, and how often.
type Options struct {
	// Carriers are given each partial at the same time, and fail apart.
	Carriers []Carrier
	// Pack makes the n-th partial, counted from 1, of what is saved of the thread.
	Pack func(saved graph.Saved, n int) (name string, zip []byte, err error)
	// Interval is how long after the first write something is carried away, 30 s
	// when zero; it doubles each time, up to half an hour. Less than zero is never.
	Interval time.Duration
	// OnError is told what went wrong on the way, from other goroutines.
	OnError func(error)
}

// Store is a graph.Store over memory. The first thread that is saved or primed
// is carried away, others stay in memory. Its locks are for one process: what
// keeps other runners off is the workflow's concurrency group.
type Store struct {
	*graph.Memory
	options Options
	lanes   []*lane

	mu        sync.Mutex
	thread    string
	known     bool // thread is set
	closed    bool
	changes   int // writes to it so far
	ticking   context.CancelFunc
	ended     chan struct{}      // closed when the ticking is over
	interrupt context.CancelFunc // of an upload on the way, nil without one
	uploading int                // the changes that it carries

	turn    chan struct{} // held by who uploads; guards what follows
	number  int           // of the newest partial
	carried int           // changes that are stored
}

// New returns an empty store. It starts nothing before the first write, and is
// to be closed.
func New(o Options) *Store {
	o.Interval = cmp.Or(o.Interval, firstInterval)
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	s := &Store{Memory: graph.NewMemory(), options: o, turn: make(chan struct{}, 1)}
	for _, c := range o.Carriers {
		s.lanes = append(s.lanes, &lane{carrier: c})
	}
	return s
}

// Prime fills an empty store with what an earlier attempt left: its partial of
// this number and name. The numbers go on from there, and the next partial
// replaces it.
func (s *Store) Prime(ctx context.Context, thread string, saved graph.Saved, number int, name string) error {
	if err := s.Memory.Save(ctx, thread, saved.Snapshot); err != nil {
		return err
	}
	for _, record := range saved.Journal {
		if err := s.Memory.Append(ctx, thread, record); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thread, s.known, s.number = thread, true, number
	for _, l := range s.lanes {
		l.newest = name
	}
	return nil
}

// Save replaces the snapshot and drops the journal.
func (s *Store) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	err := s.Memory.Save(ctx, thread, snapshot...)
	if err == nil {
		s.changed(ctx, thread)
	}
	return err
}

// Append adds a record to the journal of a thread that was saved. It is kept by
// this process alone until it is carried away.
func (s *Store) Append(ctx context.Context, thread string, record ...[]byte) error {
	err := s.Memory.Append(ctx, thread, record...)
	if err == nil {
		s.changed(ctx, thread)
	}
	return err
}

// changed starts the ticking with the first write. A run that is cancelled must
// not take its last upload with it, so only Close ends the ticking.
func (s *Store) changed(ctx context.Context, thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.thread, s.known = thread, true
	}
	if thread != s.thread {
		return
	}
	s.changes++
	if s.ended != nil || s.closed || s.options.Interval < 0 {
		return
	}
	ctx, s.ticking = context.WithCancel(context.WithoutCancel(ctx))
	s.ended = make(chan struct{})
	go s.tick(ctx)
}

func (s *Store) tick(ctx context.Context) {
	defer close(s.ended)
	for wait := s.options.Interval; transport.Sleep(ctx, wait) == nil; wait = max(wait, min(2*wait, lastInterval)) {
		if err := s.upload(ctx, false); err != nil && !errors.Is(err, context.Canceled) {
			s.options.OnError(err)
		}
	}
}

// Flush carries away now what was written since the last time, and returns when
// it is stored or the context ends. An upload on the way that lacks something
// is broken off for it.
func (s *Store) Flush(ctx context.Context) error {
	s.mu.Lock()
	if s.interrupt != nil && s.uploading < s.changes {
		s.interrupt()
	}
	s.mu.Unlock()
	return s.upload(ctx, true)
}

// upload makes one partial and gives it to every carrier. It is an error where
// one of them failed; the changes count as carried where one took it.
func (s *Store) upload(ctx context.Context, last bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	thread, changes, some := s.begin(stop, last)
	defer s.end()
	if !some {
		return nil
	}
	saved, err := s.Load(ctx, thread)
	if err != nil {
		return err
	}
	s.number++
	name, zip, err := s.options.Pack(saved, s.number)
	if err != nil {
		return fmt.Errorf("packing the progress: %w", err)
	}
	if len(zip) > checkpoint.MaxZip {
		return fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, len(zip), checkpoint.MaxZip)
	}
	took, err := s.give(ctx, name, zip, last)
	if took {
		s.carried = changes
	}
	return err
}

// begin notes that an upload is on the way, and what it has to carry. The last
// one is not to be broken off.
func (s *Store) begin(stop context.CancelFunc, last bool) (thread string, changes int, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !last {
		s.interrupt, s.uploading = stop, s.changes
	}
	return s.thread, s.changes, s.changes > s.carried
}

func (s *Store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = nil
}

// give stores a partial with all carriers at one time: what a shutdown leaves of
// time is not enough for one after the other.
func (s *Store) give(ctx context.Context, name string, zip []byte, last bool) (took bool, err error) {
	errs := make([]error, len(s.lanes))
	var group sync.WaitGroup
	for i, l := range s.lanes {
		group.Go(func() { errs[i] = l.put(ctx, name, zip, last, s.options.OnError) })
	}
	group.Wait()
	for i, l := range s.lanes {
		took = took || errs[i] == nil && !l.closed
	}
	if err := errors.Join(errs...); err != nil {
		return took, fmt.Errorf("carrying progress away: %w", err)
	}
	return took, nil
}

// Close stops the carrying. Whole says that the thread is stored as a whole
// draft by now: the partials are then deleted.
func (s *Store) Close(ctx context.Context, whole bool) error {
	s.mu.Lock()
	stop, ended := s.ticking, s.ended
	s.closed = true
	s.mu.Unlock()
	if ended != nil {
		stop()
		<-ended
	}
	if !whole {
		return nil
	}
	var errs []error
	for _, l := range s.lanes {
		errs = append(errs, l.clear(ctx))
	}
	return errors.Join(errs...)
}
