package prompt

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
)

// The order of keys is part of the golden schemas: models write in it.
func TestSchemasAreStrictAndInTheOrderOfTheTypes(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]Task{"review": Reviewing(false), "verify": Verifying(), "classify": Classifying(),
		"overview": Whole{}.Overviewing(), "judged-overview": Whole{Judges: true}.Overviewing(), "criteria": Judging()} {
		data, err := os.ReadFile("testdata/" + name + ".schema.json")
		require.NoError(t, err)
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, data))
		require.Equal(t, want.String(), string(task.Schema))
		require.Regexp(t, `^[a-z_]{1,64}$`, task.SchemaName)
	}
	require.Equal(t, Reviewing(false).Schema, Reviewing(false).Schema)
	require.Contains(t, string(Reviewing(true).Schema), `"other","style"]`, "report.style asks for it")
	require.Contains(t, string(Whole{Tests: true}.Overviewing().Schema), `"other","tests"]`, "and report.tests")
	require.Contains(t, string(Whole{Style: true}.Overviewing().Schema), `"other","style"]`)
	require.Subset(t, Categories(), []string{"test", "tests", "style"})
}

func TestD4_SchemaAndSystemKnowTheSameKeysAndSeverities(t *testing.T) {
	t.Parallel()
	var s struct {
		Properties struct {
			Findings struct {
				Items struct {
					Required   []string                   `json:"required"`
					Properties map[string]json.RawMessage `json:"properties"`
				} `json:"items"`
			} `json:"findings"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(Reviewing(false).Schema, &s))
	item := s.Properties.Findings.Items
	require.Len(t, item.Required, len(item.Properties))
	for _, key := range item.Required {
		require.Contains(t, Reviewing(false).System, "`"+key+"`")
		require.Contains(t, item.Properties, key)
	}
	require.NotContains(t, item.Properties, "path")
	require.NotContains(t, item.Properties, "event", "a model has no say in the kind of review")
	for _, severity := range finding.Severities() {
		require.Contains(t, Reviewing(false).System, "- `"+string(severity)+"`: ")
		require.Contains(t, string(item.Properties["severity"]), `"`+string(severity)+`"`)
	}
}

func TestSystemTurnsExplainEveryKeyAndValueOfTheirAnswers(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"id", "reason", "holds", "suggestion_mends"} {
		require.Contains(t, Verifying().System, "- `"+key+"`: ")
	}
	for _, value := range []string{"security", "refactoring", "feature", "tests", "docs", "other", "deep", "normal",
		"light"} {
		require.Contains(t, Classifying().System, "- `"+value+"`: ")
		require.Contains(t, string(Classifying().Schema), `"`+value+`"`)
	}
}
