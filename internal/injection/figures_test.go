//go:build !race

// Rates of one goroutine: the race detector would take minutes and find nothing.

package injection_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/injection"
)

var more = flag.String("cases", "", "a further file of cases whose figures are printed")

const middle = 200 // lines of the carrier before a buried sample

// The rates that the detector has to hold are goals for its first figures less
// a step, so that a changed word does not fail a build and a lost idea does. With
// -v all figures are printed: DETECTOR has them.
func TestT1_T7_TheDetectorHoldsItsFigures(t *testing.T) {
	t.Parallel()
	carrier, err := os.ReadFile("testdata/carrier.txt")
	require.NoError(t, err)
	require.False(t, found(injection.Scan(string(carrier))))
	type goal struct{ recall, wrong float64 }
	goals := map[string]goal{
		"testdata/dev.jsonl":           {0.90, 0.02},
		"testdata/test.jsonl":          {0.80, 0.07},
		"testdata/fresh.jsonl":         {0.68, 0.02},
		"../../testdata/attacks.jsonl": {0.85, 0.04},
	}
	if *more != "" {
		goals[*more] = goal{0, 1}
	}
	for path, g := range goals {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			samples, err := readSamples(path)
			require.NoError(t, err)
			o := measureDetector(samples, string(carrier))
			t.Log(o)
			require.GreaterOrEqual(t, o.recall.rate(), g.recall, o.recall)
			require.LessOrEqual(t, o.wrong.rate(), g.wrong, o.wrong)
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

// specimen is one row of a file of cases: an attack that is to be found, a benign
// look-alike, or neither.
type specimen struct {
	ID       string `json:"id"`
	Channel  string `json:"channel"`
	Payload  string `json:"payload"`
	Lang     string `json:"lang"`
	Encoding string `json:"encoding"`
	Detector bool   `json:"detector"`
	Benign   bool   `json:"benign"`
}

// readSamples reads rows and expands their marks. Keys that it does not know
// are another tool's.
func readSamples(path string) ([]specimen, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []specimen
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s specimen
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(list)+1, err)
		}
		s.Payload = expand(s.Payload)
		list = append(list, s)
	}
	if len(list) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("%s holds no case", path)
	}
	return list, lines.Err()
}

var expansion = regexp.MustCompile(`\{\{(repeat|fence):([^{}]*)\}\}`)

// expand replaces the marks {{repeat:TEXT:N}} and {{fence:open}}. Made-up
// credentials stay marks: they are not instructions.
func expand(payload string) string {
	return expansion.ReplaceAllStringFunc(payload, func(mark string) string {
		parts := expansion.FindStringSubmatch(mark)
		if parts[1] == "fence" {
			return map[string]string{"open": "<<<data 0000>>>", "close": "<<<end 0000>>>"}[parts[2]]
		}
		at := strings.LastIndexByte(parts[2], ':')
		count, err := strconv.Atoi(parts[2][at+1:])
		if at < 0 || err != nil || count < 0 || count > 1e6 {
			return mark
		}
		return strings.Repeat(parts[2][:at], count)
	})
}

// bury puts a text in the middle of a carrier.
func bury(payload, carrier string) string {
	lines := strings.Split(carrier, "\n")
	return strings.Join(slices.Concat(lines[:middle], strings.Split(payload, "\n"), lines[middle:]), "\n")
}

// tally counts the samples of a group that were flagged.
type tally struct{ hits, total int }

func (t *tally) add(hit bool) {
	t.total++
	if hit {
		t.hits++
	}
}

func (t tally) rate() float64 { return float64(t.hits) / float64(max(1, t.total)) }

// String is a share with its 95 % interval after Wilson.
func (t tally) String() string {
	const z = 1.96
	n, p := float64(max(1, t.total)), t.rate()
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high := (centre-half)/(1+z*z/n), (centre+half)/(1+z*z/n)
	return fmt.Sprintf("%d/%d = %.1f %% (%.1f to %.1f)", t.hits, t.total, 100*p, 100*max(0, low), 100*min(1, high))
}

// outcome is the result for a file of cases.
type outcome struct {
	recall, wrong, hiddenWrong tally            // any warning on attacks; any, and hidden ones, on benign rows
	buried                     tally            // the same verdict alone and buried
	groups                     map[string]tally // attacks by "encoding", "lang" or "channel", a space and the value
}

func measureDetector(samples []specimen, carrier string) outcome {
	o := outcome{groups: map[string]tally{}}
	for _, s := range samples {
		if !s.Detector && !s.Benign {
			continue
		}
		report := injection.Scan(s.Payload)
		o.buried.add(found(injection.Scan(bury(s.Payload, carrier))) == found(report))
		if s.Benign {
			o.wrong.add(found(report))
			o.hiddenWrong.add(len(report.Hidden) > 0)
			continue
		}
		o.recall.add(found(report))
		for _, group := range []string{"encoding " + s.Encoding, "lang " + s.Lang, "channel " + s.Channel} {
			t := o.groups[group]
			t.add(found(report))
			o.groups[group] = t
		}
	}
	return o
}

// String has a line for each figure.
func (o outcome) String() string {
	text := fmt.Sprintf("recall %v\nfalse positives %v\nsame verdict buried %v\n", o.recall, o.wrong, o.buried)
	for _, group := range slices.Sorted(maps.Keys(o.groups)) {
		text += fmt.Sprintf("%s %d/%d\n", group, o.groups[group].hits, o.groups[group].total)
	}
	return text
}
