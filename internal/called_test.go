package internal_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// called are the reusable workflows, by the file that a repository has instead.
var called = map[string]string{"pr-review.yml": "review.yml", "pr-review-decide.yml": "decide.yml",
	"pr-implement.yml": "implement.yml"}

// whole turns what only a called file says into what the whole file says.
var whole = strings.NewReplacer(
	"          base-url: ${{ inputs.base-url }}\n          provider: ${{ inputs.provider }}\n"+
		"          model: ${{ inputs.model }}\n", "",
	" && inputs.environment != ''", "",
	"${{ inputs.environment }}", "ai-review",
	"inputs.defaults || ", "",
	"github.event.inputs.again || 'false'", "inputs.again || false", // of an event they are texts
	"github.event.inputs.", "inputs.",
)

func TestTheReusableWorkflowsAreTheWholeFiles(t *testing.T) {
	t.Parallel()
	for file, name := range called {
		of, ok := shipped(t)[name]
		require.True(t, ok, name)
		_, jobs, _ := strings.Cut(of.text, "\njobs:\n")
		_, want, _ := strings.Cut(shipped(t)[file].text, "\njobs:\n")
		require.Equal(t, want, whole.Replace(jobs), "%s has other jobs than %s", name, file)
		require.Equal(t, []string{"workflow_call"}, slices.Collect(maps.Keys(of.On.(map[string]any))), name)
	}
}

// GitHub ends a run whose caller and called workflow are in one concurrency group. A
// caller made of a whole file may have kept that file's.
func TestReusableWorkflowsHaveGroupsOfTheirOwn(t *testing.T) {
	t.Parallel()
	group := regexp.MustCompile(`(?m)^  group: (\S+?)\$\{\{`)
	taken := map[string]string{}
	for name, w := range shipped(t) {
		found := group.FindStringSubmatch(w.text)
		if found == nil {
			continue
		}
		require.NotContains(t, taken, found[1], "%s and %s", name, taken[found[1]])
		require.Equal(t, slices.Contains(slices.Collect(maps.Values(called)), name),
			strings.HasPrefix(found[1], "called-"), name)
		taken[found[1]] = name
	}
	require.Len(t, taken, 9)
}

// The callers of the guide are short, give what the called jobs ask for and no more, pass
// the secrets that are declared by name, and dispatch as the whole files do.
func TestT17_T39_TheGuidesCallers(t *testing.T) {
	t.Parallel()
	callers := map[string]workflow{}
	for _, block := range yamlOf(read(t, "../.github/REUSABLE.md")) {
		w := parsed(t, block)
		name := regexp.MustCompile(`(?m)^name: (\S+)`).FindStringSubmatch(block)[1] + ".yml"
		callers[name] = w
		require.Equal(t, map[string]any{}, w.Permissions, name)
		require.NotContains(t, block, "concurrency", name)
		require.NotContains(t, block, "inherit", name)
	}
	for file, text := range map[string]string{"pr-review.yml": "caller-review.yml",
		"pr-review-decide.yml": "caller-decide.yml"} {
		require.Equal(t, read(t, "setup/"+text), callers[file].text, "init --org writes another one")
	}
	for file, name := range called {
		require.Contains(t, callers, file)
		caller, of := callers[file], shipped(t)[name]
		require.LessOrEqual(t, strings.Count(caller.text, "\n"), 15, file)
		require.Len(t, caller.Jobs, 1)
		for _, j := range caller.Jobs {
			require.Equal(t, product[:len(product)-1]+"/.github/workflows/"+name+"@v1", j.Uses)
			require.Equal(t, ceiling(of), j.Permissions, file)
			require.ElementsMatch(t, declared(of), keys(j.Secrets), file)
			for secret, value := range asMap(j.Secrets) {
				require.Equal(t, "${{ secrets."+secret+" }}", value)
			}
		}
		require.Equal(t, asMap(shipped(t)[file].On), asMap(caller.On), "%s starts otherwise", file)
	}
}

// ceiling is the most that any job of a workflow may.
func ceiling(w workflow) map[string]any {
	most := map[string]any{}
	for _, j := range w.Jobs {
		for scope, level := range j.Permissions.(map[string]any) {
			if most[scope] != "write" {
				most[scope] = level
			}
		}
	}
	return most
}

func declared(w workflow) []string {
	return keys(asMap(asMap(w.On)["workflow_call"])["secrets"])
}

func keys(of any) []string { return slices.Collect(maps.Keys(asMap(of))) }

func asMap(of any) map[string]any {
	m, ok := of.(map[string]any)
	if !ok && of != nil {
		panic(fmt.Sprintf("%v is no map", of))
	}
	return m
}
