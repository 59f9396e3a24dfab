package transport

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChild is the other process of the tests below: the standard library
// reads proxies and certificates from the environment once.
func TestChild(t *testing.T) {
	address := os.Getenv("TRANSPORT_TEST_URL")
	if address == "" {
		t.Skip("only as a child")
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
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = append([]string{"TRANSPORT_TEST_URL=" + address, "SSL_CERT_DIR=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// tunnel is a proxy that connects every name to one address.
func tunnel(t *testing.T, target string) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		out, err := net.Dial("tcp", target)
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

	proxy, hits := tunnel(t, server.Listener.Addr().String())
	require.Contains(t, child(t, "https://example.com/", trust, "HTTPS_PROXY="+proxy), "body: private")
	require.EqualValues(t, 1, hits.Load())

	out := child(t, "https://nowhere.invalid/", trust, "HTTPS_PROXY="+proxy, "NO_PROXY=.invalid")
	require.Contains(t, out, "error:")
	require.EqualValues(t, 1, hits.Load(), "NO_PROXY names are not sent to the proxy")

	require.Contains(t, child(t, "http://example.com/", "HTTP_PROXY="+proxy), ErrInsecure.Error())
	require.EqualValues(t, 1, hits.Load())
}
