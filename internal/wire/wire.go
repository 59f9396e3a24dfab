// Package wire makes what a run talks to, from settings and environment variables: the
// clients of GitHub and of models, the reviewer with its caps and tools, the trace and the
// stores.
//
// It knows no command and prints nothing. Start reading at Wire.
package wire

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// Wire makes what a run talks to.
type Wire struct {
	getenv func(string) string
	now    func() time.Time
	debug  func(string)
}

// New makes a Wire. debug receives a line about each try and the stack of a panic; nil turns
// debug logging off.
func New(getenv func(string) string, now func() time.Time, debug func(string)) Wire {
	return Wire{getenv, now, debug}
}

// Version returns the program's version: the module's if it was installed as one, otherwise the
// commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "development"
}

func (w Wire) Client(s settings.Settings, retry func(*http.Request) bool) *http.Client {
	o := w.transport(s, nil)
	o.Retry = retry
	return transport.New(o)
}

func (w Wire) transport(s settings.Settings, onWait func(time.Duration, string)) transport.Options {
	return transport.Options{UserAgent: "pr-review-action/" + Version(), AllowHTTP: s.AllowHTTP, OnWait: onWait}
}

// Redactor returns a redactor for this process's credentials, which no text may leak; more
// names further variables, which a settings file declares.
func (w Wire) Redactor(s settings.Settings, more ...string) *secret.Redactor {
	values := []string{s.Token, s.Key}
	for _, name := range append([]string{"OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN",
		"ACTIONS_RUNTIME_TOKEN", "INPUT_CHECKPOINT-KEY", "PR_REVIEW_CHECKPOINT_KEY", "PR_REVIEW_JUDGE_KEY"}, more...) {
		values = append(values, w.getenv(name))
	}
	return secret.New(values...)
}

// GitHub returns the client for the API of a pull request's server, with the
// token that belongs there.
func (w Wire) GitHub(ref pull.Ref, s settings.Settings) (*github.Client, error) {
	o := github.Options{APIURL: github.APIURL(ref, w.getenv), GraphQLURL: github.GraphQLURL(ref, w.getenv),
		Token: w.token(ref.Host, s), HTTP: w.Client(s, nil)}
	for _, address := range []string{o.APIURL, cmp.Or(o.GraphQLURL, o.APIURL)} {
		if _, err := transport.CheckURL(address, s.AllowHTTP); err != nil {
			return nil, problem.As(problem.Misuse, err, "")
		}
	}
	c, err := github.New(o)
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return c, nil
}

// token returns the credential for a host. A token from the environment belongs to the server
// in GITHUB_SERVER_URL (GitHub itself if unset), to the server in GH_HOST, and to this
// machine; any other host gets none but GH_ENTERPRISE_TOKEN.
func (w Wire) token(host string, s settings.Settings) string {
	if s.Token != "" {
		return s.Token
	}
	home := pull.Ref{Host: pull.DefaultHost}.On(w.getenv("GITHUB_SERVER_URL")).Host
	tenant := home == pull.DefaultHost && strings.HasSuffix(host, ".ghe.com")
	if host == home || tenant || strings.EqualFold(host, w.getenv("GH_HOST")) ||
		transport.Loopback((&url.URL{Host: host}).Hostname()) {
		return cmp.Or(w.getenv("GITHUB_TOKEN"), w.getenv("GH_TOKEN"))
	}
	return w.getenv("GH_ENTERPRISE_TOKEN")
}

// NamedConfig reads the settings file that --config names on this machine. Without the flag
// it returns the defaults that the inputs carry, or without these the settings in otherwise.
func NamedConfig(file config.File, otherwise config.Config) (config.Config, error) {
	switch {
	case file.Path == config.DefaultPath && file.Defaults == "":
		return file.Over(otherwise), nil
	case file.Path == config.DefaultPath:
		return file.Parse(nil)
	}
	text, err := ReadConfig(file.Path)
	if err != nil {
		return otherwise, err
	}
	return file.Parse(text)
}

// ReadConfig reads the settings file that --config names on this machine.
func ReadConfig(name string) ([]byte, error) {
	text, err := ReadFile(name, config.MaxSize)
	if err != nil {
		return nil, problem.Usage("the settings cannot be read: "+err.Error(),
			"--config names a file; without it the defaults apply")
	}
	return text, nil
}

// ReadFile reads a file of this machine, of a longer one than max bytes one byte more. It refuses a named pipe, which
// would wait for a writer through every signal, but not those of a shell's <(…).
func ReadFile(name string, max int64) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !shellPipe().MatchString(name) {
		return nil, errors.New(name + " is not a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max+1))
}

var shellPipe = pattern.Lazy(`^/(?:dev|proc)/`)
