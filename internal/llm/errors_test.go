package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARequestThatIsTooLongSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		long   bool
	}{
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"x"}}`, true},
		{400, `{"error":{"code":"context_length_exceeded"}}`, true},
		{400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, true},
		{400, `[{"error":{"message":"The input token count (81881) exceeds the maximum number of tokens allowed"}}]`, true},
		{400, `{"error":{"message":"the request exceeds the available context size, try increasing it"}}`, true},
		{413, `<html>`, true},
		{400, `{"error":{"message":"Invalid request."}}`, false},
		{429, `{"error":{"message":"Too many tokens in the context window, wait"}}`, false},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			w := serve(t, reply{c.status, c.body})
			_, err := to(t, w).Chat(t.Context(), question)
			var e *StatusError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.long, e.TooLong())
		})
	}
}
