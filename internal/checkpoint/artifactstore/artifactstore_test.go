package artifactstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const thread = "o/r#42:0123456789abcdef0123456789abcdef01234567"

// pack is a form of our own: what a partial looks like is not this room's.
func pack(saved graph.Saved, n int) (string, []byte, error) {
	zip, err := json.Marshal(saved)
	return fmt.Sprintf("pr-review-42-partial-%d", n), zip, err
}

func unpack(t *testing.T, zip []byte) (saved graph.Saved) {
	t.Helper()
	require.NoError(t, json.Unmarshal(zip, &saved))
	return saved
}

// newest is the newest partial of a carrier, as the next attempt takes it.
func newest(t *testing.T, c artifactstore.Carrier) (artifactstore.Item, graph.Saved) {
	t.Helper()
	items, err := c.List(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, items)
	zip, err := c.Get(t.Context(), items[0], checkpoint.MaxZip)
	require.NoError(t, err)
	return items[0], unpack(t, zip)
}

func open(t *testing.T, o artifactstore.Options) *artifactstore.Store {
	t.Helper()
	o.Pack = pack
	s := artifactstore.New(o)
	t.Cleanup(func() { require.NoError(t, s.Close(context.WithoutCancel(t.Context()), false)) })
	return s
}

func TestG26_ContractThroughAFolder(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Place {
		dir := artifactstore.Dir{Path: t.TempDir()}
		o := artifactstore.Options{Carriers: []artifactstore.Carrier{dir}, Interval: -1}
		first := open(t, o)
		return storetest.Place{Store: first, Reopen: func(t *testing.T, thread string) graph.Store {
			require.NoError(t, first.Flush(t.Context()))
			item, saved := newest(t, dir)
			again := open(t, o)
			require.NoError(t, again.Prime(t.Context(), thread, saved, 1, item.Name))
			return again
		}}
	})
}

// shelf is a carrier in memory that notes when it was given what.
type shelf struct {
	mu      sync.Mutex
	begun   time.Time
	names   []string
	content map[string][]byte
	most    int             // names at one time
	at      []time.Duration // of each Put
	deleted int
	fail    func(ctx context.Context, put int) error // what happens to a Put; it has a number
	stores  bool                                     // what fails is stored
	stuck   bool                                     // nothing can be deleted
}

func newShelf() *shelf { return &shelf{begun: time.Now(), content: map[string][]byte{}} }

func (s *shelf) Put(ctx context.Context, name string, zip []byte) error {
	s.mu.Lock()
	s.at = append(s.at, time.Since(s.begun))
	put, fail := len(s.at), s.fail
	s.mu.Unlock()
	var err error
	if fail != nil {
		err = fail(ctx, put)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !s.stores {
		return err
	}
	s.names, s.content[name] = append(s.names, name), zip
	s.most = max(s.most, len(s.names))
	return err
}

func (s *shelf) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted++
	if s.stuck {
		return errors.New("stuck")
	}
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
	return nil
}

func (s *shelf) List(context.Context) (items []artifactstore.Item, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Backward(s.names) {
		items = append(items, artifactstore.Item{Artifact: github.Artifact{Name: name}})
	}
	return items, nil
}

func (s *shelf) Get(_ context.Context, i artifactstore.Item, _ int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content[i.Name], nil
}

// times are when it was given something, counted from its making; most is how
// many names there were at one time.
func (s *shelf) times() (at []time.Duration, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at), s.most
}

func (s *shelf) puts() int { at, _ := s.times(); return len(at) }

func (s *shelf) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.names)
}

// run writes one record a second for so long. Here and below, sleep is inside a
// synctest bubble, whose clock leaps: no test waits.
func run(t *testing.T, s graph.Store, d time.Duration) {
	t.Helper()
	require.NoError(t, s.Save(t.Context(), thread, []byte("snapshot")))
	for i := range int(d / time.Second) {
		require.NoError(t, s.Append(t.Context(), thread, fmt.Appendf(nil, "r%d", i)))
		time.Sleep(time.Second) // of the synctest bubble's clock: no real time passes
	}
}

func TestP4_ProgressIsCarriedAwayAtGrowingIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}})
		run(t, s, 3*time.Hour)
		want := []time.Duration{30, 90, 210, 450, 930, 1890, 3690, 5490, 7290, 9090}
		for i := range want {
			want[i] *= time.Second
		}
		at, most := carrier.times()
		require.Equal(t, want, at, "doubling up to half an hour")
		require.LessOrEqual(t, most, 2)
		require.Equal(t, []string{"pr-review-42-partial-10"}, carrier.has())

		require.NoError(t, s.Flush(t.Context()))
		_, saved := newest(t, carrier)
		require.Len(t, saved.Journal, 3*3600)
		require.NoError(t, s.Flush(t.Context()))
		require.Equal(t, 11, carrier.puts(), "nothing was written since")
	})
}

func TestOnlyWhatIsNewIsCarriedAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, Interval: time.Minute})
		require.NoError(t, s.Flush(t.Context()), "there is no thread yet")
		require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
		require.NoError(t, s.Save(t.Context(), "another", []byte("stays")))
		time.Sleep(time.Hour) // of the synctest bubble's clock: no real time passes
		require.Equal(t, 1, carrier.puts())
		require.NoError(t, s.Append(t.Context(), "another", []byte("here")))
		time.Sleep(time.Hour) // of the synctest bubble's clock: no real time passes
		require.Equal(t, 1, carrier.puts())
		require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
		time.Sleep(time.Hour) // of the synctest bubble's clock: no real time passes
		require.Equal(t, 2, carrier.puts())
		_, saved := newest(t, carrier)
		require.Equal(t, "one", string(saved.Snapshot))
		require.Len(t, saved.Journal, 1)
	})
}

func TestAnEarlierAttemptsPartialIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		o := artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}}
		first := open(t, o)
		run(t, first, 40*time.Second)
		require.NoError(t, first.Close(t.Context(), false))

		item, saved := newest(t, carrier)
		second := open(t, o)
		require.NoError(t, second.Prime(t.Context(), thread, saved, 1, item.Name))
		require.NoError(t, second.Flush(t.Context()))
		require.Equal(t, []string{"pr-review-42-partial-1"}, carrier.has(), "what was primed is carried already")
		require.NoError(t, second.Append(t.Context(), thread, []byte("new")))
		time.Sleep(31 * time.Second) // of the synctest bubble's clock: no real time passes
		require.Equal(t, []string{"pr-review-42-partial-2"}, carrier.has())
		_, saved = newest(t, carrier)
		require.Equal(t, "r0", string(saved.Journal[0]))
		require.Equal(t, "new", string(saved.Journal[len(saved.Journal)-1]))
	})
}
