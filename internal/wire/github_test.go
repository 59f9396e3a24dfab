package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/settings"
)

func TestATokenFromTheEnvironmentGoesToItsOwnServerAlone(t *testing.T) {
	t.Parallel()
	const ours, enterprise = "GITHUB_TOKEN=ours", "GH_ENTERPRISE_TOKEN=theirs"
	for _, c := range []struct {
		host    string
		environ []string
		want    string
	}{
		{"github.com", []string{ours}, "ours"},
		{"github.com", []string{"GH_TOKEN=ours"}, "ours"},
		{"acme.ghe.com", []string{ours}, "ours"},
		{"127.0.0.1:8080", []string{ours}, "ours"},
		{"localhost:8080", []string{ours}, "ours"},
		{"ghe.corp", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, "ours"},
		{"ghe.corp", []string{ours, "GH_HOST=GHE.corp"}, "ours"},
		{"github.com", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, ""},
		{"acme.ghe.com", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, ""},
		{"evil.example", []string{ours}, ""},
		{"github.com.evil.example", []string{ours}, ""},
		{"ghe.corp", []string{ours, enterprise}, "theirs"},
	} {
		w := New(environ(c.environ), nil, nil)
		require.Equal(t, c.want, w.token(c.host, settings.Settings{}), "%s %v", c.host, c.environ)
		require.Equal(t, "given", w.token(c.host, settings.Settings{Token: "given"}),
			"the input is for the server of the job")
	}
}

// environ looks variables up in a list of NAME=value.
func environ(list []string) func(string) string {
	return func(name string) string {
		for _, entry := range list {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}
