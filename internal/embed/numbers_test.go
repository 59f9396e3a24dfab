package embed

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{`[1,-0.5]`, `"AACAPw=="`, `"AACA"`, `[null,1]`, `[1e400]`, `{}`, `""`, `[]`,
		`"\u0000"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var n numbers
		if json.Unmarshal(raw, &n) == nil {
			require.LessOrEqual(t, len(n), len(raw), "no more numbers than there are bytes")
		}
	})
}

func TestAVectorIsAListOfNumbers(t *testing.T) {
	t.Parallel()
	var n numbers
	require.NoError(t, json.Unmarshal([]byte(`[1, 0.5]`), &n))
	require.Equal(t, numbers{1, 0.5}, n)
	for _, raw := range []string{`[1, null]`, `null`, `"AACAPwAAAD8="`, `{"0": 1}`, `[[1]]`, `[1e40]`} {
		var n numbers
		require.Error(t, json.Unmarshal([]byte(raw), &n), raw)
	}
}
