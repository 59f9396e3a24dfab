package checkpoint

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func TestP4_ARunUnderWayComesBackByteForByte(t *testing.T) {
	t.Parallel()
	odd := `{ "seal" : "x",  "a":"\u0062\/é" ,"n":1.50e0}`
	for _, s := range []graph.Saved{
		{Snapshot: []byte("{}")},
		{Snapshot: []byte(odd), Journal: [][]byte{[]byte(odd), []byte("{}"), []byte(`{"b":[{}]}`)}},
	} {
		text, err := EncodeSaved(s)
		require.NoError(t, err)
		back, err := DecodeSaved(text)
		require.NoError(t, err)
		require.Equal(t, s, back)
	}
}

func TestT21_ARunUnderWayIsReadStrictly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", "{}", "[]", `{"snapshot":{}}`, `{"journal":[],"snapshot":{}}`, `{"snapshot":[],"journal":[]}`,
		`{"snapshot":{},"journal":{}}`,
		`{"snapshot":{},"journal":[null]}`, `{"snapshot":{},"journal":[{}],"x":1}`, `{"snapshot":{},"journal":[]}{}`,
		`{"snapshot":{},"journal":[]} x`,
		`{"snapshot":{},"snapshot":{},"journal":[]}`, `{"Snapshot":{},"journal":[]}`,
		`{"snapshot":{"a":1,"a":2},"journal":[]}`,
		"{\"snapshot\":{\"a\":\"\xff\"},\"journal\":[]}", `{"snapshot":{},"journal":[{}`,
		`{"snapshot":{},"journal":[{"a":` + strings.Repeat("[", 100_000),
		`{"snapshot":` + strings.Repeat(`{"a":`, 100_000),
	} {
		_, err := DecodeSaved([]byte(text))
		require.ErrorContains(t, err, "reading a run under way", "%.80s", text)
	}
	for _, s := range []graph.Saved{{}, {Snapshot: []byte("{")},
		{Snapshot: []byte("{}"), Journal: [][]byte{[]byte("torn")}}, {Snapshot: []byte(`{},"journal":[]`)}} {
		_, err := EncodeSaved(s)
		require.Error(t, err)
	}
}

func TestT23_AJournalOfManyRecordsStaysBounded(t *testing.T) { // not parallel: it measures
	bomb := append([]byte(`{"snapshot":{},"journal":[{}`), bytes.Repeat([]byte(",{}"), 10_000_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := DecodeSaved(append(bomb, "]}"...))
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, errTooLarge)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	_, err = EncodeSaved(graph.Saved{Snapshot: []byte("{}"), Journal: make([][]byte, maxRecords+1)})
	require.ErrorIs(t, err, errTooLarge)
}
