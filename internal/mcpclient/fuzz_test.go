package mcpclient_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/mcpclient"
)

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"", `{"id":"PAY-1","criteria":["a"]}`, `{"error":"x"}`, "Error: x", "PAY-1 says",
		`{"id":"PAY-1","description":{"type":"doc","content":[{"type":"text","text":"x"}]}}`, `{"id":{"id":[]}}`,
		`{"id":"PAY-1","description":{"representation":"storage","value":"<p>x"},"criteria":[[[[["x"]]]]]}`} {
		f.Add(seed)
	}
	tool := config.Tool{Key: "id", Description: "description", Criteria: "criteria"}
	f.Fuzz(func(t *testing.T, text string) {
		names, _, criteria, err := mcpclient.Understood(text, tool, "PAY-1")
		require.True(t, err == nil || names == "", "an error is no answer")
		require.LessOrEqual(t, criteria, 50)
	})
}
