package wire

import (
	"cmp"
	"net"
	"strings"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// GitHub returns the client for the API of a pull request's server, with the
// token that belongs there.
func (w Wire) GitHub(ref pull.Ref, s settings.Settings) (*github.Client, error) {
	address := github.APIURL(ref, w.getenv)
	if _, err := transport.CheckURL(address, s.AllowHTTP); err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	c, err := github.New(github.Options{APIURL: address, Token: w.token(ref.Host, s), HTTP: w.Client(s, nil)})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return c, nil
}

// token is the credential for a host. A token from the environment belongs to
// the server that GITHUB_SERVER_URL names, GitHub itself when unset, to that of
// GH_HOST, and to this machine; another host in an address that somebody passed
// along gets none.
func (w Wire) token(host string, s settings.Settings) string {
	if s.Token != "" {
		return s.Token
	}
	home := pull.Ref{Host: pull.DefaultHost}.On(w.getenv("GITHUB_SERVER_URL")).Host
	tenant := home == pull.DefaultHost && strings.HasSuffix(host, ".ghe.com")
	if host == home || tenant || strings.EqualFold(host, w.getenv("GH_HOST")) || transport.Loopback(hostname(host)) {
		return cmp.Or(w.getenv("GITHUB_TOKEN"), w.getenv("GH_TOKEN"))
	}
	return w.getenv("GH_ENTERPRISE_TOKEN")
}

// hostname takes the port off a host.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}
