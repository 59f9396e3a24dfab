package settings

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

var update = flag.Bool("update", false, "write action.yml anew")

// asText is a text as action.yml has it: in quotes where YAML would take it for something else.
func asText(s string) string {
	var read map[string]any
	if err := yaml.Unmarshal([]byte("x: "+s), &read); err == nil && read["x"] == s {
		return s
	}
	return strconv.Quote(s)
}

// The inputs of action.yml are the rows of the table, with their defaults and in their order. A
// description is the row's help, or what somebody wrote there instead.
func TestActionYmlHasTheInputsOfTheTable(t *testing.T) {
	t.Parallel()
	const file = "../../action.yml"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), "\ninputs:\n")
	require.True(t, found)
	inputs, after, found := strings.Cut(rest, "\noutputs:\n")
	require.True(t, found)
	said := map[string]string{}
	input := regexp.MustCompile(`(?m)^  ([a-z-]+):\n    description: (.+)$`)
	for _, m := range input.FindAllStringSubmatch(inputs, -1) {
		said[m[1]] = m[2]
	}
	want := before + "\ninputs:\n"
	for _, row := range Table(new(Settings)) {
		help := asText(strings.ToUpper(row.Help[:1]) + row.Help[1:] + ".")
		want += fmt.Sprintf("  %s:\n    description: %s\n", row.Name, cmp.Or(said[row.Name], help))
		switch {
		case row.Name == "github-token":
			want += "    default: ${{ github.token }}\n"
		case row.Default != "":
			want += "    default: " + asText(row.Default) + "\n"
		}
	}
	want += "\noutputs:\n" + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	} else {
		require.Equal(t, want, string(text), "go test ./internal/settings -run TestActionYml -update")
	}
	var read struct{ Inputs map[string]map[string]string }
	require.NoError(t, yaml.Unmarshal([]byte(want), &read), "the runner hands over text")
}

const testKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// probes are texts of which every kind of setting takes one that is not its default.
var probes = []string{
	"x", "true", "9", "7", "45m", "0.5", "abort", "major", "nit", "offline", "resume", "seal", "counts",
	strings.Repeat("0", 16), "7-" + strings.Repeat("0", 16), strings.Repeat("0", 64), testKey,
}

func TestEverySettingIsReadIntoAFieldOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	var s Settings
	for _, row := range Table(&s) {
		require.True(t, slices.ContainsFunc(probes, func(v string) bool {
			s = Defaults()
			return row.set(v) == nil && !reflect.DeepEqual(s, Defaults())
		}), "%s takes none of the probes, or has no effect", row.Name)
		is := fmt.Sprintf("%#v", s)
		require.Empty(t, seen[is], "%s does the same", row.Name)
		seen[is] = row.Name
	}
}

func TestCredentialsAreNoFlagsAndNotShown(t *testing.T) {
	t.Parallel()
	s := Defaults()
	require.NoError(t, s.Apply(map[string]string{"github-token": "hunter2", "api-key": "hunter2",
		"checkpoint-key": testKey}))
	shown := 0
	for _, row := range Table(&s) {
		if row.use == credential {
			shown++
			require.Equal(t, "(set)", row.show(), row.Name)
		}
	}
	require.Equal(t, 3, shown)
	require.NoError(t, s.Apply(map[string]string{"base-url": "https://user:hunter2@host/v1?key=hunter2"}))
	values, err := json.Marshal(Source{}.Values(config.Default(), s, func(string) string { return "" }))
	require.NoError(t, err)
	require.NotContains(t, string(values), "hunter2")
	require.NotContains(t, string(values), testKey)
}

func TestTheSchemaHasTheFileKeysOfTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/pr-review.schema.json")
	require.NoError(t, err)
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	for _, row := range Table(new(Settings)) {
		top, inner, nested := strings.Cut(row.Key, ".")
		if row.Key == "" {
			_, in := schema.Properties[row.Name]
			require.False(t, in, "%s is a key of the file too: say so in its row", row.Name)
			continue
		}
		group, in := schema.Properties[top]
		if nested {
			_, in = group.Properties[inner]
		}
		require.True(t, in, "%s: its row names the key %s, and the schema does not have it", row.Name, row.Key)
		require.True(t, slices.ContainsFunc(config.Default().Values(), func(v config.Value) bool {
			return v.Key == row.Key
		}), row.Key)
	}
}

// The page's tables of inputs begin each row with one, some with a value.
func TestThePageOfSettingsNamesInputsThatAreThere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../.github/SETTINGS.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)(?:: ([^`]+))?` \\|").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		s := Defaults()
		require.Contains(t, Names(), row[1])
		if row[2] != "" {
			require.NoError(t, s.Apply(map[string]string{row[1]: row[2]}))
		}
	}
}

func TestADraftWaitsNoLongerByDefaultThanItsRepositoryKeepsIt(t *testing.T) {
	t.Parallel()
	for kept, days := range map[int]time.Duration{0: 14, 90: 14, 7: 7} {
		s := Defaults()
		require.NoError(t, s.Settle(kept))
		require.Equal(t, days*24*time.Hour, s.Expires)
	}
	s := Defaults()
	require.NoError(t, s.Apply(map[string]string{"expires": "10d"}))
	require.Error(t, s.Settle(7), "what was asked for is not shortened")
}
