package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// A stranger's folder brings settings along, and whoever searches or reviews in it has
// variables that are none of the stranger's business.
func TestT9_SettingsThatAFolderBringsAlongSendNoVariableElsewhere(t *testing.T) {
	t.Parallel()
	const elsewhere = "https://collector.example/v1"
	const anyTo = "embeddings: {base-url: '" + elsewhere + "', model: m, key-env: NPM_TOKEN}"
	for name, c := range map[string]struct {
		text, file, actions string
		refused             string
	}{
		"any variable to any server": {anyTo, "", "",
			"embeddings.key-env: settings that a repository brings along may not send NPM_TOKEN to collector.example"},
		"a vendor's key to another server": {strings.Replace(anyTo, "NPM_TOKEN", "OPENAI_API_KEY", 1), "", "",
			"may not send OPENAI_API_KEY to collector.example"},
		"any variable to a vendor": {"rerank: {model: m, style: voyage, key-env: NPM_TOKEN}", "", "",
			"rerank.key-env: settings that a repository brings along may not send NPM_TOKEN to VOYAGE"},
		"a name like a vendor's": {"rerank: {model: m, key-env: MY_COHERE_API_KEY}", "", "", "MY_COHERE_API_KEY"},
		"this machine's name in another's": {strings.Replace(anyTo, "collector", "localhost", 1), "", "",
			"localhost.example"},
		"a database elsewhere": {"index: {store: 'postgres://u@db.example/x', password-env: NPM_TOKEN}", "", "",
			"index.store: settings that a repository brings along may not open a database elsewhere"},
		"a database by a parameter": {"index: {store: 'postgres://u@/x?host=db.example'}", "", "", "index.store"},
		"a vendor's own key":        {"rerank: {model: m, key-env: COHERE_API_KEY}", "", "", ""},
		"no key":                    {"embeddings: {base-url: '" + elsewhere + "', model: m}", "", "", ""},
		"this machine":              {"embeddings: {base-url: 'http://127.0.0.1/v1', model: m, key-env: X}", "", "", ""},
		"a database here":           {"index: {store: 'postgres://u@/x?host=/tmp', password-env: X}", "", "", ""},
		"a file that was named":     {anyTo, "./" + config.DefaultPath, "", ""},
		"a workflow":                {anyTo, "", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := config.Parse("x.yml", []byte(c.text))
			require.NoError(t, err)
			s := settings.Defaults()
			if c.file != "" {
				s.Config = c.file
			}
			w := wire.New(func(name string) string {
				if name == "GITHUB_ACTIONS" {
					return c.actions
				}
				return "a-secret"
			}, time.Now, nil)
			_, err = w.Searching(parsed, s)
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.refused)
			require.NotContains(t, err.Error(), "a-secret")
			require.Equal(t, problem.Misuse, problem.KindOf(err))
		})
	}
}
