package github

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

const onePull = `{"number":7,"state":"open","title":"T","user":{"login":"dependabot[bot]","type":"Bot"},
	"changed_files":2,
"labels":[{"name":"ai-review"}],"author_association":"NONE","html_url":"https://github.com/Org/Repo/pull/7",
"base":{"ref":"main","sha":"b1","repo":{"id":1,"full_name":"Org/Repo","private":true,"default_branch":"main"}},
"head":{"ref":"x","sha":"h1","repo":%s}}`

func TestPullOfADeletedForkIsAFork(t *testing.T) {
	for head, fork := range map[string]bool{`null`: true, `{"id":2,"full_name":"f/Repo"}`: true,
		`{"id":1,"full_name":"Org/Repo"}`: false} {
		c := routes(t, map[string]string{"/repos/o/r/pulls/7": fmt.Sprintf(onePull, head)})
		p, err := c.Pull(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, fork, p.Fork(), head)
		require.Equal(t, "Org/Repo#7", p.String(), "the repository's own spelling")
		require.True(t, p.AuthorBot)
		require.True(t, p.Private)
		require.Equal(t, []string{"ai-review"}, p.Labels)
	}
}

func TestFilesReadsAllPagesAndSaysWhatIsMissing(t *testing.T) {
	listed := 250
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var page int
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		require.Equal(t, "100", r.URL.Query().Get("per_page"))
		if page*100 < listed {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, page+1))
		}
		var files []string
		for i := (page - 1) * 100; i < min(page*100, listed); i++ {
			files = append(files, fmt.Sprintf(`{"filename":"f%d","status":"added","additions":1,"patch":"@@ -0,0 +1`+
				` @@\n+x"}`, i))
		}
		io.WriteString(w, "["+strings.Join(files, ",")+"]")
	})
	for changed, want := range map[int]bool{250: true, 251: false, 4000: false} {
		files, complete, err := c.Files(t.Context(), pull.Pull{Ref: ref, ChangedFiles: changed})
		require.NoError(t, err)
		require.Len(t, files, 250)
		require.Equal(t, "f249", files[249].Path)
		require.Equal(t, want, complete, changed)
	}
}

func TestEndlessPagesEnd(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var page int
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		w.Header().Set("Link", fmt.Sprintf(`<http://%s/x?page=%d>; rel="next"`, r.Host, page+1))
		io.WriteString(w, "[]")
	})
	_, err := c.Reviews(t.Context(), ref)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestFilesTellBinaryFromEmptyAndFromTooLarge(t *testing.T) {
	c := routes(t, map[string]string{"/repos/o/r/pulls/7/files?page=1&per_page=100": `[
		{"filename":"logo.png","status":"added","sha":"aa"},
		{"filename":"empty","status":"added","sha":"` + emptyBlob + `"},
		{"filename":"new","previous_filename":"old","status":"renamed","sha":"bb"},
		{"filename":"big.go","status":"modified","additions":2000,"changes":2000,"sha":"cc"}]`})
	files, _, err := c.Files(t.Context(), pull.Pull{Ref: ref})
	require.NoError(t, err)
	require.Equal(t, []diff.File{
		{Path: "logo.png", Status: diff.Added, Binary: true, Blob: "aa"},
		{Path: "empty", Status: diff.Added, Blob: emptyBlob},
		{Path: "new", OldPath: "old", Status: diff.Renamed, Blob: "bb"},
		{Path: "big.go", Status: diff.Modified, Additions: 2000, Blob: "cc"},
	}, files)
}

func TestContentIsRawAndBounded(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, mediaRaw, r.Header.Get("Accept"))
		require.Equal(t, "abc", r.URL.Query().Get("ref"))
		if !strings.HasSuffix(r.URL.Path, "/empty") {
			io.WriteString(w, "0123456789")
		}
	})
	got, err := c.Content(t.Context(), "o", "r", ".github/x.yml", "abc", 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(got))
	_, err = c.Content(t.Context(), "o", "r", ".github/x.yml", "abc", 9)
	require.ErrorIs(t, err, ErrTooLarge)
	got, err = c.Content(t.Context(), "o", "r", "empty", "abc", 9)
	require.NoError(t, err, "an empty file is a file")
	require.Empty(t, got)
}

func TestLabelSetterIsTheNewest(t *testing.T) {
	c := routes(t, map[string]string{"/repos/o/r/issues/7/events?page=1&per_page=100": `[
		{"event":"labeled","label":{"name":"other"},"actor":{"login":"x"},"created_at":"2026-01-04T00:00:00Z"},
		{"event":"labeled","label":{"name":"AI-Review"},"actor":{"login":"second"},"created_at":"2026-01-02T00:00:00Z"},
		{"event":"labeled","label":{"name":"ai-review"},"actor":{"login":"first"},"created_at":"2026-01-01T00:00:00Z"},
		{"event":"unlabeled","label":{"name":"ai-review"},"actor":{"login":"third"},
		"created_at":"2026-01-03T00:00:00Z"}]`})
	login, err := c.LabelSetter(t.Context(), ref, "ai-review")
	require.NoError(t, err)
	require.Equal(t, "second", login)
	_, err = c.LabelSetter(t.Context(), ref, "never-set")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestCheck12_PermissionIsOneOfFour(t *testing.T) {
	c := routes(t, map[string]string{
		"/repos/o/r/collaborators/a/permission": `{"permission":"write","role_name":"maintain"}`,
		"/repos/o/r/collaborators/b/permission": `{"permission":"owner"}`,
	})
	level, err := c.Permission(t.Context(), "o", "r", "a")
	require.NoError(t, err)
	require.Equal(t, "write", level)
	for _, login := range []string{"b", ""} {
		_, err = c.Permission(t.Context(), "o", "r", login)
		require.Error(t, err)
	}
}

func TestEnvironmentCountsRequiredReviewersAlone(t *testing.T) {
	c := routes(t, map[string]string{"/repos/o/r/environments/ai%2Freview": `{"name":"ai/review","protection_rules":[
		{"type":"wait_timer","wait_timer":5},{"type":"branch_policy"},
		{"type":"required_reviewers","reviewers":[{"type":"User","reviewer":{"login":"rita"}},{"type":"Team",
		"reviewer":{"name":"Leads","slug":"leads"}}]}]}`})
	e, err := c.Environment(t.Context(), "o", "r", "ai/review")
	require.NoError(t, err)
	require.Equal(t, Environment{Name: "ai/review", Reviewers: 2, Users: []string{"rita"}, Teams: []string{"leads"},
		Rules: 3}, e)
}

func TestCheck4_RunNamesItsWorkflowAndRepositories(t *testing.T) {
	const body = `{"id":5,"run_attempt":2,"path":".github/workflows/x.yml","event":"pull_request_target",
		"head_branch":"f",
		"head_sha":"h","repository":{"id":1,"full_name":"o/r"},"head_repository":%s,"actor":{"login":"a"},
		"triggering_actor":{"login":"b"},"status":"completed","conclusion":"failure","html_url":"https://x/5",
		"created_at":"2026-01-02T00:00:00Z"}`
	for head, id := range map[string]int64{`{"id":9}`: 9, `null`: 0} {
		c := routes(t, map[string]string{"/repos/o/r/actions/runs/5": fmt.Sprintf(body, head)})
		r, err := c.Run(t.Context(), "o", "r", 5)
		require.NoError(t, err)
		require.Equal(t, Run{ID: 5, Path: ".github/workflows/x.yml", Event: "pull_request_target", HeadBranch: "f",
			HeadSHA: "h",
			RepoID:  1, HeadRepoID: id, Status: "completed", Conclusion: "failure", Actor: "a",
			Created: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, r)
	}
}

func TestApprovalsKeepUserAndComment(t *testing.T) {
	c := routes(t, map[string]string{"/repos/o/r/actions/runs/5/approvals": `[
		{"state":"approved","comment":"/drop F1","user":{"login":"u"},"environments":[{"name":"ai"},{"name":"b"}]},
		{"state":"rejected","user":null,"environments":[]}]`})
	got, err := c.Approvals(t.Context(), "o", "r", 5)
	require.NoError(t, err)
	require.Equal(t, []Approval{{Environments: []string{"ai", "b"}, State: "approved", User: "u", Comment: "/drop F1"},
		{State: "rejected"}}, got)
}

func TestT19_ArtifactsComeWithTheirRunAndExactName(t *testing.T) {
	const list = `{"total_count":3,"artifacts":[
		{"id":4,"name":"n","digest":null,"workflow_run":null},
		{"id":9,"name":"n","size_in_bytes":3,"digest":"sha256:ab","expired":true,"created_at":"2026-01-02T00:00:00Z",
		"workflow_run":{"id":5,"repository_id":1,"head_repository_id":2,"head_sha":"h"}},
		{"id":8,"name":"n-other"}]}`
	q := query("name", "n", "page", "1", "per_page", "100")
	c := routes(t, map[string]string{"/repos/o/r/actions/artifacts" + q: list,
		"/repos/o/r/actions/runs/5/artifacts" + q: list})
	want := []Artifact{
		{ID: 9, Name: "n", Size: 3, Digest: "sha256:ab", Created: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
			Expired: true, RunID: 5, RepositoryID: 1},
		{ID: 4, Name: "n"},
	}
	got, _, err := c.Artifacts(t.Context(), "o", "r", Artifacts{Name: "n"})
	require.NoError(t, err)
	require.Equal(t, want, got)
	want[1].RunID = 5 // the list is of that run, whatever it leaves out
	got, _, err = c.Artifacts(t.Context(), "o", "r", Artifacts{Run: 5, Name: "n"})
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestDownloadAsksTheStoreWithoutToken(t *testing.T) {
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Authorization"))
		if r.URL.Query().Get("sig") != "good" {
			w.WriteHeader(403)
			return
		}
		io.WriteString(w, "zip-bytes")
	}))
	defer store.Close()
	sig := "good"
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer "+token, r.Header.Get("Authorization"))
		w.Header().Set("Location", store.URL+"/blob?sig="+sig)
		w.WriteHeader(http.StatusFound)
	})
	got, err := c.Download(t.Context(), "o", "r", 3, 9)
	require.NoError(t, err)
	require.Equal(t, "zip-bytes", string(got))
	_, err = c.Download(t.Context(), "o", "r", 3, 8)
	require.ErrorIs(t, err, ErrTooLarge)
	require.NotContains(t, err.Error(), "sig=")

	sig = "stale"
	_, err = c.Download(t.Context(), "o", "r", 3, 9)
	var status *transport.StatusError
	require.ErrorAs(t, err, &status)
	require.NotErrorIs(t, err, ErrNoAccess, "the store refused, not the API")
	require.NotContains(t, err.Error(), "stale")
}

func TestCanWritePullsKnowsClassicTokensAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		header    []string
		body      string
		known, ok bool
	}{
		"app token":              {nil, `{"id":1,"permissions":{"pull":true}}`, false, false},
		"repo":                   {[]string{"gist, repo"}, `{"id":1,"private":true}`, true, true},
		"public_repo on public":  {[]string{"public_repo"}, `{"id":1}`, true, true},
		"public_repo on private": {[]string{"public_repo"}, `{"id":1,"private":true}`, true, false},
		"no scope":               {[]string{""}, `{"id":1}`, true, false},
		"repo:status alone":      {[]string{"repo:status"}, `{"id":1}`, true, false},
		"no role":                {[]string{"repo"}, `{"id":1,"permissions":{"pull":false}}`, true, false},
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if tc.header != nil {
				w.Header()["X-Oauth-Scopes"] = tc.header
			}
			io.WriteString(w, tc.body)
		})
		known, ok, err := c.CanWritePulls(t.Context(), "o", "r")
		require.NoError(t, err, name)
		require.Equal(t, []bool{tc.known, tc.ok}, []bool{known, ok}, name)
	}
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	c.token = ""
	known, ok, err := c.CanWritePulls(t.Context(), "o", "r")
	require.NoError(t, err)
	require.True(t, known && !ok, "nobody posts without a token")
}
