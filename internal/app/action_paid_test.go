package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// stuck is a model that answers about a file at once and then takes its time.
type stuck struct {
	slow    time.Duration // that it takes; 500 ms
	asked   chan struct{} // closed with the first request that waits
	waiting atomic.Bool
	free    atomic.Bool
	quick   atomic.Int32 // answers that it still gives at once
}

func (m *stuck) script(r llmtest.Request) llmtest.Answer {
	a := critic(r)
	if r.Question == "review" && !m.free.Load() && m.quick.Add(-1) < 0 {
		a.Delay = cmp.Or(m.slow, time.Second/2) // or until the client is gone
		if !m.waiting.Swap(true) {
			close(m.asked)
		}
	}
	return a
}

// atOnce is when GitHub ends a cancelled job. The race detector has more time, but less than the model takes.
func atOnce() time.Duration {
	if testvolume.Raced {
		return time.Minute
	}
	return 7500 * time.Millisecond
}

// interrupted starts a draft and ends it by signals while the model takes its
// time about a file, after so many answers.
func (s *stage) interrupted(m *stuck, j *job, after int32, by ...os.Signal) (e ended, took time.Duration) {
	s.t.Helper()
	m.asked = make(chan struct{})
	m.waiting.Store(false)
	m.quick.Store(after)
	r := j.with("concurrency", "1").begin()
	select {
	case <-m.asked:
	case <-time.After(2 * time.Minute):
		require.Fail(s.t, "the model was not asked", r.end().log)
	}
	began := time.Now()
	for _, signal := range by {
		require.NoError(s.t, r.cmd.Process.Signal(signal))
	}
	e = r.end()
	return e, time.Since(began)
}

// partials are the names of the run's partial checkpoints, drafts those of its
// whole ones.
func (s *stage) partials() (names []string) { return s.checkpoints(true) }
func (s *stage) drafts() (names []string)   { return s.checkpoints(false) }

func (s *stage) checkpoints(partial bool) (names []string) {
	for _, a := range s.run.Artifacts() {
		if name, ok := reviewpr.Names.Parse(a.Name); ok && (name.Partial > 0) == partial {
			names = append(names, a.Name)
		}
	}
	return names
}

// askedAbout counts the requests to the model about each file.
func (s *stage) askedAbout() map[string]int {
	n := map[string]int{}
	for _, r := range s.model.Requests() {
		if r.Question == "review" {
			n[r.Path]++
		}
	}
	return n
}

// reviews counts the questions for findings; those that look at grave ones again
// are next to them.
func (s *stage) reviews() (n int) {
	for _, times := range s.askedAbout() {
		n += times
	}
	return n
}

func TestP4_ACancelledDraftIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trust  string
		by     []os.Signal
		shared bool // the runtime protocol shows the artifacts of earlier attempts
	}{
		"SIGTERM":                   {"", []os.Signal{syscall.SIGTERM}, false},
		"SIGINT":                    {"", []os.Signal{syscall.SIGINT}, false},
		"SIGINT and SIGTERM":        {"", []os.Signal{syscall.SIGINT, syscall.SIGTERM}, false},
		"SIGINT, a shared listing":  {"", []os.Signal{syscall.SIGINT}, true},
		"SIGTERM, sealed":           {checkpoint.TrustSeal, []os.Signal{syscall.SIGTERM}, false},
		"SIGINT, encrypted, shared": {checkpoint.TrustEncrypt, []os.Signal{syscall.SIGINT}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &stuck{}
			s := setUp(t, scene{trust: tc.trust, script: m.script,
				server: githubtest.Options{SharedAttempts: tc.shared}})
			e, took := s.interrupted(m, s.draftJob(), 1, tc.by...)
			e.is(1, "FAILED").says("::error::", "next")
			require.Less(t, took, atOnce())
			require.Len(t, s.partials(), 1)
			require.Regexp(t, `^pr-review-42-partial-1-[0-9a-f]{16}$`, s.partials()[0])
			s.untouched()

			// Killed outright, the second attempt leaves what the first one stored.
			s.run.Finish("cancelled")
			s.run.Rerun()
			e, _ = s.interrupted(m, s.draftJob(), 0, syscall.SIGKILL)
			require.Equal(t, -1, e.code)
			require.Empty(t, e.outputs)

			s.run.Finish("cancelled")
			s.run.Rerun()
			m.free.Store(true)
			drafted := s.parked()
			require.Equal(t, "5", drafted.outputs["findings"])
			require.Equal(t, []int{1, 1, 2}, slices.Sorted(maps.Values(s.askedAbout())),
				"what was answered and stored is not asked again")
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			if tc.trust != checkpoint.TrustEncrypt {
				sameAsShown(t, s.opened(drafted).Review, s.posted())
			}
			require.Len(t, s.posted().Comments, 3)
		})
	}
}

func TestP4_AnAnswerThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	m := &stuck{slow: 10 * time.Minute}
	s := setUp(t, scene{script: m.script})
	e, took := s.interrupted(m, s.draftJob(), 1, syscall.SIGTERM)
	e.is(1, "FAILED").says("the job was cancelled before every file was read", "re-run the failed jobs")
	require.Less(t, took, atOnce())
	s.run.Finish("cancelled")
	s.run.Rerun()
	m.free.Store(true)
	s.parked()
	require.Equal(t, 2+2, s.reviews())
}

func TestP4_WhatSurvivesReRunAllJobs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trust string
		cache bool // the job may write to the cache: cache-mode: write
		calls int
	}{
		"sealed, with the cache":         {checkpoint.TrustSeal, true, 2 + 1},
		"encrypted, with the cache":      {checkpoint.TrustEncrypt, true, 2 + 1},
		"sealed, without the cache":      {checkpoint.TrustSeal, false, 2 + 3},
		"without a key, with the cache":  {"", true, 2 + 3},
		"without a key, and a full rest": {"", false, 2 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := &stuck{}
			s := setUp(t, scene{trust: tc.trust, script: m.script})
			if tc.cache {
				s.run.WriteCache()
			}
			s.interrupted(m, s.draftJob(), 1, syscall.SIGTERM)
			require.Equal(t, tc.cache && tc.trust != "", len(s.repo.CacheKeys()) > 0)
			s.run.Finish("cancelled")
			s.run.RerunAll()
			require.Empty(t, s.run.Artifacts())
			m.free.Store(true)
			drafted := s.parked()
			require.Equal(t, "5", drafted.outputs["findings"])
			require.Equal(t, tc.calls, s.reviews(), "%v", s.askedAbout())
		})
	}
}

func TestP4_AFolderIsGoneOnWithUnderASeal(t *testing.T) {
	m := &stuck{}
	s := setUp(t, scene{trust: checkpoint.TrustSeal, script: m.script})
	dir := t.TempDir()
	s.interrupted(m, s.draftJob().inFolder(dir), 1, syscall.SIGTERM)
	require.Len(t, files(t, dir), 1)
	s.run.Finish("cancelled")
	s.run.Rerun()
	m.free.Store(true)
	s.draftJob().inFolder(dir).start().is(0, "PAUSED")
	require.Equal(t, 2+1, s.reviews())
}

func TestT34_AWrittenCacheIsNotBelieved(t *testing.T) {
	m := &stuck{}
	s := setUp(t, scene{trust: checkpoint.TrustSeal, script: m.script})
	s.run.WriteCache()
	s.interrupted(m, s.draftJob(), 1, syscall.SIGTERM)
	o := s.partial()
	o.Snapshot = []byte(strings.ReplaceAll(string(o.Snapshot), "Moves money", "Saves money"))
	forged, err := under(t, checkpoint.TrustSeal, anotherKey).Pack(o.Manifest, o.Snapshot, o.Shown)
	require.NoError(t, err)
	for _, key := range s.repo.CacheKeys() {
		s.repo.PlantCache(key, forged.Zip)
	}
	s.run.Finish("cancelled")
	s.run.RerunAll()
	m.free.Store(true)
	require.Equal(t, "5", s.parked().outputs["findings"])
	require.Equal(t, 2+3, s.reviews())
}

// partial is the one partial checkpoint of the run.
func (s *stage) partial() checkpoint.Draft {
	s.t.Helper()
	for _, a := range s.run.Artifacts() {
		if slices.Contains(s.partials(), a.Name) {
			z, err := checkpoint.Unzip(a.Zip())
			require.NoError(s.t, err)
			o, err := s.protection().Open(z)
			require.NoError(s.t, err)
			return o
		}
	}
	require.Fail(s.t, "there is no partial")
	return checkpoint.Draft{}
}

func TestCheck6_APartialIsNeverDecided(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		t.Run("trust "+trust, func(t *testing.T) {
			m := &stuck{}
			s := setUp(t, scene{trust: trust, script: m.script})
			s.interrupted(m, s.draftJob(), 1, syscall.SIGTERM)
			z := s.run.Artifacts()[0].Zip()
			digest := checkpoint.Digest(z)
			require.Contains(t, s.partials()[0], checkpoint.Code(digest))
			for _, decide := range routes() {
				s.refused(decide(s, digest).start(), "no draft of this name was found")
			}
			s.stored(z) // somebody gives it a draft's name
			for _, decide := range routes() {
				s.refused(decide(s, digest).start(), "this is a run under way, not a draft",
					fmt.Sprintf("partial checkpoint 1 of \"octo/demo#42:%s\"", s.pull.HeadSHA()))
			}
		})
	}
}

func TestT28_PartialsHoldNoSecretAndHideWhatIsEncrypted(t *testing.T) {
	m := &stuck{}
	s := setUp(t, scene{trust: checkpoint.TrustEncrypt, script: m.script})
	s.run.WriteCache()
	e, _ := s.interrupted(m, s.secluded(), 1, syscall.SIGTERM)
	holdsNone(t, "the log", e.log+e.summary, words()...)
	for _, a := range s.run.Artifacts() {
		holdsNone(t, a.Name, string(a.Zip()), append(words(), checkpointKey, modelKey)...)
	}
	for _, r := range s.hub.Requests() {
		if r.Method == "PUT" { // what was stored, also in the cache
			holdsNone(t, r.Path, string(r.Body), append(words(), checkpointKey, modelKey)...)
		}
	}
}
