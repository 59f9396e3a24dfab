package graph

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Store keeps one snapshot per thread, and a journal of the tasks that finished
// since. Its methods may be called concurrently. Neither side changes a byte slice
// after it was handed over. Data is written in parts, which saves copying large
// values, and is loaded whole. No value is longer than 256 MiB, and no record empty.
type Store interface {
	// Load returns the thread's data, or an error that is ErrNoThread, or ErrSnapshot
	// if the data is damaged.
	Load(ctx context.Context, thread string) (Saved, error)
	// Save replaces the snapshot atomically and drops the journal. A journal
	// that survives is harmless: its records name their superstep.
	Save(ctx context.Context, thread string, snapshot ...[]byte) error
	// Append adds one record, which is durable when Append returns. Concurrent calls
	// may share one commit.
	Append(ctx context.Context, thread string, record ...[]byte) error
	// Lock keeps other runs off a thread, including those of other processes, until
	// release is called or the process has ended, which a server may notice later. The
	// holder sees what earlier holders wrote. The thread need not exist. Lock does not
	// wait: if the lock is held, the error is ErrBusy and names the thread and, if known,
	// the holder, as "this process" or by process number.
	Lock(ctx context.Context, thread string) (release func() error, err error)
}

// Saved is the stored data of a thread. Journal is in the order of appending.
type Saved struct {
	Snapshot []byte
	Journal  [][]byte
}

// Memory is a Store that lives as long as the process.
type Memory struct {
	mu      sync.Mutex
	threads map[string]Saved
	locked  map[string]bool
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{threads: map[string]Saved{}, locked: map[string]bool{}} }

// Load returns what was saved, or ErrNoThread.
func (m *Memory) Load(_ context.Context, thread string) (Saved, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.threads[thread]
	if !ok {
		return Saved{}, fmt.Errorf("%w: %q", ErrNoThread, thread)
	}
	s.Journal = slices.Clip(s.Journal) // so that the caller's appends do not overwrite ours
	return s, nil
}

// Save replaces the snapshot and drops the journal.
func (m *Memory) Save(_ context.Context, thread string, snapshot ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.threads[thread] = Saved{Snapshot: slices.Concat(snapshot...)}
	return nil
}

// Append adds a record to the journal of a saved thread, or returns ErrNoThread.
func (m *Memory) Append(_ context.Context, thread string, record ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.threads[thread]
	if !ok {
		return fmt.Errorf("%w: %q", ErrNoThread, thread)
	}
	s.Journal = append(s.Journal, slices.Concat(record...))
	m.threads[thread] = s
	return nil
}

// Lock keeps other runs of this process off a thread.
func (m *Memory) Lock(_ context.Context, thread string) (release func() error, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[thread] {
		return nil, fmt.Errorf("%w: %q, in this process", ErrBusy, thread)
	}
	m.locked[thread] = true
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locked, thread)
		return nil
	}, nil
}
