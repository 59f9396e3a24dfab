package budget

import (
	"context"
	"sync"

	"github.com/org/pr-review-action/internal/cost"
)

// Meter adds up what the calls of a context used beside those of its own model, such
// as the searches of a file's review. It may be used from many goroutines.
type Meter struct {
	mu   sync.Mutex
	used cost.Usage
}

type meterKey struct{}

// Metered returns a context whose Count goes to a new meter.
func Metered(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Count adds a usage to the context's meter. Without one nothing happens.
func Count(ctx context.Context, u cost.Usage) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.used = cost.Add(m.used, u)
	}
}

// Used is what was counted so far.
func (m *Meter) Used() cost.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}
