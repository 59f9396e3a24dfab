package ingest

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const someHash = "5716ca5987cbf97d6bb54920bea6adde242d87e6"

func TestAnAnswerOfGitIsAnObjectOrNone(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]object{
		someHash + " blob 4\nfoo\n\n":    {someHash, "blob", 4, []byte("foo\n")},
		someHash + " blob 0\n\n":         {someHash, "blob", 0, []byte{}},
		someHash + " tree 2\nx\x00\n":    {someHash, "tree", 2, []byte("x\x00")},
		someHash + ":a blob 3 missing\n": {},
		"a ambiguous\n":                  {},
		someHash + " submodule\n":        {},
		someHash + " blob 5\nfooba\n":    {someHash, "blob", 5, nil},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			got, err := readObject(bufio.NewReader(strings.NewReader(answer)), 4)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	for _, answer := range []string{
		"", someHash + " blob 4", someHash + " blob 4\nfoo", someHash + " blob 4\nfoobar\n", "HEAD blob 4\nfoo\n\n",
		someHash + " blob 999999999999999999\nab", someHash + " blob -1\n", someHash + " blob 4 \nfoo\n\n",
		someHash + " bulb 4\nfoo\n\n", "\n",
	} {
		_, err := readObject(bufio.NewReader(strings.NewReader(answer)), 4)
		require.Error(t, err, "%q", answer)
	}
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(someHash + " blob 4\nfoo\n\na missing\n" + someHash + " commit 2\nab\n"))
	f.Add([]byte("a submodule\n" + someHash + " blob 999999999999999999\nab"))
	f.Fuzz(func(t *testing.T, answers []byte) {
		r := bufio.NewReader(bytes.NewReader(answers))
		for {
			o, err := readObject(r, 1<<10)
			if err != nil {
				return
			}
			require.Equal(t, o.kind == "" || o.size > 1<<10, o.text == nil)
			require.True(t, o.text == nil || len(o.text) == int(o.size))
		}
	})
}
