package transport

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestD8_T30_RedirectsStayOnTheHost(t *testing.T) {
	other, otherCalls := answers(t, text("stolen"))
	base, calls := answers(t, status(302, "Location", other+"/x?sig=secret"))
	client := New(Options{})
	req, err := http.NewRequest("GET", base, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	_, err = client.Do(req)
	require.ErrorIs(t, err, ErrRedirect)
	require.NotContains(t, Clean(err).Error(), "secret")
	require.Equal(t, 1, calls())
	require.Zero(t, otherCalls(), "the second server sees no request")

	base, _ = answers(t, status(301, "Location", "/new"), text("moved"))
	_, body, err := get(t, client, base)
	require.NoError(t, err)
	require.Equal(t, "moved", body)

	base, calls = answers(t, status(301, "Location", "/new"), text("what is there to read"))
	_, err = client.Post(base, "application/json", strings.NewReader("{}"))
	require.ErrorIs(t, err, ErrRedirect, "what was to be written is not")
	require.Equal(t, 1, calls())

	base, calls = answers(t, status(302, "Location", "/again"))
	_, _, err = get(t, client, base)
	require.ErrorIs(t, err, ErrRedirect)
	require.Equal(t, maxRedirects+1, calls())
}

func TestT30_RedirectsStayOnHTTPS(t *testing.T) {
	first := &http.Request{URL: &url.URL{Scheme: "https", Host: "h"}}
	next := &http.Request{URL: &url.URL{Scheme: "http", Host: "h"}}
	require.ErrorIs(t, checkRedirect(next, []*http.Request{first}), ErrRedirect)
	require.NoError(t, checkRedirect(first, []*http.Request{first}))
}
