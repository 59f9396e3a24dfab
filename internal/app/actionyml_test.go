package app

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// manifest is action.yml as GitHub's runner reads it, in the file's order.
type manifest struct {
	Inputs, Outputs yaml.MapSlice
	Runs            map[string]any
}

func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &m))
	return m
}

func names(items yaml.MapSlice) (all []string) {
	for _, item := range items {
		all = append(all, fmt.Sprint(item.Key))
	}
	return all
}

func field(t *testing.T, item yaml.MapItem, name string) (any, bool) {
	t.Helper()
	fields, ok := item.Value.(map[string]any)
	require.True(t, ok, "%v: %T", item.Key, item.Value)
	value, ok := fields[name]
	return value, ok
}

func TestActionYmlListsTheInputsInTheirOrder(t *testing.T) {
	t.Parallel()
	require.Equal(t, inputNames(), names(readManifest(t).Inputs))
}

// TestActionYmlHasTheDefaultsOfTheSettings gives each default of action.yml to
// the settings: nothing may change. An input without one has no default here.
func TestActionYmlHasTheDefaultsOfTheSettings(t *testing.T) {
	t.Parallel()
	given := map[string]string{}
	for _, item := range readManifest(t).Inputs {
		name := fmt.Sprint(item.Key)
		description, _ := field(t, item, "description")
		require.NotEmpty(t, description, name)
		_, required := field(t, item, "required")
		require.False(t, required, "%s: every default works", name)
		if value, ok := field(t, item, "default"); ok && name != "github-token" {
			require.IsType(t, "", value, "%s: the runner hands over text", name)
			given[name] = value.(string)
		}
	}
	s := defaults()
	require.NoError(t, s.apply(given))
	require.Equal(t, defaults(), s)
	for name, probe := range map[string]string{
		"mode": "resume", "provider": "offline", "concurrency": "9", "config": "x", "draft-workflow": "x", "decide-workflow": "x",
		"gate-from": "major", "retention-days": "16", "allow-http": "true",
		"again": "true", "fail-on": "nit", "check-run": "true", "mark": "true", "trust": "seal", "summary": "counts", "allow-author": "true", "allow-dispatch": "true",
	} {
		require.Contains(t, given, name)
		s := defaults()
		require.NoError(t, s.apply(map[string]string{name: probe}))
		require.NotEqual(t, defaults(), s, "%s has no effect", name)
		delete(given, name)
	}
	require.Empty(t, given, "defaults that this test knows nothing of")
}

func TestT17_TheJobsTokenIsTheOnlyExpressionInActionYml(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "${{"))
	m := readManifest(t)
	token, _ := field(t, m.Inputs[slices.Index(names(m.Inputs), "github-token")], "default")
	require.Equal(t, "${{ github.token }}", token)
	require.Equal(t, map[string]any{"using": "docker", "image": "Dockerfile"}, m.Runs, "no arguments, no entry point: inputs arrive as variables")
}

func TestActionYmlListsTheOutputsThatAreWritten(t *testing.T) {
	t.Parallel()
	declared := names(readManifest(t).Outputs)
	require.Equal(t, []string{"outcome", "thread-id", "checkpoint-digest", "artifact-name", "code", "run-id", "findings", "blockers",
		"partial", "cost-usd", "review-url", "environment"}, declared)
	for name := range (report{}).outputs(1) {
		require.Contains(t, declared, name)
	}
	require.Len(t, (report{}).outputs(1), len(declared))
}
