package cost

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoneyIsShownInDollars(t *testing.T) {
	t.Parallel()
	for amount, want := range map[MicroUSD]string{
		0: "$0.00", 1: "$0.0000", 100: "$0.0001", 3_100: "$0.0031", 9_900: "$0.0099", 10_000: "$0.01", 210_000: "$0.21", 1_234_567_890: "$1234.57",
	} {
		require.Equal(t, want, amount.String())
	}
}

func TestP9_UsagesAddUpInEveryField(t *testing.T) {
	t.Parallel()
	a, b := Usage{1, 2, 3, 4, 5}, Usage{10, 20, 30, 40, 50}
	require.Equal(t, Usage{11, 22, 33, 44, 55}, Add(a, b))
	require.Equal(t, Add(a, b), Add(b, a))
	require.Equal(t, a, Add(a, Usage{}))
	require.EqualValues(t, 44, Add(a, b).Tokens(), "cached tokens are input tokens already")
}
