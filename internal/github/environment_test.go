package github_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// TestMain makes this program the other process of the test below where it is
// started as one.
func TestMain(m *testing.M) {
	if address := os.Getenv("GITHUB_TEST_URL"); address != "" {
		if err := child(address); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(address string) error {
	c, err := github.New(github.Options{APIURL: address, Token: os.Getenv("GITHUB_TEST_TOKEN"),
		HTTP: transport.New(transport.Options{Tries: 1})})
	if err != nil {
		return err
	}
	if _, err := c.Pull(context.Background(), pull.Ref{Owner: "o", Repo: "r", Number: 1}); err != nil {
		return err
	}
	id, err := strconv.ParseInt(os.Getenv("GITHUB_TEST_ARTIFACT"), 10, 64)
	if err != nil {
		return err
	}
	zip, err := c.Download(context.Background(), "o", "r", id, 100)
	fmt.Printf("zip: %s\n", zip)
	return err
}

func TestAPIAndStoreAreReachedThroughProxyAndPrivateAuthority(t *testing.T) {
	s := githubtest.New(t, githubtest.Options{TLS: true, Host: "example.com"})
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	repo.AddPull(githubtest.PullOptions{Number: 1})
	stored := repo.AddRun(githubtest.RunOptions{}).AddArtifact("n", []byte("bytes"))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, s.CertificatePEM(), 0o600))
	proxy, hits := githubtest.NewProxy(t)

	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"GITHUB_TEST_URL=" + s.URL, "GITHUB_TEST_TOKEN=" + reader(s, repo),
		"GITHUB_TEST_ARTIFACT=" + fmt.Sprint(stored.ID),
		"SSL_CERT_FILE=" + ca, "SSL_CERT_DIR=" + t.TempDir(), "HTTPS_PROXY=" + proxy}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "zip: bytes")
	require.EqualValues(t, 2, hits.Load(), "one tunnel to the API, one to the store")
}
