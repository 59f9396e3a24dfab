package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/testvolume"
)

// zipped makes a zip by the standard writer's ways, not ours.
func zipped(t *testing.T, change func(*zip.FileHeader), names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		part, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = part.Write([]byte("{}"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// zip64 makes the end of a zip point to a directory that is elsewhere.
func zip64(z []byte) []byte {
	z = bytes.Clone(z)
	binary.LittleEndian.PutUint32(z[len(z)-6:], 1<<32-1)
	return z
}

func TestCheck3_T22_OnlyTheKnownEntriesInTheKnownLayout(t *testing.T) {
	t.Parallel()
	good := packed(t).Zip
	names := []string{manifestEntry, snapshotEntry, reviewEntry, patchEntry}
	many := make([]string, 700)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	comment := bytes.Clone(good)
	binary.LittleEndian.PutUint16(comment[len(comment)-2:], 3)
	renamed := bytes.Replace(good, []byte(reviewEntry), []byte("../ow.md\x00"), 1) // in the local header alone
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"empty":  {nil, "not a zip"},
		"no zip": {[]byte(strings.Repeat("x", 100)), "not a zip"},
		"path up": {zipped(t, nil, manifestEntry, snapshotEntry, "../../../home/runner/.bashrc"),
			"entry 3"},
		"absolute":           {zipped(t, nil, "/etc/cron.d/x", snapshotEntry, reviewEntry), "entry 1"},
		"backslash":          {zipped(t, nil, `..\..\x`, snapshotEntry, reviewEntry), "entry 1"},
		"NUL":                {zipped(t, nil, manifestEntry, "checkpoint.json\x00.txt", reviewEntry), "entry 2"},
		"other case":         {zipped(t, nil, manifestEntry, "CHECKPOINT.JSON", reviewEntry), "entry 2"},
		"other order":        {zipped(t, nil, snapshotEntry, manifestEntry, reviewEntry), "entry 1"},
		"twice":              {zipped(t, nil, manifestEntry, snapshotEntry, snapshotEntry), "entry 3"},
		"one more":           {zipped(t, nil, append(names, "run.sh")...), "5 entries"},
		"one less":           {zipped(t, nil, names[:1]...), "1 entries"},
		"a second directory": {zip64(good), "not laid out"},
		"very many":          {zipped(t, nil, many...), "entries"},
		"link": {zipped(t, func(h *zip.FileHeader) {
			h.SetMode(0o777 | 1<<27)
		}, names...), "not laid out"},
		"extra field": {zipped(t, func(h *zip.FileHeader) {
			h.Extra = []byte{1, 2, 0, 0}
		}, names...), "not laid out"},
		"stored elsewhere":    {zipped(t, func(h *zip.FileHeader) { h.Method = zip.Store }, names...), "not laid out"},
		"other writer":        {zipped(t, nil, names...), "not laid out"},
		"bytes in front":      {append([]byte("#!/bin/sh\n"), good...), "not laid out"},
		"bytes behind":        {append(bytes.Clone(good), 0), "not a zip"},
		"comment":             {append(comment, "abc"...), "not a zip"},
		"a zip behind":        {append(bytes.Clone(good), good...), "not laid out"},
		"two names for entry": {renamed, "not laid out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Unzip(c.zip)
			refusal(t, err, 3)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestT23_EntriesAreCountedBeforeTheDirectoryIsRead(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, checkDirectory(zipped(t, nil, "a"), 2, 3), "1 entries instead of 3")
	require.NoError(t, checkDirectory(packed(t).Zip, 4, 4))
	require.ErrorContains(t, checkDirectory(zip64(packed(t).Zip), 4, 4), "not laid out")
}

func TestCheck3_T23_NothingIsExpanded(t *testing.T) { // not parallel: it measures
	testvolume.NoRaces(t)
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	for _, name := range []string{manifestEntry, snapshotEntry, reviewEntry} {
		part, err := w.Create(name)
		require.NoError(t, err)
		_, err = part.Write(make([]byte, 3_000_000))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	// sizes that lie, in the directory at the end alone
	lying := bytes.Clone(packed(t).Zip)
	directory := bytes.Index(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[directory+20:], 2<<30)
	wide := make([]string, 60_000)
	for i := range wide {
		wide[i] = fmt.Sprintf("f%d", i)
	}
	for want, z := range map[string][]byte{
		"not laid out": bomb.Bytes(),
		"too large":    make([]byte, MaxZip+1),
		"shorter":      lying,
		"60000":        zipped(t, nil, wide...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		took := testvolume.Took(func() { _, err = Unzip(z) })
		runtime.ReadMemStats(&after)
		refusal(t, err, 3)
		require.ErrorContains(t, err, want)
		require.Less(t, took, 2*time.Second)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	}
}
