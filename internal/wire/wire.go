// Package wire makes what a run talks to, from settings and the process's variables:
// the clients of GitHub and of models, the reviewer with its caps and tools, the
// trace and the stores.
//
// It knows no command and prints nothing. A new store is a room of its own under
// checkpoint and a case in Wire.OpenStore; a new carrier, which takes checkpoints out
// of a job, is a type of artifactstore and a line in Carriers. Start reading at Wire.
package wire

import (
	"net/http"
	"runtime/debug"
	"time"

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

// New makes a Wire. debug takes a line about each try and the stack of a panic; nil
// where nobody asked for debug logging.
func New(getenv func(string) string, now func() time.Time, debug func(string)) Wire {
	return Wire{getenv, now, debug}
}

// Version is the program's version: that of the module where it was installed
// as one, else the commit it was built from.
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

// Redactor knows the credentials of this process, which no text may carry away; more
// are the variables that a settings file names for some.
func (w Wire) Redactor(s settings.Settings, more ...string) *secret.Redactor {
	values := []string{s.Token, s.Key}
	for _, name := range append([]string{"OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN",
		"ACTIONS_RUNTIME_TOKEN", "INPUT_CHECKPOINT-KEY", "PR_REVIEW_CHECKPOINT_KEY", "PR_REVIEW_JUDGE_KEY"}, more...) {
		values = append(values, w.getenv(name))
	}
	return secret.New(values...)
}
