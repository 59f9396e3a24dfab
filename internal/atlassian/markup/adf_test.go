package markup_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/atlassian/markup"
)

// document is a line of adf.jsonl: the document, or how to make it.
type document struct {
	ID, Name  string
	Doc       json.RawMessage
	Want      string
	WantError string `json:"want_error"`
	Gen       *struct {
		Head, Open, Mid, Close, Tail string
		Repeat                       int
	}
}

func (d document) text() []byte {
	if g := d.Gen; g != nil {
		return []byte(g.Head + strings.Repeat(g.Open, g.Repeat) + g.Mid + strings.Repeat(g.Close, g.Repeat) + g.Tail)
	}
	return d.Doc
}

func documents(t testing.TB) (all []document) {
	t.Helper()
	f, err := os.Open("testdata/adf.jsonl")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d document
		require.NoError(t, json.Unmarshal(lines.Bytes(), &d))
		all = append(all, d)
	}
	require.NoError(t, lines.Err())
	require.Len(t, all, 68)
	return all
}

func TestADFBecomesMarkdown(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		t.Run(d.ID+" "+d.Name, func(t *testing.T) {
			t.Parallel()
			got, err := markup.ADF(d.text())
			if d.WantError != "" {
				require.ErrorContains(t, err, d.WantError)
				return
			}
			require.NoError(t, err)
			require.Equal(t, d.Want, got)
		})
	}
}

func FuzzADF(f *testing.F) {
	for _, d := range documents(f) {
		if d.Gen == nil {
			f.Add([]byte(d.Doc))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		text, err := markup.ADF(doc)
		if err != nil {
			require.Empty(t, text)
			return
		}
		require.LessOrEqual(t, utf8.RuneCountInString(text), 20_000+len("\n[truncated]"))
	})
}
