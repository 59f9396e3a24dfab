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

// hasUntrustedSettings reports whether the settings come from the inspected folder or repository, on a
// person's own machine: their author does not own the environment variables. In a workflow
// they come from the base, and the workflow decides which variables a step gets.
func (w Wire) hasUntrustedSettings(s settings.Settings) bool {
	return (s.ConfigAtBase || s.Config == config.DefaultPath) && w.getenv("GITHUB_ACTIONS") != "true"
}

// checkKeyDestination returns an error if settings from the repository would send a variable's value
// anywhere but to this machine or, for a vendor's own key, to that vendor (T9).
func (w Wire) checkKeyDestination(under, vendor string, at config.Endpoint, s settings.Settings) error {
	vendor = strings.ToUpper(cmp.Or(at.Style, vendor))
	theirs := strings.HasPrefix(at.KeyEnv, vendor+"_") || at.KeyEnv == "CO_API_KEY" && vendor == "COHERE"
	if at.KeyEnv == "" || at.BaseURL == "" && theirs || !w.hasUntrustedSettings(s) ||
		at.BaseURL != "" && isLocal(at.BaseURL) {
		return nil
	}
	return refuse(under+".key-env", "send "+at.KeyEnv+" to "+cmp.Or(hostOf(at.BaseURL), vendor))
}

// distrustReason returns why a ticket source that the repository's settings name is not queried:
// it would start a program, or send a variable's value to a host other than this machine or,
// for variables named after Atlassian's products, Atlassian (T9). "" means it may be queried.
func (w Wire) distrustReason(source config.Source, s settings.Settings) string {
	address, variables := source.URL, []string{source.UserEnv, source.TokenEnv}
	if source.Kind == config.SourceMCP {
		address, variables = source.MCP.URL, []string{source.MCP.UserEnv, source.MCP.TokenEnv}
	}
	variables = slices.DeleteFunc(variables, func(name string) bool { return name == "" })
	host, what := "."+hostOf(address), ""
	theirs := strings.HasPrefix(address, "https:") && // an Atlassian address, and variables named after it
		(strings.HasSuffix(host, ".atlassian.net") || strings.HasSuffix(host, ".atlassian.com"))
	for _, name := range variables {
		product, _, _ := strings.Cut(name, "_")
		theirs = theirs && slices.Contains([]string{"JIRA", "CONFLUENCE", "ATLASSIAN"}, product)
	}
	switch {
	case !w.hasUntrustedSettings(s):
	case source.Kind == config.SourceMCP && len(source.MCP.Command) > 0:
		what = "start " + source.MCP.Command[0]
	case len(variables) > 0 && !isLocal(address) && !theirs:
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

// isLocal reports whether an address, which may be a socket, is on this machine.
func isLocal(address string) bool {
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
