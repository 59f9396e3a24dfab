package app_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
)

// badKeys are what a secret may hold that was mistyped or cut, with what is said.
func badKeys() map[string]struct{ key, says string } {
	return map[string]struct{ key, says string }{
		"unset": {"", "checkpoint-key is not set or empty"},
		"blank": {" \t\n ", "checkpoint-key is not set or empty"},
		"31 bytes": {base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 31))),
			"checkpoint-key holds 31 bytes"},
		"one byte": {"eA==", "input checkpoint-key holds 1 bytes"},
		"not base64": {"a passphrase that somebody thought of, long enough",
			"input checkpoint-key is not base64"},
		"an expression that was never filled in": {"$" + "{{ secrets.CHECKPOINT_KEY }}",
			"input checkpoint-key is not base64"},
	}
}

func TestT38_AKeyThatIsNoneEndsBothJobsBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range badKeys() {
		for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				s := setUp(t, scene{})
				for _, j := range []*job{s.draftJob(), s.postJob(strings.Repeat("a", 64)),
					s.decideJob(strings.Repeat("a", 16), "approve")} {
					e := j.with("trust", trust, "checkpoint-key", tc.key).start().is(2, "")
					e.says("::error::", tc.says, "it has to be base64 of at least 32 random bytes", "openssl rand -base64 32")
					require.Contains(t, e.summary, "## The settings of this job are wrong")
				}
				require.Zero(t, s.model.Calls())
				require.Empty(t, s.hub.Requests())
			})
		}
	}
}

func TestT38_AnInputOfTrustThatIsUnknownIsExit2(t *testing.T) {
	s := setUp(t, scene{})
	s.draftJob().with("trust", "sealed", "checkpoint-key", checkpointKey).start().is(2,
		"").says(`input trust: "sealed" is not one of digest, seal, encrypt`)
	require.Empty(t, s.hub.Requests())
}

func TestT38_TheKeyIsNowhere(t *testing.T) {
	t.Parallel()
	derived := under(t, checkpoint.TrustSeal, checkpointKey).Key
	raw, err := base64.StdEncoding.DecodeString(checkpointKey)
	require.NoError(t, err)
	secrets := []string{checkpointKey, strings.TrimRight(checkpointKey, "="), string(raw)}
	for _, label := range []string{"manifest seal", "record seal", "age", "graph snapshot"} {
		key := derived.Derive(label)
		secrets = append(secrets, string(key), base64.StdEncoding.EncodeToString(key))
	}
	for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		t.Run(trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			drafted := s.parked()
			s.approved("")
			all := []ended{drafted, s.postJob(drafted.digest()).start().is(0, "POSTED"),
				s.decideJob(drafted.outputs["code"], "abort").start().is(3, "REFUSED")}
			for _, e := range all {
				holdsNone(t, "a job", e.log+e.summary+strings.Join(valuesOf(e.outputs), "\n"), secrets...)
			}
			for _, a := range s.run.Artifacts() {
				holdsNone(t, a.Name, string(a.Zip()), secrets...)
			}
			for _, r := range s.hub.Requests() {
				holdsNone(t, r.Method+" "+r.Path, string(r.Body), secrets...)
			}
			for _, r := range s.model.Requests() {
				holdsNone(t, "a prompt", r.System+r.User, secrets...)
			}
		})
	}
}

func valuesOf(outputs map[string]string) (all []string) {
	for _, v := range outputs {
		all = append(all, v)
	}
	return all
}
