package app_test

import (
	"fmt"
	"maps"
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

func keys(items yaml.MapSlice) (all []string) {
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

func TestT17_TheJobsTokenIsTheOnlyExpressionInActionYml(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "${{"))
	m := readManifest(t)
	token, _ := field(t, m.Inputs[slices.Index(keys(m.Inputs), "github-token")], "default")
	require.Equal(t, "${{ github.token }}", token)
	require.Equal(t, map[string]any{"using": "docker", "image": "Dockerfile"}, m.Runs,
		"no arguments, no entry point: inputs arrive as variables")
}

func TestActionYmlListsTheOutputsThatAreWritten(t *testing.T) {
	s := setUp(t, scene{})
	declared := keys(readManifest(t).Outputs)
	require.Equal(t, []string{"outcome", "thread-id", "checkpoint-digest", "artifact-name", "code", "run-id",
		"findings", "blockers",
		"open-findings", "open-blockers", "partial", "cost-usd", "review-url", "branch",
		"pull-request-url", "environment"}, declared)
	require.ElementsMatch(t, declared, slices.Collect(maps.Keys(s.parked().outputs)))
}
