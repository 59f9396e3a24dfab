package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/testvolume"
)

// TestMain is this very program too, for the processes that a suite starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		return
	}
	os.Exit(m.Run())
}

// tiny is a suite over a few files, with a stand-in, unless the volume is full,
// for Go's command: the image's flags compile the whole program again.
// .ci/bench compiles it, as .ci/container does. What the suite prints goes to the buffer.
func tiny(t *testing.T) (*suite, *bytes.Buffer) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	compiler := "go"
	if !testvolume.Full() {
		compiler, err = filepath.Abs(filepath.Join("testdata", "go"))
		require.NoError(t, err)
	}
	var out bytes.Buffer
	return &suite{
		program: program, compiler: compiler, sizes: []int{3, 6}, repeats: 1, out: &out, log: io.Discard,
	}, &out
}

func TestEveryLimitIsMeasuredAndEveryFigureHasOne(t *testing.T) {
	testvolume.NoRaces(t)
	if runtime.GOOS != "linux" {
		t.Skip("peaks of memory are read on Linux alone: elsewhere rusage has another unit or none, and the limits " +
			"have no figure")
	}
	compiled := filepath.Join(t.TempDir(), "compiled")
	t.Setenv("BENCH_GO_LOG", compiled)
	s, out := tiny(t)
	require.NoError(t, s.run(t.Context(), selectBenchmarks("all")))

	var have []string
	for _, f := range s.noted {
		require.Positive(t, f.value, f.name)
		have = append(have, f.name)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(limits())), have)

	for _, row := range []string{
		`(?s)\| 3 \| floor \|.*\| 6 \| graph \|.*6 files take ×[0-9.]+ of 3\.`, `\| 6 \| 0\.2 \| ×`,
		"\\| `review demo`, to its first byte \\| [0-9.]+ \\| [0-9.]+ \\| ×",
	} {
		require.Regexp(t, row, out.String())
	}
	if !testvolume.Full() {
		builds, err := os.ReadFile(compiled)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(builds), " .\n"), "the product is built once")
		require.Contains(t, string(builds), " -gcflags=github.com/...=-l ")
		require.Regexp(t, `-o \S+/floor/nothing main\.go\n`, string(builds))
	}
	require.NoDirExists(t, s.scratch)
}

func TestCheckNamesTheLimitThatWasMissed(t *testing.T) {
	t.Parallel()
	s, out := tiny(t)
	s.limits = map[string]float64{"memory: peak / floor": 1}
	s.note("memory: peak / floor", 7.5)
	err := s.judge()
	require.ErrorContains(t, err, "limit missed: memory: peak / floor is 7.50, at most 1.00")
	require.NotErrorIs(t, err, errUsage, "it exits 1, not 2")
	require.Contains(t, out.String(), "| memory: peak / floor | 7.50 | 1.00, **missed** |")
}

func TestAFigureIsHeldUpToItsLimit(t *testing.T) {
	t.Parallel()
	s := &suite{limits: map[string]float64{"a": 2}, out: io.Discard}
	s.note("a", 2)
	require.NoError(t, s.judge())
	zero := 0.0
	for name, f := range map[string]figure{"above": {"a", 2.001}, "not a number": {"a", zero / zero},
		"without a limit": {"b", 1}} {
		s.noted = []figure{f}
		require.Error(t, s.judge(), name)
	}
}

func TestTheProgramIsBuiltAsTheDockerfileBuildsIt(t *testing.T) {
	t.Parallel()
	recipe, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	require.NoError(t, err)
	code, err := os.ReadFile("product.go")
	require.NoError(t, err)
	named := regexp.MustCompile(`go build -tags "[^"]*" \$\{PLAIN\} (.*) -o`).FindStringSubmatch(string(recipe))
	require.NotNil(t, named)
	for flag := range strings.FieldsSeq(strings.ReplaceAll(named[1], `"`, "")) {
		require.Contains(t, string(code), flag)
	}
	flags, err := imageFlags(filepath.Join("..", ".."))
	require.NoError(t, err)
	tags := flags[len(flags)-1]
	for _, tag := range []string{"nopostgres", "noprograms", "grammar_subset", "grammar_subset_bash"} {
		require.Contains(t, strings.Split(strings.TrimPrefix(tags, "-tags="), ","), tag)
	}
	require.NotContains(t, tags, "$")
	require.Equal(t, "-gcflags=github.com/...=-l", flags[0])
	require.Equal(t, "-gcflags=github.com/odvcencio/...=", flags[len(flags)-2], "the last one counts")
}

func TestSidesAreMeasuredInTurnAndGiveMedians(t *testing.T) {
	t.Parallel()
	var order string
	next := func(name string, values ...float64) side {
		return side{name, func() ([]float64, error) {
			order += name
			v := values[0]
			values = values[1:]
			return []float64{v, -v}, nil
		}}
	}
	s := &suite{repeats: 4, log: io.Discard}
	got, err := s.inTurn(next("a", 9, 1, 2, 4), next("b", 5, 5, 5, 6))
	require.NoError(t, err)
	require.Equal(t, "abababab", order)
	require.Equal(t, [][]float64{{3, -3}, {5, -5}}, got)
}

func TestNumbersAreShort(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]float64{"0.012": 0.0123, "1.23": 1.234, "12.3": 12.34, "1234": 1234.4,
		"0.000": 0} {
		require.Equal(t, want, formatValue(value))
	}
	require.Equal(t, "×1.008", formatRatio(1.0084))
	require.Equal(t, "×12.3", formatRatio(12.34))
}
