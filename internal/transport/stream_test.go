package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

func TestAStreamComesAsItIsWritten(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "a")
		w.(http.Flusher).Flush()
		<-more
		fmt.Fprint(w, strings.Repeat("b", 100))
	}))
	defer s.Close()
	client := transport.New(transport.Options{Stream: true, Timeout: 5 * time.Second, MaxBody: 10})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(resp.Body, first)
	require.NoError(t, err)
	close(more)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, transport.ErrTooLarge)
}

func TestAStreamEndsInTime(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	_, err := transport.New(transport.Options{Stream: true, Timeout: 50 * time.Millisecond}).Get(s.URL)
	require.ErrorIs(t, err, transport.ErrTimeout)
}
