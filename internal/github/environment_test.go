package github_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// noting keeps what goes through it.
type noting struct {
	http.RoundTripper
	hosts map[string]int
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	n.hosts[r.URL.Host]++
	return n.RoundTripper.RoundTrip(r)
}

// Proxies and private authorities are the client's: transport's own test holds that it goes by the environment.
func TestAPIAndStoreAreReachedByTheClientThatIsGiven(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	repo.AddPull(githubtest.PullOptions{Number: 1})
	stored := repo.AddRun(githubtest.RunOptions{}).AddArtifact("n", []byte("bytes"))
	client, seen := transport.New(transport.Options{Tries: 1}), map[string]int{}
	client.Transport = noting{client.Transport, seen}
	c, err := github.New(github.Options{APIURL: s.URL, Token: reader(s, repo), HTTP: client})
	require.NoError(t, err)

	_, err = c.Pull(t.Context(), pull.Ref{Owner: "o", Repo: "r", Number: 1})
	require.NoError(t, err)
	zip, err := c.Download(t.Context(), "o", "r", stored.ID, 100)
	require.NoError(t, err)
	require.Equal(t, "bytes", string(zip))
	require.Len(t, seen, 2, "the API and the store")
	all := 0
	for _, n := range seen {
		all += n
	}
	require.Len(t, s.Requests(), all, "nothing goes another way")
}
