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

	proxy, hits := newProxy(t)
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

// newProxy starts a proxy on loopback that tunnels to this machine whatever name it is asked for, port kept. It returns
// its address and counts the tunnels asked for; it closes with the test.
func newProxy(t *testing.T) (address string, tunnels *atomic.Int32) {
	t.Helper()
	tunnels = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tunnels.Add(1)
		tunnel(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, tunnels
}

func tunnel(w http.ResponseWriter, r *http.Request) {
	_, port, err := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || err != nil {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	out, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer out.Close()
	w.WriteHeader(http.StatusOK)
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	go io.Copy(out, buffered) // what the server has read ahead is in there
	io.Copy(in, out)
}
