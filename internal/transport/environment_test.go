package transport

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// TestMain makes this program the other process of the tests below where it is
// started as one: the standard library reads proxies and certificates from the
// environment once.
func TestMain(m *testing.M) {
	address := os.Getenv("TRANSPORT_TEST_URL")
	if address == "" {
		os.Exit(m.Run())
	}
	resp, err := New(Options{Tries: 1}).Get(address)
	if err != nil {
		fmt.Printf("error: %v\n", err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	fmt.Printf("body: %s\n", body)
}

func child(t *testing.T, address string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{"TRANSPORT_TEST_URL=" + address, "SSL_CERT_DIR=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestPrivateAuthorityAndProxyComeFromTheEnvironment(t *testing.T) {
	server := httptest.NewUnstartedServer(text("private"))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // one child is meant to hang up
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(block), 0o600))
	trust := "SSL_CERT_FILE=" + ca

	require.Contains(t, child(t, server.URL, trust), "body: private")
	require.Contains(t, child(t, server.URL), "certificate", "without it the server is not trusted")

	proxy, hits := githubtest.NewProxy(t)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	require.Contains(t, child(t, "https://example.com:"+port+"/", trust, "HTTPS_PROXY="+proxy), "body: private")
	require.EqualValues(t, 1, hits.Load())

	out := child(t, "https://nowhere.invalid/", trust, "HTTPS_PROXY="+proxy, "NO_PROXY=.invalid")
	require.Contains(t, out, "error:")
	require.EqualValues(t, 1, hits.Load(), "NO_PROXY names are not sent to the proxy")

	require.Contains(t, child(t, "http://example.com/", "HTTP_PROXY="+proxy), ErrInsecure.Error())
	require.EqualValues(t, 1, hits.Load())
}
