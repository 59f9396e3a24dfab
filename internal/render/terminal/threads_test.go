package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAgeIsSaidInItsLargestUnit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-time.Hour: "0 min", 59 * time.Minute: "59 min", time.Hour: "1 h",
		47 * time.Hour: "47 h", 49 * time.Hour: "2 d", 400 * time.Hour: "16 d"} {
		require.Equal(t, want, age(d))
	}
}

func TestTheListOfDraftsIsGuarded(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b[2J\u202eb\nc"
	got := Threads([]Parked{{Name: evil, Outcome: evil, Where: evil}}, time.Time{})
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\u202e")
	require.Equal(t, 3, strings.Count(got, "\n"), got)
}
