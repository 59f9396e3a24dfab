package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func retrievalMistakes() []mistake {
	return []mistake{
		{"no model", "embeddings:\n  dimensions: 7\n", "f.yml:2:3: embeddings needs model", false},
		{"unknown style", "rerank: {model: m, style: openai}\n",
			`f.yml:1:27: "openai" is not one of cohere, voyage`, false},
		{"no dimensions", "embeddings: {model: m, dimensions: 0}\n",
			"f.yml:1:36: expected a whole number from 1 to 4096, got 0", false},
		{"no address", "embeddings: {model: m, base-url: api.example}\n",
			"f.yml:1:34: this is not an address that begins with https:// or http://", false},
		{"user", "embeddings: {model: m, base-url: 'https://me@api.example'}\n",
			"f.yml:1:34: an address needs a host, and no user", true},
		{"key in place of its name", "rerank: {model: m, key-env: sk-live-1234}\n",
			"f.yml:1:29: \"sk-live-1234\" is not the name of an environment variable", false},
		{"T30 a token of the runner", "rerank: {model: m, key-env: GITHUB_TOKEN}\n",
			"f.yml:1:29: GITHUB_TOKEN is not a variable for a credential of this endpoint", true},
		{"unknown store", "index: {store: files}\n", "did you mean \"file\"?", false},
		{"other store", "index:\n  store: mysql://db/x\n",
			"f.yml:2:10: this is not an address that begins with postgres://", false},
		{"files", "index: {max-files: 0}\n", "expected a whole number from 1 to 1000000", false},
	}
}

func TestMistakesInTheKeysOfRetrievalAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, m := range retrievalMistakes() {
		t.Run(m.name, func(t *testing.T) {
			_, err := config.Parse("f.yml", []byte(m.text))
			require.ErrorContains(t, err, m.want)
		})
	}
}

func TestT9_APasswordInAnAddressIsRefusedAndNotRepeated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"index:\n  store: postgres://me:hunter2@db/index\n",
		"index:\n  store: postgresql:///index?host=db&password=hunter2\n",
		"index:\n  store: postgres://me:hunter2%zz@db/index\n",
		"embeddings:\n  base-url: https://me:hunter2@api.example\n  model: m\n",
		"rerank:\n  base-url: https://api.example?key=hunter2\n  model: m\n",
	} {
		_, err := config.Parse("f.yml", []byte(text))
		require.ErrorContains(t, err, "f.yml:2:", text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestTheVariablesThatHoldCredentialsAreKnown(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("embeddings: {model: m, key-env: A_KEY}\nindex: {password-env: B_KEY}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"A_KEY", "B_KEY"}, c.Variables())
	require.Empty(t, c.Index.Postgres())
}
