package terminal

import (
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
