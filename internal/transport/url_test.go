package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
)

func TestT30_EndpointsAreChecked(t *testing.T) {
	for raw, want := range map[string]error{
		"https://api.example.com/v1":              nil,
		"http://localhost:1":                      nil,
		"http://127.0.0.9":                        nil,
		"http://[::1]:8080/x":                     nil,
		"http://api.example.com":                  ErrInsecure,
		"http://localhost.example.com":            ErrInsecure,
		"file:///etc/passwd":                      ErrAddress,
		"ftp://localhost":                         ErrAddress,
		"https://":                                ErrAddress,
		"https://u:p@api.example.com":             ErrAddress,
		"//api.example.com":                       ErrAddress,
		"%":                                       ErrAddress,
		"http://169.254.169.254/latest":           ErrForbidden,
		"https://[fe80::1%25eth0]/":               ErrForbidden,
		"https://[::ffff:169.254.169.254]/":       ErrForbidden,
		"https://metadata.google.internal./x":     ErrForbidden,
		"https://168.63.129.16/":                  ErrForbidden,
		"https://[fd00:ec2:0::254]/":              ErrForbidden,
		"https://api.example.com/?key=verysecret": nil,
	} {
		_, err := CheckURL(raw, false)
		require.ErrorIs(t, err, want, raw)
		if want != nil && raw != "%" {
			_, _, err = get(t, New(Options{}), raw)
			require.Error(t, err, raw)
		}
	}
	_, err := CheckURL("http://gateway.internal:4000", true)
	require.NoError(t, err)
	_, err = CheckURL("http://169.254.169.254", true)
	require.ErrorIs(t, err, ErrForbidden)
	_, err = CheckURL("ftp://x.example/?key=verysecret", false)
	require.NotContains(t, err.Error(), "verysecret")
	_, err = CheckURL("https://me:verysecret@x.example/v1", false)
	require.EqualError(t, err, "not the address of a server: it has a user or password before x.example")
	for raw, says := range map[string]string{
		" http://localhost/v1": "there is a blank or a line break in it", "https://a b/": "there is a blank",
		"https://u:very\nsecret@x/": "there is a blank", " ": `server: " "`, "my host/v 1": `server: "my host/v 1"`,
	} {
		_, refused := CheckURL(raw, false)
		require.ErrorContains(t, refused, says, raw)
	}
	require.NotContains(t, problem.Of(err).Error(), "allow-http", "which would not help")
	require.False(t, Sent(err))
}

func TestT30_AddressesAreCheckedAgainWhenTheirNameIsResolved(t *testing.T) {
	require.NoError(t, refuseForbidden("tcp", "192.0.2.1:443", nil))
	for _, address := range []string{"169.254.169.254:80", "[fe80::1]:80", "[fd00:ec2::254]:80"} {
		_, err := newBase().DialContext(t.Context(), "tcp", address) // as of a name that resolves to it
		require.ErrorIs(t, err, ErrForbidden, address)
	}
}
