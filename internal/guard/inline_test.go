package guard

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingLiveIsPassedOver holds the look before the expression against it, on texts
// of what it looks for.
func TestNothingLiveIsPassedOver(t *testing.T) {
	t.Parallel()
	parts := []string{"w", "W", ".", ":", "/", "://", "@", "#", "&", ";", "g", "H", "h", "-", "_", "0", "7", "a", "F",
		"z", " ", "é", "abc012", "www.", "GH-1"}
	dice := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 20_000 {
		var s string
		for range 1 + dice.IntN(9) {
			s += parts[dice.IntN(len(parts))]
		}
		if live().MatchString(s) {
			matched++
			require.True(t, mayBeLive(s), "%q", s)
		}
	}
	require.Greater(t, matched, 5_000)
}

func BenchmarkLive(b *testing.B) {
	const prose = "The promise is not awaited, so an error of the write is lost when the cart is saved twice."
	b.Run("look", func(b *testing.B) {
		for b.Loop() {
			_ = mayBeLive(prose)
		}
	})
	b.Run("expression", func(b *testing.B) {
		for b.Loop() {
			_ = live().MatchString(prose)
		}
	})
}
