//go:build !race

package checkpoint

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The race detector allocates for itself, so this is measured without it.

func TestPackHoldsNoMoreThanTheSnapshotAgain(t *testing.T) { // not parallel: it measures
	const size = 20 << 20
	big := append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), size)...), `"}`...)
	for i, p := range protections(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		z, err := p.Pack(manifest(), big, shown())
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		times := float64(after.TotalAlloc-before.TotalAlloc) / size
		t.Logf("%s: %.2f times the snapshot", z.Manifest.Trust, times)
		require.Less(t, times, []float64{1.1, 1.1, 2.2}[i], "encrypted it stands there once more as ciphertext")

		runtime.ReadMemStats(&before)
		o, err := p.open(z.Zip)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, Digest(big), Digest(o.Snapshot))
		require.Less(t, float64(after.TotalAlloc-before.TotalAlloc)/size, []float64{0.1, 0.1, 2.2}[i],
			"age's own garbage of 64 KiB a time included")
	}
}
