package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

const reviewsPath = "/repos/octo/demo/pulls/42/reviews"

func TestMissingPermissions(t *testing.T) {
	s := setUp(t, scene{})
	s.draftJob().may(map[string]string{"contents": "read", "actions": "read"}).start().is(1, "FAILED").says("403",
		"give the token what GitHub names", "permissions: { pull-requests: read }")
	require.Zero(t, s.model.Calls())
	drafted := s.parked()
	s.approved("")
	code := drafted.outputs["code"]

	noActions := map[string]string{"pull_requests": "write"}
	s.postJob(drafted.digest()).may(noActions).start().is(2, "").says("give the job actions: read")
	s.decideJob(code, "approve").may(noActions).start().is(2, "").says("the draft's artifact cannot be read",
		"give the job actions: read")
	s.postJob(drafted.digest()).may(map[string]string{"actions": "read"}).start().is(1, "FAILED").says("403")
	s.untouched()

	e := s.postJob(drafted.digest()).may(map[string]string{"pull_requests": "read", "actions": "read"}).start().is(1,
		"FAILED")
	e.says("the token may not post reviews", "the token needs pull-requests: write; then decide the same again, the "+
		"draft still waits")
	require.Len(t, s.writes(), 1, "one refused write")
	require.Empty(t, s.pull.Reviews())
	s.postJob(drafted.digest()).start().is(0, "POSTED")
}

func TestTokenOfAPersonThatMayNotPostIsSeenBeforehand(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	j := s.decideJob(drafted.outputs["code"], "approve")
	j.token = s.hub.UserToken("maya")
	s.hub.Fail(http.MethodGet, "/repos/octo/demo",
		githubtest.Fault{Status: 200, Times: 2, Headers: map[string]string{"X-OAuth-Scopes": "read:org"},
			Body: `{"id":1,"private":false,"permissions":{"pull":true}}`})
	j.start().is(2, "").says("the token may not write reviews", "the draft still waits")
	j.with("decision", "abort").start().is(0, "ABORTED") // which writes none
	s.untouched()
}

func TestBadTokensAndAddresses(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	revoked := s.postJob(drafted.digest())
	s.hub.Revoke(revoked.token)
	revoked.start().is(1, "FAILED").says("401", "check the token")
	draft := s.draftJob()
	s.hub.Revoke(draft.token)
	draft.start().is(1, "FAILED").says("401", "check the token")
	s.draftJob().with("pull-request", "404", "environment", "").start().is(1, "FAILED").says("octo/demo#404",
		"check the name")
	s.untouched()
}

func TestTroubleThatPasses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"429 with Retry-After": githubtest.SecondaryLimit(429, time.Second),
		"5xx":                  {Status: 502},
		"connection dropped":   {DropConnection: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			fault.Times = 1
			s.hub.Fail(http.MethodGet, "/repos/octo/demo/pulls/42", fault)
			s.hub.Fail(http.MethodPut, "/artifacts/**", fault)
			drafted := s.parked()
			s.approved("")
			s.hub.Fail(http.MethodGet, "/repos/octo/demo/actions/runs/*/approvals", fault)
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			s.posted()
		})
	}
}

func TestModelTroubleThatPasses(t *testing.T) {
	t.Parallel()
	t.Run("429, then 503", func(t *testing.T) {
		limited := llmtest.Answer{Status: 429, Text: "slow down", Header: http.Header{"Retry-After": {"0"}}}
		script := func(r llmtest.Request) llmtest.Answer {
			if r.Path == "web/cart.ts" && r.Try == 1 {
				limited.Header = http.Header{"Retry-After": {"1"}}
				return limited
			}
			return critic(r)
		}
		require.Equal(t, "5", setUp(t, scene{script: script}).parked().outputs["findings"])
	})
}

func TestRefusedWriteIsNotRepeated(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.hub.Fail(http.MethodPost, reviewsPath, githubtest.SecondaryLimit(403, time.Hour))
	s.postJob(drafted.digest()).start().is(1, "FAILED").says("403")
	require.Len(t, s.writes(), 1)
	s.hub.ClearFaults()
	s.postJob(drafted.digest()).start().is(0, "POSTED")
}

func TestP5_LostAnswerOfThePost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"the connection, and it took effect": {DropConnection: true, AfterWrite: true, Times: 1},
		"502, and it took effect":            {Status: 502, AfterWrite: true, Times: 1},
		"the connection":                     {DropConnection: true, Times: 1},
		"502":                                {Status: 502, Times: 1},
	} {
		for _, path := range []string{reviewsPath, reviewsPath + "/*/events"} {
			t.Run(name+" "+path, func(t *testing.T) {
				s := setUp(t, scene{})
				drafted := s.parked()
				s.approved("")
				s.hub.Fail(http.MethodPost, path, fault)
				posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
				require.Equal(t, s.posted().URL, posted.outputs["review-url"])
				if fault.AfterWrite {
					require.Len(t, s.writes(), 2, "nothing is written twice")
				}
			})
		}
	}
	t.Run("the review stands and cannot be found yet: the next run adopts it", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.approved("")
		s.hub.Fail(http.MethodPost, reviewsPath+"/*/events", githubtest.Fault{Status: 502, AfterWrite: true, Times: 1})
		// the looks before it is submitted
		s.hub.Fail(http.MethodGet, reviewsPath, githubtest.Fault{Status: 0, Times: 2})
		s.hub.Fail(http.MethodGet, reviewsPath, githubtest.Fault{Status: 403, Times: 1})
		s.postJob(drafted.digest()).start().is(1, "FAILED").says("whether the review was posted is not known",
			"it looks for the review before it writes")
		s.run.Rerun()
		s.postJob(drafted.digest()).start().is(0, "POSTED")
		s.posted()
		require.Len(t, s.submissions(), 1)
	})
	t.Run("the server fails for good: nothing is claimed", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.approved("")
		s.hub.Fail(http.MethodPost, reviewsPath, githubtest.Fault{DropConnection: true, Times: 4})
		s.postJob(drafted.digest()).start().is(1, "FAILED").says("it looks for the review before it writes")
		require.Empty(t, s.pull.Reviews())
		s.postJob(drafted.digest()).start().is(0, "POSTED")
		s.posted()
	})
}

func TestP7_RefusedInlineCommentsMoveToTheBody(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.hub.Fail(http.MethodPost, reviewsPath, githubtest.Fault{Status: 422, Times: 1,
		Body: `{"message":"Unprocessable Entity","errors":["Pull request review thread line must be part of the` +
			` diff"]}`})
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	review := s.posted()
	require.Empty(t, review.Comments)
	body, _ := less(t, review.Body)
	require.Contains(t, s.opened(drafted).Review, "<details><summary>Posted instead if GitHub refuses the inline "+
		"comments</summary>\n\n"+body+"\n",
		"P2: the approver could see this form too")
	for _, title := range []string{"Moves money", "not awaited", "Logs and goes on", "never emptied",
		"Says too little"} {
		require.Contains(t, body, title)
	}
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	s.posted()
}

func TestP1_ADraftThatCannotBeStoredIsNoDraft(t *testing.T) {
	s := setUp(t, scene{})
	s.hub.Fail(http.MethodPost, "/twirp/**/CreateArtifact",
		githubtest.Fault{Status: 403, Body: `{"code":"permission_denied","msg":"insufficient usage"}`})
	e := s.draftJob().start().is(1, "FAILED").says("storing the draft", "insufficient usage")
	require.Empty(t, e.digest())
	s.untouched()
}

func TestP5_WithoutARecordOfTheDecisionNothingIsPosted(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.hub.Fail(http.MethodPost, "/twirp/**/CreateArtifact", githubtest.Fault{Status: 403})
	s.postJob(drafted.digest()).start().is(1, "FAILED").says("storing the decision")
	require.Empty(t, s.pull.Reviews())
	require.Empty(t, s.submissions())
	s.hub.ClearFaults()
	s.run.Rerun()
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	s.posted()
}
