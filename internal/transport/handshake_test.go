package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnUntrustedCertificateIsNotTriedAgain(t *testing.T) {
	server := httptest.NewUnstartedServer(text("x"))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	var w waits
	_, _, err := get(t, New(w.options(Options{})), server.URL)
	require.Error(t, err)
	require.Empty(t, w.all)
}

func TestAFailedHandshakeIsNotTriedAgain(t *testing.T) {
	plain, _ := answers(t, text("x"))
	garbage, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer garbage.Close()
	go func() {
		for {
			c, err := garbage.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "220 mail.example.com ready\r\n")
			io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	picky := httptest.NewUnstartedServer(text("x"))
	picky.Config.ErrorLog = log.New(io.Discard, "", 0)
	picky.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	picky.StartTLS()
	defer picky.Close()
	for name, address := range map[string]string{
		"speaks http":   strings.Replace(plain, "http://", "https://", 1),
		"speaks no TLS": "https://" + garbage.Addr().String(), "alert": picky.URL,
	} {
		var w waits
		_, _, err := get(t, New(w.options(Options{})), address)
		require.Error(t, err, name)
		require.Empty(t, w.all, "%s: %v", name, err)
	}
	alert := &net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "remote error",
		Err: errors.New("tls: handshake failure")}}
	require.True(t, isPermanent(alert))
	require.False(t, isPermanent(&net.OpError{Op: "read", Err: syscall.ECONNRESET}))
	require.False(t, isPermanent(errors.New("net/http: TLS handshake timeout")))
}
