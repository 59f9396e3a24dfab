package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
)

// secluded is a draft job that shows nothing of what was found.
func (s *stage) secluded() *job { return s.draftJob().with("summary", "counts") }

func TestT28_AnEncryptedDraftWithCountsTellsNothingOfItsFindings(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustEncrypt})
	drafted := s.secluded().start().is(0, "PAUSED")
	drafted.shows("1 blocker, 1 major, 2 minor, 1 nit", "The findings are not shown here", "PR_REVIEW_CHECKPOINT_KEY",
		"pr-review-action show octo/demo#42\n", "encrypted, with all else, in")
	mistaken := s.decideJob(drafted.outputs["code"], "approve").with("summary", "counts", "commands",
		"/edit F1: Moves money\n/dorp ledger/transfer.go: Says too little").start()
	s.refused(mistaken, "line 2")
	aborted := s.decideJob(drafted.outputs["code"], "abort").with("summary", "counts", "commands",
		"/abort: Moves money twice? Because of ledger/transfer.go")
	ended := aborted.start().is(0, "ABORTED")
	for name, e := range map[string]struct{ log, summary, outputs string }{
		"draft":   {drafted.log, drafted.summary, fmt.Sprint(drafted.outputs)},
		"mistake": {mistaken.log, mistaken.summary, fmt.Sprint(mistaken.outputs)},
		"abort":   {ended.log, ended.summary, fmt.Sprint(ended.outputs)},
	} {
		holdsNone(t, name+"'s log", e.log, words()...)
		holdsNone(t, name+"'s summary", e.summary, words()...)
		holdsNone(t, name+"'s outputs", e.outputs, words()...)
	}
	for _, a := range append(s.run.Artifacts(), aborted.run.Artifacts()...) {
		holdsNone(t, a.Name, string(a.Zip()), words()...)
		holdsNone(t, a.Name, a.Name, words()...)
	}
}

func TestT28_TheKeyShowsTheEncryptedDraft(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustEncrypt})
	code := s.secluded().start().is(0, "PAUSED").outputs["code"]

	without := s.cli(nil, "show", "octo/demo#42").ends(2)
	require.Contains(t, without.stderr, "the draft "+code+" is protected by trust: encrypt, and there is no key")
	require.Contains(t, without.stderr, "set PR_REVIEW_CHECKPOINT_KEY to the checkpoint-key of its workflow")
	holdsNone(t, "the refusal", without.stdout+without.stderr, words()...)
	wrong := s.cli(map[string]string{"PR_REVIEW_CHECKPOINT_KEY": anotherKey}, "show", "octo/demo#42").ends(3)
	require.Contains(t, wrong.stderr, "the key is not the one that sealed the draft, or it was changed")
	bad := s.cli(map[string]string{"PR_REVIEW_CHECKPOINT_KEY": "YQ=="}, "show", "octo/demo#42").ends(2)
	require.Contains(t, bad.stderr, "checkpoint-key holds 1 bytes")

	shown := s.cli(map[string]string{"PR_REVIEW_CHECKPOINT_KEY": checkpointKey}, "show", "octo/demo#42").ends(0)
	for _, text := range []string{"F1", "F5", "Moves money", "not awaited", "Logs and goes on", "Says too little",
		"ledger/transfer.go", "Code " + code + ", until ",
		"https://github.com/octo/demo/actions/runs/" + fmt.Sprint(s.run.ID)} {
		require.Contains(t, shown.stdout, text)
	}
	whole := s.cli(map[string]string{"PR_REVIEW_CHECKPOINT_KEY": checkpointKey}, "show", "octo/demo#42", "--json",
		"--code", code).ends(0)
	require.Contains(t, whole.stdout, `"code": "`+code+`"`)
	require.Contains(t, whole.stdout, `"title": "Moves money without a lock"`)
	s.untouched()
}

func TestP2_TheSameBytesArePostedUnderEveryTrust(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		for name, decide := range routes() {
			t.Run(trust+", "+name, func(t *testing.T) {
				s := setUp(t, scene{trust: trust})
				drafted := s.parked()
				plain := s.draftJob().with("trust", "digest", "checkpoint-key", "").start().is(0, "PAUSED")
				z, err := checkpoint.Unzip(s.draftArtifact(plain).Zip())
				require.NoError(t, err)
				shown, err := checkpoint.Protection{}.Open(z)
				require.NoError(t, err)
				decide(s, drafted.digest()).with("summary", "counts").start().is(0, "POSTED")
				sameAsShown(t, shown.Review, s.posted())
				require.Len(t, s.posted().Comments, 3)
			})
		}
	}
}

func TestT28_NoArtifactHoldsASecretOrAPrompt(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			planted := map[string]string{
				"OPENAI_API_KEY": modelKey + "-too", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI-planted",
				"GH_TOKEN":                       "ghp_planted0123456789",
				"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "eyJplanted", "NPM_TOKEN": "npm_planted",
			}
			draft := s.draftJob()
			for name, value := range planted {
				draft.set(name, value)
			}
			drafted := draft.start().is(0, "PAUSED")
			s.approved("/drop F1: no")
			post := s.postJob(drafted.digest())
			post.start().is(0, "POSTED")

			secrets := append(slices.Collect(maps.Values(planted)), draft.token, post.token, modelKey,
				draft.env["ACTIONS_RUNTIME_TOKEN"],
				post.env["ACTIONS_RUNTIME_TOKEN"], checkpointKey, s.model.URL, s.hub.URL)
			prompt := s.model.Requests()[0]
			secrets = append(secrets, prompt.System[:60], prompt.System[len(prompt.System)-60:], prompt.User[:60])
			require.Len(t, s.run.Artifacts(), 2, "the draft and the decision")
			for _, a := range s.run.Artifacts() {
				for _, e := range entries(t, a.Zip()) {
					holdsNone(t, a.Name+"/"+e.name, string(e.content), secrets...)
				}
			}
		})
	}
}

// TestT28_TheDateUntilWhichGitHubReallyKeepsADraftIsShown has a GitHub that
// keeps an artifact for three days, whatever was asked for.
func TestT28_TheDateUntilWhichGitHubReallyKeepsADraftIsShown(t *testing.T) {
	s := setUp(t, scene{})
	until := time.Now().UTC().AddDate(0, 0, 3)
	path := fmt.Sprintf("/repos/octo/demo/actions/runs/%d/artifacts", s.run.ID)
	s.hub.OnRequest(func(_ int, r *http.Request, phase string) {
		if phase != "after" || !strings.HasSuffix(r.URL.Path, "/FinalizeArtifact") {
			return
		}
		for _, a := range s.run.Artifacts() {
			body := strings.ReplaceAll(listing(s, ended{outputs: map[string]string{"artifact-name": a.Name}},
				s.repo.ID),
				`"expires_at":null`, `"expires_at":"`+until.Format(time.RFC3339)+`"`)
			s.hub.Fail(http.MethodGet, path, fault200(body))
		}
	})
	s.parked().shows("GitHub keeps the artifact only until "+until.Format("2 January 2006, 15:04 UTC")+
		", though the draft would wait until ",
		"· until "+until.Format("2 January 2006, 15:04 UTC"))
}
