package githubtest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// NewProxy starts a proxy on loopback that tunnels to this machine whatever name it is asked for, port kept. It returns
// its address and counts the tunnels asked for; it closes with the test.
func NewProxy(t testing.TB) (address string, tunnels *atomic.Int32) {
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
