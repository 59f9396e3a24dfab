package internal_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/org/pr-review-action/internal/testvolume"
)

// TestMain leaves all tests of this package out under the race detector: they read files, and run nothing side by side.
func TestMain(m *testing.M) {
	if testvolume.Sampled() {
		fmt.Println(testvolume.Unwatched)
		os.Exit(0)
	}
	debug.SetGCPercent(400) // they parse the whole tree
	os.Exit(m.Run())
}
