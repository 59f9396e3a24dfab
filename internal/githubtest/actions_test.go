package githubtest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// job speaks the runner's artifact protocol by hand.
type job struct {
	t            *testing.T
	w            *world
	token        string
	runID, jobID string
}

func newJob(t *testing.T, w *world, run *githubtest.Run, name string) *job {
	t.Helper()
	j := &job{t: t, w: w, token: w.RuntimeToken(run, name)}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(j.token, ".")[1])
	require.NoError(t, err)
	var claims struct {
		Scope string `json:"scp"`
	}
	require.NoError(t, json.Unmarshal(payload, &claims))
	parts := strings.Split(strings.Fields(claims.Scope)[1], ":")
	require.Equal(t, "Actions.Results", parts[0])
	j.runID, j.jobID = parts[1], parts[2]
	return j
}

// call sends a request with the job's own ids unless the fields name others.
func (j *job) call(method string, fields map[string]any) (int, map[string]any) {
	j.t.Helper()
	q := map[string]any{"workflow_run_backend_id": j.runID, "workflow_job_run_backend_id": j.jobID}
	for k, v := range fields {
		q[k] = v
	}
	body, err := json.Marshal(q)
	require.NoError(j.t, err)
	r, err := http.NewRequest(http.MethodPost, j.w.ResultsURL+"twirp/github.actions.results.api.v1.ArtifactService/"+
		method, bytes.NewReader(body))
	require.NoError(j.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+j.token)
	code, text := send(j.t, r)
	var v map[string]any
	require.NoError(j.t, json.Unmarshal(text, &v), "%s", text)
	return code, v
}

func send(t *testing.T, r *http.Request) (int, []byte) {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, text
}

func put(t *testing.T, url, query string, body io.Reader, header ...string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url+query, body)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	code, _ := send(t, r)
	return code
}

func fetch(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	code, text := send(t, r)
	return code, string(text)
}

func block(id string) string {
	return "&comp=block&blockid=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(id)))
}

func blockList(ids ...string) io.Reader {
	b := `<?xml version="1.0" encoding="utf-8"?><BlockList>`
	for _, id := range ids {
		b += "<Latest>" + base64.StdEncoding.EncodeToString([]byte(id)) + "</Latest>"
	}
	return strings.NewReader(b + "</BlockList>")
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// upload stores content under a name and answers the artifact's id.
func (j *job) upload(name, content string) string {
	j.t.Helper()
	code, v := j.call("CreateArtifact", map[string]any{"name": name, "version": 4})
	require.Equal(j.t, http.StatusOK, code, v)
	signed := v["signed_upload_url"].(string)
	require.Equal(j.t, http.StatusCreated, put(j.t, signed, block("1"), strings.NewReader(content)))
	require.Equal(j.t, http.StatusCreated, put(j.t, signed, "&comp=blocklist", blockList("1"), "x-ms-blob-content-type",
		"application/zip"))
	code, v = j.call("FinalizeArtifact", map[string]any{"name": name, "size": fmt.Sprint(len(content)),
		"hash": sha(content)})
	require.Equal(j.t, http.StatusOK, code, v)
	return v["artifact_id"].(string)
}

func TestArtifactByBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.repo.AddRun(githubtest.RunOptions{})
	j := newJob(t, w, run, "draft")
	code, v := j.call("ListArtifacts", nil)
	require.Equal(t, http.StatusOK, code)
	require.Empty(t, v, "an empty list is left out")
	id := j.upload("a-1", "zip bytes")
	require.Equal(t, []byte("zip bytes"), run.Artifacts()[0].Zip())

	later := newJob(t, w, run, "post")
	_, v = later.call("ListArtifacts", map[string]any{"name_filter": "a-1"})
	item := v["artifacts"].([]any)[0].(map[string]any)
	require.Equal(t, id, item["database_id"])
	require.Equal(t, sha("zip bytes"), item["digest"])
	code, _ = later.call("GetSignedArtifactURL", map[string]any{"name": "a-1"})
	require.Equal(t, http.StatusNotFound, code, "another job's artifact wants that job's id")
	_, v = later.call("GetSignedArtifactURL", map[string]any{"name": "a-1",
		"workflow_job_run_backend_id": item["workflow_job_run_backend_id"]})
	code, text := fetch(t, v["signed_url"].(string))
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "zip bytes", text)

	c := w.client(t, w.read)
	list, _, err := c.Actions.ListWorkflowRunArtifacts(t.Context(), "octo", "demo", run.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "a-1", list.Artifacts[0].GetName())
	require.Equal(t, run.ID, list.Artifacts[0].GetWorkflowRun().GetID())
	location, _, err := c.Actions.DownloadArtifact(t.Context(), "octo", "demo", list.Artifacts[0].GetID(), 0)
	require.NoError(t, err)
	code, text = fetch(t, location.String())
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "zip bytes", text)
	code, _ = fetch(t, fmt.Sprintf("%s/repos/octo/demo/actions/artifacts/%s/zip", w.URL, id))
	require.Equal(t, http.StatusUnauthorized, code, "a download wants a token, also of a public repository")
	code, _ = fetch(t, location.String(), "Authorization", "Bearer "+w.read)
	require.Equal(t, http.StatusBadRequest, code, "the storage refuses a token")
	code, _ = fetch(t, strings.Replace(location.String(), "sp=r", "sp=w", 1))
	require.Equal(t, http.StatusForbidden, code)
	w.Advance(time.Minute)
	code, _ = fetch(t, location.String())
	require.Equal(t, http.StatusForbidden, code, "a download's address holds for a minute")

	w.Advance(90 * 24 * time.Hour)
	_, r, err := c.Actions.DownloadArtifact(t.Context(), "octo", "demo", list.Artifacts[0].GetID(), 0)
	require.Error(t, err)
	require.Equal(t, http.StatusGone, status(r))
}

func TestRuntimeProtocolRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.repo.AddRun(githubtest.RunOptions{})
	j := newJob(t, w, run, "draft")
	j.upload("taken", "x")
	for name, tc := range map[string]struct {
		method string
		fields map[string]any
		want   int
	}{
		"name taken":     {"CreateArtifact", map[string]any{"name": "taken", "version": 4}, http.StatusConflict},
		"bad name":       {"CreateArtifact", map[string]any{"name": "a/b", "version": 4}, http.StatusBadRequest},
		"no version":     {"CreateArtifact", map[string]any{"name": "b"}, http.StatusBadRequest},
		"7 without type": {"CreateArtifact", map[string]any{"name": "b", "version": 7}, http.StatusBadRequest},
		"expired at once": {"CreateArtifact", map[string]any{"name": "b", "version": 4,
			"expires_at": "2001-01-01T00:00:00Z"}, http.StatusBadRequest},
		"unknown field": {"CreateArtifact", map[string]any{"name": "b", "version": 4, "colour": 1},
			http.StatusBadRequest},
		"another run":      {"ListArtifacts", map[string]any{"workflow_run_backend_id": "1"}, http.StatusForbidden},
		"nothing to close": {"FinalizeArtifact", map[string]any{"name": "b", "size": "1"}, http.StatusNotFound},
		"nothing to sign":  {"GetSignedArtifactURL", map[string]any{"name": "b"}, http.StatusNotFound},
		"no such method":   {"Frobnicate", nil, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			code, v := j.call(tc.method, tc.fields)
			require.Equal(t, tc.want, code, v)
			require.NotEmpty(t, v["msg"])
		})
	}
	run.Rerun()
	again := newJob(t, w, run, "draft")
	code, v := again.call("ListArtifacts", nil)
	require.Equal(t, http.StatusOK, code)
	require.Empty(t, v, "another attempt is another backend run")
	again.token = w.read
	code, _ = again.call("ListArtifacts", nil)
	require.Equal(t, http.StatusUnauthorized, code)
	code, _ = fetch(t, w.URL+"/repos/octo/demo", "Authorization", "Bearer "+j.token)
	require.Equal(t, http.StatusUnauthorized, code, "the runtime token is none of the REST interface")
}

func TestUploadOfBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := newJob(t, w, w.repo.AddRun(githubtest.RunOptions{}), "draft")
	_, v := j.call("CreateArtifact", map[string]any{"name": "b", "version": 4})
	signed := v["signed_upload_url"].(string)
	require.Equal(t, http.StatusCreated, put(t, signed, block("2"), strings.NewReader("world")))
	require.Equal(t, http.StatusCreated, put(t, signed, block("1"), strings.NewReader("broken")))
	require.Equal(t, http.StatusCreated, put(t, signed, block("1"), strings.NewReader("hello ")),
		"a block may be sent again")
	require.Equal(t, http.StatusBadRequest, put(t, signed, block("333"), strings.NewReader("x")),
		"ids are of one length")
	require.Equal(t, http.StatusLengthRequired, put(t, signed, block("3"), io.MultiReader(strings.NewReader("x"))))
	require.Equal(t, http.StatusBadRequest, put(t, signed, block("3"), strings.NewReader("x"), "Authorization",
		"Bearer "+j.token))
	require.Equal(t, http.StatusBadRequest, put(t, signed, "&comp=blocklist", blockList("1", "9")))
	finish := map[string]any{"name": "b", "size": "11", "hash": sha("hello world")}
	code, _ := j.call("FinalizeArtifact", finish)
	require.Equal(t, http.StatusBadRequest, code, "nothing is committed yet")
	require.Equal(t, http.StatusCreated, put(t, signed, "&comp=blocklist", blockList("1", "2")))
	code, _ = j.call("FinalizeArtifact", map[string]any{"name": "b", "size": "12"})
	require.Equal(t, http.StatusBadRequest, code)
	code, _ = j.call("FinalizeArtifact", map[string]any{"name": "b", "size": "11", "hash": sha("hello")})
	require.Equal(t, http.StatusBadRequest, code)
	code, v = j.call("FinalizeArtifact", finish)
	require.Equal(t, http.StatusOK, code, v)
	code, v = j.call("DeleteArtifact", map[string]any{"name": "b"})
	require.Equal(t, http.StatusOK, code, v)
	j.upload("b", "again")
}

func TestApprovalsAndEnvironments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fork := w.AddRepo("eve/demo", githubtest.RepoOptions{ForkOf: w.repo})
	run := w.repo.AddRun(githubtest.RunOptions{HeadRepo: fork, HeadBranch: "topic", Actor: "eve"})
	w.repo.AddEnvironment("review", "maya")
	w.repo.AddEnvironment("bare")
	c := w.client(t, w.read)
	env, _, err := c.Repositories.GetEnvironment(t.Context(), "octo", "demo", "review")
	require.NoError(t, err)
	require.Equal(t, "required_reviewers", env.ProtectionRules[0].GetType())
	require.Len(t, env.ProtectionRules[0].Reviewers, 1)
	env, _, err = c.Repositories.GetEnvironment(t.Context(), "octo", "demo", "bare")
	require.NoError(t, err)
	require.Empty(t, env.ProtectionRules)
	_, r, _ := c.Repositories.GetEnvironment(t.Context(), "octo", "demo", "none")
	require.Equal(t, http.StatusNotFound, status(r))

	got, _, err := c.Actions.GetWorkflowRunByID(t.Context(), "octo", "demo", run.ID)
	require.NoError(t, err)
	require.Equal(t, 1, got.GetRunAttempt())
	require.Equal(t, fork.ID, got.GetHeadRepository().GetID())

	run.Wait("review")
	ask := func(token string) *github.Response {
		_, r, _ := w.client(t, token).Actions.PendingDeployments(t.Context(), "octo", "demo", run.ID,
			&github.PendingDeploymentsRequest{EnvironmentIDs: []int64{w.environmentID(t, "review")}, State: "approved",
				Comment: "/drop F1"})
		return r
	}
	require.Equal(t, http.StatusForbidden, status(ask(w.write)), "GITHUB_TOKEN cannot approve")
	require.Equal(t, http.StatusUnprocessableEntity,
		status(ask(w.AppToken(w.repo, map[string]string{"deployments": "write"}))), "an app is no reviewer")
	require.Equal(t, http.StatusUnprocessableEntity, status(ask(w.UserToken("eve"))), "nor is everybody")
	w.repo.Permit("eve", "write")
	require.Equal(t, http.StatusUnprocessableEntity, status(ask(w.UserToken("eve"))), "nor who may write")
	require.Equal(t, http.StatusOK, status(ask(w.UserToken("maya"))))
	var approvals []struct {
		State, Comment string
		User           github.User
		Environments   []github.Environment
	}
	request, err := c.NewRequest(http.MethodGet, fmt.Sprintf("repos/octo/demo/actions/runs/%d/approvals", run.ID), nil)
	require.NoError(t, err)
	_, err = c.Do(t.Context(), request, &approvals)
	require.NoError(t, err)
	require.Len(t, approvals, 1)
	require.Equal(t, "approved", approvals[0].State)
	require.Equal(t, "/drop F1", approvals[0].Comment)
	require.Equal(t, "maya", approvals[0].User.GetLogin())
	require.Equal(t, "review", approvals[0].Environments[0].GetName())
	runs, _, err := c.Actions.ListWorkflowRunsByFileName(t.Context(), "octo", "demo", "pr-review.yml", nil)
	require.NoError(t, err)
	require.Equal(t, 1, runs.GetTotalCount())
}

func (w *world) environmentID(t *testing.T, name string) int64 {
	t.Helper()
	env, _, err := w.client(t, w.read).Repositories.GetEnvironment(t.Context(), "octo", "demo", name)
	require.NoError(t, err)
	return env.GetID()
}
