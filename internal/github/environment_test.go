package github_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// TestChild is the other process of the test below.
func TestChild(t *testing.T) {
	if os.Getenv("GITHUB_TEST_URL") == "" {
		t.Skip("only as a child")
	}
	c, err := github.New(github.Options{
		APIURL: os.Getenv("GITHUB_TEST_URL"), Token: os.Getenv("GITHUB_TEST_TOKEN"), HTTP: transport.New(transport.Options{Tries: 1}),
	})
	require.NoError(t, err)
	_, err = c.Pull(t.Context(), pull.Ref{Owner: "o", Repo: "r", Number: 1})
	require.NoError(t, err)
	id, err := strconv.ParseInt(os.Getenv("GITHUB_TEST_ARTIFACT"), 10, 64)
	require.NoError(t, err)
	zip, err := c.Download(t.Context(), "o", "r", id, 100)
	require.NoError(t, err)
	fmt.Printf("zip: %s\n", zip)
}

// tunnel is a proxy that connects every name to loopback, port kept.
func tunnel(t *testing.T) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		_, port, _ := net.SplitHostPort(r.Host)
		out, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		in, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			out.Close()
			return
		}
		go func() { io.Copy(out, buffered); out.Close() }() // what the server has read ahead is in there
		io.Copy(in, out)
		in.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL, hits
}

func TestAPIAndStoreAreReachedThroughProxyAndPrivateAuthority(t *testing.T) {
	s := githubtest.New(t, githubtest.Options{TLS: true, Host: "example.com"})
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	repo.AddPull(githubtest.PullOptions{Number: 1})
	stored := repo.AddRun(githubtest.RunOptions{}).AddArtifact("n", []byte("bytes"))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, s.CertificatePEM(), 0o600))
	proxy, hits := tunnel(t)

	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = []string{"GITHUB_TEST_URL=" + s.URL, "GITHUB_TEST_TOKEN=" + reader(s, repo), "GITHUB_TEST_ARTIFACT=" + fmt.Sprint(stored.ID),
		"SSL_CERT_FILE=" + ca, "SSL_CERT_DIR=" + t.TempDir(), "HTTPS_PROXY=" + proxy}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "zip: bytes")
	require.EqualValues(t, 2, hits.Load(), "one tunnel to the API, one to the store")
}
