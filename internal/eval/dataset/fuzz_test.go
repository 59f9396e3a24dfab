package dataset

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func FuzzLine(f *testing.F) {
	const change = `--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@\n a\n+b\n`
	golden := `{"path":"a.go","line_start":1,"line_end":2,"severity":"critical","visibility":"local","issue":"i"` +
		`,"also":[]}`
	for _, s := range []string{
		`{"id":"a-1","language":"go","kind":"bug","pr":null,"title":"t","diff":"` + change + `","golden":[` + golden +
			`]}`,
		`{"id":"a-2","language":"go","kind":"clean","title":"\u202e","diff_file":"./a.diff","golden":[]}`,
		`{"id":"a-3","language":"go","kind":"clean","title":"t","diff_file":"../a.diff","golden":[],"injection":true}`,
		`{"id":"\u001b","golden":[{"line_end":9223372036854775807,"also":[{}]}],"diff":"@@ -1 +1 @@"}`,
		`{"id":"a","id":"b"}`, `{"a":1}`, `null`, `[]`, "\xff", `{"golden":[{"\u001b":1}]}`,
	} {
		f.Add([]byte(s))
	}
	folder := fstest.MapFS{"a.diff": {Data: []byte(strings.ReplaceAll(change, `\n`, "\n"))}}
	f.Fuzz(func(t *testing.T, row []byte) {
		r := reader{seen: map[string]string{}}
		r.addLine(source{"a", folder}, 1, row)
		for _, p := range r.problems {
			require.NotContains(t, p.String(), "\n")
			require.NotContains(t, p.String(), "\x1b")
			require.True(t, strings.HasPrefix(p.String(), "a:1: "))
		}
		require.Equal(t, len(r.problems) == 0, len(r.cases) == 1)
		if len(r.cases) == 1 {
			checkCase(t, r.cases)
		}
	})
}

// checkCase holds what every case that was read can do.
func checkCase(t *testing.T, cases []Case) {
	t.Helper()
	change, err := cases[0].Change()
	require.NoError(t, err)
	require.NotEmpty(t, change.Files)
	for _, g := range cases[0].Golden {
		require.GreaterOrEqual(t, g.Severity.Rank(), 0)
	}
	var out bytes.Buffer
	require.NoError(t, Encode(&out, cases))
	again := reader{seen: map[string]string{}}
	again.addText(source{"b", fstest.MapFS{}}, out.Bytes())
	require.Equal(t, cases, again.cases)
}
