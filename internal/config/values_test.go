package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func TestValuesHasEveryKey(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte(modelSettings))
	require.NoError(t, err)
	var names []string
	for _, v := range c.Values() {
		names = append(names, v.Key)
	}
	for _, key := range known("prices.gpt-9") {
		leaf := !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, key+".") })
		inside := strings.HasPrefix(key, "prices.gpt-9.") || strings.HasPrefix(key, "guidelines.") ||
			strings.HasPrefix(key, "environments.") || strings.HasPrefix(key, "modules.") ||
			strings.HasPrefix(key, "context.sources.")
		if leaf && !inside {
			require.Contains(t, names, key)
		}
	}
}

func TestValuesShowsNoHeadersValue(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("model-options: {headers: {X-Key: hunter2}}\n"))
	require.NoError(t, err)
	at := slices.IndexFunc(c.Values(), func(v config.Value) bool { return v.Key == "model-options.headers" })
	require.Equal(t, map[string]any{"X-Key": "(hidden)"}, c.Values()[at].Value)
}

func TestValuesShowsNoTextOfAField(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("model-options: {body: {top_p: 0.5, key: hunter2, on: true, deep: "+
		"[hunter2, 1, {key: hunter2}]}}\n"))
	require.NoError(t, err)
	at := slices.IndexFunc(c.Values(), func(v config.Value) bool { return v.Key == "model-options.body" })
	require.Equal(t, map[string]any{"top_p": 0.5, "key": "(hidden)", "on": true,
		"deep": "(hidden)"}, c.Values()[at].Value)
	require.Equal(t, "hunter2", c.ModelOptions.Body["key"], "what is sent is as it was")
}
