package github_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

func TestT19_ListsByPrefixTellForksApart(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	fork := s.AddRepo("f/r", githubtest.RepoOptions{ForkOf: repo})
	own, foreign := repo.AddRun(githubtest.RunOptions{}),
		repo.AddRun(githubtest.RunOptions{HeadRepo: fork, Event: "pull_request"})
	made := own.AddArtifact("pr-review-42-aa", []byte("own"))
	own.AddArtifact("coverage", []byte("x"))
	planted := foreign.AddArtifact("pr-review-42-aa", []byte("planted"))
	c := connect(t, s, reader(s, repo))

	list, _, err := c.Artifacts(t.Context(), "o", "r", github.Artifacts{Prefix: "pr-review-", Pages: 1})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []int64{planted.ID, made.ID}, []int64{list[0].ID, list[1].ID}, "newest first")
	require.Equal(t, []int64{foreign.ID, repo.ID}, []int64{list[0].RunID, list[0].RepositoryID})
	require.Equal(t, made.Digest, list[1].Digest)
	require.WithinDuration(t, made.CreatedAt, list[1].Created, 0)

	list, _, err = c.Artifacts(t.Context(), "o", "r", github.Artifacts{Run: own.ID})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "coverage", list[0].Name)
}

func TestASearchByPrefixReadsSoManyPages(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	run := repo.AddRun(githubtest.RunOptions{})
	run.AddArtifact("pr-review-1-aa", []byte("old"))
	for range 199 {
		run.AddArtifact("other", []byte("x"))
	}
	run.AddArtifact("pr-review-2-bb", []byte("new"))
	c := connect(t, s, reader(s, repo))
	for pages, want := range map[int]int{1: 1, 2: 1, 3: 2, 100: 2} {
		before := len(s.Requests())
		list, cut, err := c.Artifacts(t.Context(), "o", "r", github.Artifacts{Prefix: "pr-review-", Pages: pages})
		require.NoError(t, err)
		require.Len(t, list, want, "%d pages", pages)
		require.Equal(t, pages < 3, cut, "%d pages", pages)
		require.Len(t, s.Requests()[before:], min(pages, 3))
	}
	list, _, err := c.Artifacts(t.Context(), "o", "r", github.Artifacts{Run: run.ID})
	require.NoError(t, err)
	require.Len(t, list, 201)
}

func TestNoArtifactsAreNoneHoweverThatIsWritten(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{
		`{"total_count":0,"artifacts":[]}`: true, `{"total_count":0,"artifacts":null}`: true, `{"total_count":0}`: true,
		`{"total_count":1,"artifacts":null}`: false, `{"artifacts":null}`: false, `null`: false,
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, answer)
			}))
			defer server.Close()
			c, err := github.New(github.Options{APIURL: server.URL, HTTP: server.Client()})
			require.NoError(t, err)
			list, _, err := c.Artifacts(t.Context(), "o", "r", github.Artifacts{Run: 7})
			require.Equal(t, ok, err == nil, "P6: what is left out is not nothing: %v", err)
			require.Empty(t, list)
		})
	}
}

func TestContentThatItsStoreDoesNotGiveSaysWhatToDo(t *testing.T) {
	t.Parallel()
	store := httptest.NewServer(http.NotFoundHandler())
	defer store.Close()
	api := httptest.NewServer(http.RedirectHandler(store.URL+"/blob?sig=secret", http.StatusFound))
	defer api.Close()
	c, err := github.New(github.Options{APIURL: api.URL, HTTP: transport.New(transport.Options{})})
	require.NoError(t, err)
	_, err = c.Download(t.Context(), "o", "r", 7, 100)
	said := problem.Of(err).Error()
	require.Contains(t, said, "its content cannot be downloaded")
	require.Contains(t, said, "run it again")
	require.NotContains(t, said, "secret")
}

func TestCheck12_AMemberIsAPersonOrAnApp(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	repo.Permit("maya", "maintain")
	repo.Permit("helper[bot]", "write")
	s.AddUser("org-bot", "Bot")
	c := connect(t, s, reader(s, repo))
	for login, want := range map[string]github.Member{
		"maya": {Permission: "write"}, "helper[bot]": {Permission: "write", Bot: true},
		"org-bot": {Permission: "read", Bot: true},
	} {
		m, err := c.Member(t.Context(), "o", "r", login)
		require.NoError(t, err)
		require.Positive(t, m.ID)
		m.ID = 0
		require.Equal(t, want, m, login)
	}
	_, err := c.Member(t.Context(), "o", "r", "nobody")
	require.ErrorIs(t, err, github.ErrNotFound)
}

func TestOpenHeadsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	one := repo.AddPull(githubtest.PullOptions{HeadFiles: githubtest.Tree{"a": "1\n"}})
	two := repo.AddPull(githubtest.PullOptions{Head: "b", HeadFiles: githubtest.Tree{"a": "2\n"}})
	repo.AddPull(githubtest.PullOptions{Head: "c", HeadFiles: githubtest.Tree{"a": "3\n"}}).Close()
	two.Push(githubtest.Tree{"a": "4\n"})
	c := connect(t, s, reader(s, repo))
	heads, err := c.OpenHeads(t.Context(), "o", "r")
	require.NoError(t, err)
	require.Equal(t, map[int]string{one.Number: one.HeadSHA(), two.Number: two.HeadSHA()}, heads)
	require.Len(t, s.Requests(), 1)
}

func TestARunSaysHowItStands(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	run := repo.AddRun(githubtest.RunOptions{Actor: "lee"})
	c := connect(t, s, reader(s, repo))
	r, err := c.Run(t.Context(), "o", "r", run.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"in_progress", "", "lee"}, []any{r.Status, r.Conclusion, r.Actor})
	run.Finish("cancelled")
	run.RerunAll()
	run.Trigger("maya")
	run.Finish("failure")
	r, err = c.Run(t.Context(), "o", "r", run.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"completed", "failure", "lee"}, []any{r.Status, r.Conclusion, r.Actor})
}
