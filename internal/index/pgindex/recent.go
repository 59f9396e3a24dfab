package pgindex

import "sync"

// recent is what was read from the database of late: one question looks at the same
// chunks and words several times, and an index there never changes.
type recent[K comparable, V any] struct {
	mu   sync.Mutex
	held map[K]V
	room int // values that are held before all are let go
}

// get gives the values of keys, and reads those that are not held. What is read may
// lack some.
func (r *recent[K, V]) get(keys []K, read func(missing []K) (map[K]V, error)) (map[K]V, error) {
	all, missing := map[K]V{}, []K(nil)
	r.mu.Lock()
	for _, key := range keys {
		if v, ok := r.held[key]; ok {
			all[key] = v
		} else {
			missing = append(missing, key)
		}
	}
	r.mu.Unlock()
	if len(missing) == 0 {
		return all, nil
	}
	more, err := read(missing)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil || len(r.held)+len(more) > r.room {
		r.held = map[K]V{}
	}
	for key, v := range more {
		all[key], r.held[key] = v, v
	}
	return all, nil
}
