package wire

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// brought reports whether the settings came with the folder or the repository that is
// looked at, on a person's own machine: whoever wrote them is not who has the variables.
// In a workflow they are the base's, and it says itself which variables a step has.
func (w Wire) brought(s settings.Settings) bool {
	return !s.ConfigNamed && s.Config == config.DefaultPath && w.getenv("GITHUB_ACTIONS") != "true"
}

// mayTake refuses to send a variable's value where settings that were brought along say:
// but for a vendor's own key to that vendor, and to this machine (T9).
func (w Wire) mayTake(under, vendor string, at config.Endpoint, s settings.Settings) error {
	vendor = strings.ToUpper(cmp.Or(at.Style, vendor))
	theirs := strings.HasPrefix(at.KeyEnv, vendor+"_") || at.KeyEnv == "CO_API_KEY" && vendor == "COHERE"
	if at.KeyEnv == "" || at.BaseURL == "" && theirs || !w.brought(s) || at.BaseURL != "" && local(at.BaseURL) {
		return nil
	}
	return refuse(under+".key-env", "send "+at.KeyEnv+" to "+cmp.Or(hostOf(at.BaseURL), vendor))
}

// distrusts says why a source of tickets is not asked where settings that were brought
// along name it: it starts a program, or has a variable's value sent elsewhere than to
// this machine or, of those named for Atlassian's products, to Atlassian (T9).
func (w Wire) distrusts(source config.Source, s settings.Settings) string {
	address, variables := source.URL, []string{source.UserEnv, source.TokenEnv}
	if source.Kind == config.SourceMCP {
		address, variables = source.MCP.URL, []string{source.MCP.UserEnv, source.MCP.TokenEnv}
	}
	variables = slices.DeleteFunc(variables, func(name string) bool { return name == "" })
	host, what := "."+hostOf(address), ""
	theirs := strings.HasPrefix(address, "https:") && // an address of Atlassian's, and variables named for it
		(strings.HasSuffix(host, ".atlassian.net") || strings.HasSuffix(host, ".atlassian.com"))
	for _, name := range variables {
		product, _, _ := strings.Cut(name, "_")
		theirs = theirs && slices.Contains([]string{"JIRA", "CONFLUENCE", "ATLASSIAN"}, product)
	}
	switch {
	case !w.brought(s):
	case source.Kind == config.SourceMCP && len(source.MCP.Command) > 0:
		what = "start " + source.MCP.Command[0]
	case len(variables) > 0 && !local(address) && !theirs:
		what = "send " + strings.Join(variables, " and ") + " to " + hostOf(address)
	}
	if what == "" {
		return ""
	}
	return "settings that a repository brings along may not " + what + "; if you trust them, --config ./" +
		config.DefaultPath
}

func refuse(key, what string) error {
	return problem.Usage(fmt.Sprintf("%s: settings that a repository brings along may not %s", key, what),
		"look at them, and if you trust them name the file yourself: --config ./"+config.DefaultPath)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// local reports whether an address is on this machine, a socket's too.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	hosts := append(strings.Split(u.Host, ","), strings.Split(u.Query().Get("host"), ",")...)
	for _, host := range append(hosts, u.Query().Get("hostaddr")) {
		name := (&url.URL{Host: host}).Hostname()
		if host != "" && !strings.HasPrefix(host, "/") && !transport.Loopback(name) {
			return false
		}
	}
	return true
}
