package eval

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACaseTakesAsLongAsItsSlowestFile(t *testing.T) {
	t.Parallel()
	slow := &journal{list: []Exchange{{About: "a", Seconds: 1}, {About: "b", Seconds: 3}, {About: "a", Seconds: 4},
		{About: "c", Seconds: 2}}}
	r := &run{review: []*journal{slow, nil, {}, {list: []Exchange{{About: "a", Seconds: 2}}}}}
	require.Equal(t, []float64{5, 2}, r.latencies(),
		"two answers about a file come one after the other; cases without an answer do not count")
}
