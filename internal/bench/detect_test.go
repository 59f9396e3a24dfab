//go:build !race

// Rates of one goroutine: the race detector would take minutes and find nothing.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const openCases = "../../testdata/attacks.jsonl"

// The rates that the detector has to hold are goals for its first figures less
// a step, so that a changed word does not fail a build and a lost idea does.
func TestT1_T7_TheDetectorHoldsItsFigures(t *testing.T) {
	t.Parallel()
	carrier := readCarrier(t)
	for name, c := range map[string]struct {
		path          string
		recall, wrong float64
	}{
		"dev":   {"../injection/testdata/dev.jsonl", 0.90, 0.02},
		"test":  {"../injection/testdata/test.jsonl", 0.80, 0.07},
		"fresh": {"../injection/testdata/fresh.jsonl", 0.68, 0.02},
		"open":  {openCases, 0.85, 0.04},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, err := readSamples(c.path)
			require.NoError(t, err)
			o := measureDetector(samples, carrier)
			require.GreaterOrEqual(t, o.recall.rate(), c.recall, o.recall)
			require.LessOrEqual(t, o.wrong.rate(), c.wrong, o.wrong)
			require.Zero(t, o.hiddenWrong.hits)
			require.InDelta(t, 1.0, o.buried.rate(), 0, "buried in code the verdict is the same")
			for _, hidden := range []string{"unicode-tags", "zero-width", "bidi", "homoglyph"} {
				require.Equal(t, o.groups["encoding "+hidden].total, o.groups["encoding "+hidden].hits, hidden)
			}
			requireDecoded(t, o)
		})
	}
}

func requireDecoded(t *testing.T, o outcome) {
	t.Helper()
	var all tally
	for _, coding := range []string{"base64", "hex", "rot13", "percent", "html-entities", "fullwidth",
		"other-encoded"} {
		all.hits += o.groups["encoding "+coding].hits
		all.total += o.groups["encoding "+coding].total
	}
	require.GreaterOrEqual(t, all.rate(), 0.9, all)
}

func TestDetectPrintsItsTables(t *testing.T) {
	t.Chdir("../..")
	var out bytes.Buffer
	require.NoError(t, detect(nil, &out))
	for _, part := range []string{"Carrier alone: 0 warnings", "## dev.jsonl", "## test.jsonl", "| recall |",
		"| same verdict buried |", "- recall by lang: ar "} {
		require.Contains(t, out.String(), part)
	}
	out.Reset()
	require.NoError(t, detect([]string{"--cases", filepath.Join(ownCases, "fresh.jsonl")}, &out))
	require.NotContains(t, out.String(), "dev.jsonl")
}

func TestDetectRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, detect([]string{"--case"}, &bytes.Buffer{}), errUsage)
	require.ErrorIs(t, detect([]string{"more"}, &bytes.Buffer{}), errUsage)
	path := filepath.Join(t.TempDir(), "cases")
	for _, text := range []string{"", "{", "[]\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readSamples(path)
		require.ErrorContains(t, err, path)
	}
}

func TestMarksAreExpanded(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abab <<<end 0000>>>", expand("{{repeat:ab:2}} {{fence:close}}"))
	require.Equal(t, "{{repeat:ab:x}} {{repeat:3}} {{fake:npm}}", expand("{{repeat:ab:x}} {{repeat:3}} {{fake:npm}}"))
}

func TestSharesHaveWilsonsInterval(t *testing.T) {
	t.Parallel()
	require.Equal(t, "5/150 = 3.3 % (1.4 to 7.6)", tally{5, 150}.String())
	require.Equal(t, "0/0 = 0.0 % (0.0 to 79.3)", tally{}.String())
}

func readCarrier(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../injection/testdata/carrier.txt")
	require.NoError(t, err)
	return string(text)
}
