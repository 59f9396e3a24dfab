package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// inFolder is a job of an Enterprise Server, which has no artifacts that we
// could use: a folder carries the draft.
func (j *job) inFolder(dir string) *job {
	j.set("GITHUB_SERVER_URL", "https://git.example.com").set("GITHUB_API_URL", j.s.hub.URL+"/api/v3")
	return j.with("checkpoint-dir", dir).set("ACTIONS_RUNTIME_TOKEN", "").set("ACTIONS_RESULTS_URL", "")
}

// files are the names in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCheckpointDirCarriesTheDraftAndTheDecision(t *testing.T) {
	t.Parallel()
	t.Run("approved", func(t *testing.T) {
		s := setUp(t, scene{server: githubtest.Options{WebURL: "https://git.example.com"}})
		dir := filepath.Join(t.TempDir(), "drafts")
		drafted := s.draftJob().inFolder(dir).start().is(0, "PAUSED")
		require.Equal(t, []string{drafted.outputs["artifact-name"] + ".zip"}, files(t, dir))
		require.Empty(t, s.run.Artifacts())
		s.untouched()

		s.approved("")
		began := time.Now()
		s.postJob(drafted.digest()).inFolder(dir).start().is(0, "POSTED")
		require.Less(t, time.Since(began), 8*time.Second, "it waited for its own record, which names no run")
		require.Len(t, s.posted().Comments, 3)
		require.Contains(t, files(t, dir), "pr-review-decision-"+drafted.outputs["code"]+".zip")
		s.postJob(drafted.digest()).inFolder(dir).start().is(0, "POSTED")
		s.decideJob(drafted.outputs["code"], "abort").inFolder(dir).start().is(3, "REFUSED").says("::error::", "next")
		s.posted()
	})
	t.Run("aborted, encrypted", func(t *testing.T) {
		s := setUp(t, scene{trust: checkpoint.TrustEncrypt})
		dir := t.TempDir()
		code := s.draftJob().inFolder(dir).start().is(0, "PAUSED").outputs["code"]
		s.decideJob(code, "abort").inFolder(dir).start().is(0, "ABORTED")
		s.refused(s.decideJob(code, "approve").inFolder(dir).start(), "already been decided differently")
	})
}

func TestAgain_WithdrawsADraftThatAFolderCarries(t *testing.T) {
	s := setUp(t, scene{server: githubtest.Options{WebURL: "https://git.example.com"}})
	dir := t.TempDir()
	old := s.draftJob().inFolder(dir).start().is(0, "PAUSED").outputs["code"]
	s.anew(githubtest.RunOptions{})
	later(s)
	newer := s.draftJob().inFolder(dir).with("again", "true").start().is(0, "PAUSED").outputs["code"]
	require.NotEqual(t, old, newer)
	s.refused(s.decideJob(old, "approve").inFolder(dir).start(),
		"this draft was withdrawn when its commit was drafted again")
	s.decideJob(newer, "approve").inFolder(dir).start().is(0, "POSTED")
	s.posted()
}

func TestCheckpointDirIsNotTrusted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(s *stage, path string, drafted ended) (digest string)
		says  string
	}{
		"another folder": {func(s *stage, path string, d ended) string {
			require.NoError(s.t, os.Remove(path))
			return d.digest()
		}, "no draft of this name was found"},
		"edited (check 2)": {func(s *stage, path string, d ended) string {
			rewrite(s.t, path, func(z []byte) []byte { z[len(z)/2] ^= 1; return z })
			return d.digest()
		}, "the artifact is not the draft that was shown"},
		"cut (check 2)": {func(s *stage, path string, d ended) string {
			rewrite(s.t, path, func(z []byte) []byte { return z[:len(z)-9] })
			return d.digest()
		}, "the artifact is not the draft that was shown"},
		"a link (check 1)": {func(s *stage, path string, d ended) string {
			require.NoError(s.t, os.Rename(path, path+".away"))
			require.NoError(s.t, os.Symlink(path+".away", path))
			return d.digest()
		}, "no draft of this name was found"},
		"of a run of another repository (check 4)": {func(s *stage, path string, _ ended) string {
			theirs := s.hub.AddRepo("evil/demo", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{})
			return s.planted(path, func(m *checkpoint.Manifest) { m.RunID = theirs.ID })
		}, "the draft was made by a run that may not make drafts"},
		"of another workflow's run (check 4)": {func(s *stage, path string, _ ended) string {
			theirs := s.repo.AddRun(githubtest.RunOptions{Path: ".github/workflows/ci.yml"})
			return s.planted(path, func(m *checkpoint.Manifest) { m.RunID = theirs.ID })
		}, "the draft was made by a run that may not make drafts"},
		"of another pull request (check 7)": {func(s *stage, path string, _ ended) string {
			return s.planted(path, func(m *checkpoint.Manifest) { m.Subject.Number = 7 })
		}, "the draft is of another pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			dir := t.TempDir()
			drafted := s.draftJob().inFolder(dir).start().is(0, "PAUSED")
			digest := tc.spoil(s, filepath.Join(dir, drafted.outputs["artifact-name"]+".zip"), drafted)
			s.refused(s.decideJob(checkpoint.Code(digest), "approve").inFolder(dir).start(), tc.says)
		})
	}
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	z, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, change(z), 0o600))
}

// planted puts a sound draft with another manifest next to the one in the folder.
func (s *stage) planted(path string, change func(*checkpoint.Manifest)) (digest string) {
	s.t.Helper()
	z, err := os.ReadFile(path)
	require.NoError(s.t, err)
	unzipped, err := checkpoint.Unzip(z)
	require.NoError(s.t, err)
	o, err := checkpoint.Protection{}.Open(unzipped)
	require.NoError(s.t, err)
	change(&o.Manifest)
	packed, err := checkpoint.Protection{}.Pack(o.Manifest, o.Snapshot, o.Shown)
	require.NoError(s.t, err)
	require.NoError(s.t, os.WriteFile(filepath.Join(filepath.Dir(path), "pr-review-42-"+packed.Code+".zip"), packed.Zip,
		0o600))
	return packed.Digest
}

// TestG33_AtTheDeadlineTheDraftSaysWhatWasNotReached has a job whose clock is
// a minute and a half behind, so that its two minutes are over after half of one: its first answer comes in that time.
func TestG33_AtTheDeadlineTheDraftSaysWhatWasNotReached(t *testing.T) {
	m := &stuck{slow: 10 * time.Minute, asked: make(chan struct{})}
	m.quick.Store(1)
	s := setUp(t, scene{script: m.script})
	behind := time.Now().Add(-90 * time.Second).UTC().Format(time.RFC3339Nano)
	drafted := s.draftJob().with("max-time", "2m", "concurrency", "1").set("NOW", behind).start().is(0, "PAUSED")
	require.Equal(t, "true", drafted.outputs["partial"])
	require.Equal(t, 2, s.reviews(), "no further file is begun")
	answered, left := s.model.Requests()[0].Path, []string{"ledger/transfer.go", "ops/run.sh", "web/cart.ts"}
	drafted.shows("Partial review of #42", "1 of 5 files reviewed")
	for _, path := range left {
		if path != answered {
			require.Regexp(t, "(?s)[Nn]ot reached.*`"+path+"`", drafted.summary)
		}
	}
	s.approved("")
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	sameAsShown(t, s.opened(drafted).Review, s.posted())
	require.Regexp(t, "[Nn]ot reached", s.posted().Body)
}

func TestG33_NothingReachedBeforeTheDeadline(t *testing.T) {
	s := setUp(t, scene{script: func(llmtest.Request) llmtest.Answer {
		return llmtest.Answer{Delay: 10 * time.Minute}
	}})
	behind := time.Now().Add(-54 * time.Second).UTC().Format(time.RFC3339Nano)
	e := s.draftJob().with("max-time", "1m", "concurrency", "1").set("NOW", behind).start()
	require.NotEqual(t, "CLEAN", e.outputs["outcome"], "P6: never green and empty")
	for _, path := range []string{"ledger/transfer.go", "ops/run.sh", "web/cart.ts"} {
		e.shows(path)
	}
	s.untouched()
}

func TestP12_TimeThatIsOverBeforeTheChangeIsReadIsToldWithoutOurOwnTrouble(t *testing.T) {
	s := setUp(t, scene{})
	e := s.draftJob().with("max-time", "1m").set("NOW", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)).start().
		is(1, "FAILED").says("the deadline has passed", "next    raise max-time")
	require.NotContains(t, e.log, "packing the progress", "nothing was paid for yet")
}

// TestG33_ALimitThatLastsIsNamedAtTheDeadline has a server that turns each request away.
func TestG33_ALimitThatLastsIsNamedAtTheDeadline(t *testing.T) {
	s := setUp(t, scene{script: llmtest.Constantly(llmtest.Failing(429, "Retry-After: 60"),
		func(llmtest.Request) llmtest.Answer { return llmtest.Findings() })})
	s.draftJob().with("max-time", "20s", "concurrency", "1").start().is(1, "FAILED").
		says("no file was reviewed: the time was up; the model was waited for in vain: ", " answered 429")
}

func TestMaxTimeThatIsNoneIsExit2(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0m", "-5m", "5", "0s", "forever", "m"} {
		t.Run(text, func(t *testing.T) {
			s := setUp(t, scene{})
			s.draftJob().with("max-time", text).start().is(2, "").says("input max-time: ",
				"is not a time such as 45m, 36h or 14d")
			require.Empty(t, s.hub.Requests())
		})
	}
}
