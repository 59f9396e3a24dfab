// Package artifactstore keeps a thread in memory and uploads it as partial
// checkpoints while it runs, so that after a runner died the next attempt of the
// job resumes from what was paid for.
//
// It neither packs nor checks anything: package checkpoint defines partials and
// when they are trusted. It never ends a run or makes it wait. Start reading at
// Options and New; Carrier is where partials go.
package artifactstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/graph"
)

const (
	firstInterval = 30 * time.Second
	lastInterval  = 30 * time.Minute
)

// Options says where progress is stored, in which form, and how often.
type Options struct {
	// Carriers receive each partial concurrently, and fail independently.
	Carriers []Carrier
	// Pack returns the n-th partial, from 1, of the thread's stored data. After an error the run goes
	// on, and what was uploaded before stays.
	Pack func(saved graph.Saved, n int) (name string, zip []byte, err error)
	// Interval is the time from the first write to the first upload, 30 s if zero. It
	// doubles with each upload, up to half an hour. If negative, nothing is uploaded.
	Interval time.Duration
	// OnError receives errors of uploads, from other goroutines.
	OnError func(error)
}

// Store is a graph.Store in memory. It uploads the first thread that is saved or
// primed; others stay in memory. Its locks work within one process: the
// workflow's concurrency group keeps other runners off.
type Store struct {
	*graph.Memory
	options Options
	lanes   []*lane

	mu        sync.Mutex
	thread    string // empty until one is saved or primed
	closed    bool
	changes   int // number of writes to the thread so far
	ticking   context.CancelFunc
	ended     chan struct{}      // closed when tick returns
	interrupt context.CancelFunc // cancels the current upload; nil if there is none or it is the last
	uploading int                // the changes that the current upload contains

	turn    chan struct{} // held during an upload; guards the fields below
	number  int           // number of the newest partial
	carried int           // number of changes that are stored
}

// New returns an empty store. It starts no goroutine before the first write.
// Close it.
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

// Prime fills an empty store with what an earlier attempt left: its partial with
// this number and name. Numbering continues from there, and the next partial
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
	s.thread, s.number = thread, number
	for _, l := range s.lanes {
		l.newest = name
	}
	return nil
}

// Save replaces the snapshot and drops the journal.
func (s *Store) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	err := s.Memory.Save(ctx, thread, snapshot...)
	if err == nil {
		s.noteChange(ctx, thread)
	}
	return err
}

// Append adds a record to the journal of a saved thread. Only this process has
// the record until the next upload.
func (s *Store) Append(ctx context.Context, thread string, record ...[]byte) error {
	err := s.Memory.Append(ctx, thread, record...)
	if err == nil {
		s.noteChange(ctx, thread)
	}
	return err
}

// noteChange starts the periodic uploads with the first write. Cancelling the run
// must not cancel its last upload, so only Close ends them.
func (s *Store) noteChange(ctx context.Context, thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.thread = cmp.Or(s.thread, thread); thread != s.thread {
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
	for wait := s.options.Interval; ; wait = max(wait, min(2*wait, lastInterval)) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if err := s.upload(ctx, false); err != nil && !errors.Is(err, context.Canceled) {
			s.options.OnError(err)
		}
	}
}

// Flush uploads at once what was written since the last upload, and returns when
// it is stored or the context ends. It interrupts an upload that lacks some of
// that.
func (s *Store) Flush(ctx context.Context) error {
	s.mu.Lock()
	if s.interrupt != nil && s.uploading < s.changes {
		s.interrupt()
	}
	s.mu.Unlock()
	return s.upload(ctx, true)
}

// upload packs one partial and passes it to every carrier. It returns an error if
// any carrier failed; the changes count as stored if any carrier succeeded.
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
	took, err := s.putAll(ctx, name, zip, last)
	if took {
		s.carried = changes
	}
	return err
}

// begin registers an upload and returns what it has to contain. The last upload
// cannot be interrupted.
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

// putAll stores a partial with all carriers concurrently, because a shutdown leaves
// too little time for one after the other.
func (s *Store) putAll(ctx context.Context, name string, zip []byte, last bool) (took bool, err error) {
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

// Close stops the uploads. whole means that the thread is now stored as a
// complete draft, so that its partials are deleted.
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
