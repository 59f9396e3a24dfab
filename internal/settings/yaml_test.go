package settings

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func TestYAMLReadsAsTheValuesThatItWrote(t *testing.T) {
	t.Parallel()
	texts := []string{
		"plain", "two words", "36h", "1.5", "true", "null", "~", "", " ", "a: b", "a #b", "# a", "- a", "*a", "&a",
		"!a", "[a", "{a", "'a", "\"a", "%a", "@a", "<<", "? a",
		"a\nb", "a\tb", "é", "\u202e", "---", "...", "|", ">", "a:", "\\",
	}
	for _, s := range texts {
		values := []config.Value{{Key: "top", Value: s, Source: "default"},
			{Key: "under." + s, Value: []string{s}, Source: "f.yml:1"}}
		text, err := YAML(values)
		require.NoError(t, err, s)
		var read map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &read), text)
		require.Equal(t, map[string]any{"top": s, "under": map[string]any{s: []any{s}}}, read, text)
		require.Len(t, strings.Split(text, "\n"), 4, "one line each")
	}
}
