package action

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

// attacks are the package's own samples, those that no text file can hold, and the
// known ones.
func attacks(tb testing.TB) []string {
	tb.Helper()
	text, err := os.ReadFile("testdata/attacks.txt")
	require.NoError(tb, err)
	all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n%%\n")
	all = append(all, "a\r\n::add-mask::b\r::set-env name=x::y", "\u2028::warning::x\u0085::error::y\v::debug::z",
		"\x1b[2K\x1b[1Aall checks passed",
		"\x1b]8;;https://collect.example\aclick", "\u202etxt\u200b", "\xff\xfe::x", "\x00", "", "\n", "x\n", "\n\nx",
		"\r", "a\rb\r")
	for _, row := range llmtest.Attacks(tb) {
		all = append(all, row.Payload)
	}
	return all
}

// command is what the runner acts on: :: behind white space at a line's start,
// and ##[ anywhere.
var (
	command  = regexp.MustCompile(`(?m)^\s*::|##\[`)
	our      = regexp.MustCompile(`^::(error|warning|notice|add-mask)::`)
	controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f-\u009f]")
)

func TestT13_NothingPrintedIsACommandButOurOwn(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks(t) {
		var log bytes.Buffer
		r := New(Env{}, &log)
		r.Error(attack)
		r.Warning("the file " + attack)
		r.Notice("the draft " + attack)
		printed := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
		require.Len(t, printed, 3, "%q became %q", attack, log.String())
		for _, line := range printed {
			require.Regexp(t, our, line)
			require.NotRegexp(t, controls, line)
			require.NotRegexp(t, command, our.ReplaceAllString(line, ""), "%q", attack)
			shown := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(our.ReplaceAllString(line, ""))
			require.NotRegexp(t, command, shown, "the runner prints the annotation decoded")
			require.NotRegexp(t, controls, shown)
		}
	}
}

func TestASecretIsMaskedLineByLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := New(Env{}, &log)
	for _, secret := range []string{"", "short", "\n", "sk-one\nsk-second line\n  x\r\n"} {
		r.Mask(secret)
	}
	require.Equal(t, "::add-mask::sk-one\n::add-mask::sk-second line\n", log.String())
}

// outputs parses an output file as the runner does on Linux: lines end with a
// line feed alone, empty ones are skipped, and what stands first in a line, =
// or <<, says what it is.
func outputs(text string) (map[string]string, error) {
	values := map[string]string{}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			values[line[:equals]] = line[equals+1:]
		case heredoc > 0 && line[heredoc+2:] != "":
			name, end := line[:heredoc], line[heredoc+2:]
			var value []string
			for {
				var found bool
				line, text, found = strings.Cut(text, "\n")
				if line == end {
					break
				}
				if value = append(value, line); !found {
					return nil, fmt.Errorf("no line %q", end)
				}
			}
			values[name] = strings.Join(value, "\n")
		default:
			return nil, fmt.Errorf("bad line %q", line)
		}
	}
	return values, nil
}

func TestT14_OutputsReadBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "output")
	r := New(Env{outputPath: path}, nil)
	want := map[string]string{}
	for i, attack := range attacks(t) {
		name := fmt.Sprintf("o-%d", i)
		want[name] = attack
		require.NoError(t, r.SetOutputs(map[string]string{name: attack, "outcome": "PAUSED"}))
	}
	want["outcome"] = "PAUSED"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	got, err := outputs(string(text))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestT14_ADelimiterInsideTheValueIsDrawnAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "output")
	r := New(Env{outputPath: path}, nil)
	r.random = bytes.NewReader(append(bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)...))
	first := "pr_review_" + hex.EncodeToString(bytes.Repeat([]byte{1}, 16))
	value := "x\n" + first + "\napproved=true"
	require.NoError(t, r.SetOutputs(map[string]string{"outcome": value}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	got, err := outputs(string(text))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"outcome": value}, got)
	require.ErrorContains(t, r.SetOutputs(map[string]string{"outcome": value}), "drawing an output delimiter")
}

func TestT14_AnOutputNameHoldsNoSyntax(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "output")
	for _, name := range []string{"", "a=b", "a<<b", "a\nb", "a\rb"} {
		require.Error(t, New(Env{outputPath: path}, nil).SetOutputs(map[string]string{name: "x"}))
	}
	require.NoFileExists(t, path)
}

func FuzzT14_OutputsReadBackAsTheyWereWritten(f *testing.F) {
	for _, attack := range attacks(f) {
		f.Add(attack)
	}
	path := filepath.Join(f.TempDir(), "output")
	f.Fuzz(func(t *testing.T, value string) {
		_ = os.Remove(path)
		require.NoError(t, New(Env{outputPath: path}, nil).SetOutputs(map[string]string{"b": value, "a": "1"}))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		got, err := outputs(string(text))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "1", "b": value}, got)
	})
}

func TestTheSummaryIsAppendedAndBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "summary")
	r := New(Env{summaryPath: path}, nil)
	require.NoError(t, r.Summary("## one\n\n"))
	require.NoError(t, r.Summary("two"))
	require.ErrorContains(t, r.Summary(strings.Repeat("x", MaxSummary)), "GitHub takes 1048576")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "## one\ntwo\n", string(text))
	require.ErrorContains(t, New(Env{summaryPath: filepath.Join(path, "x")}, nil).Summary("x"),
		"opening the runner's file")
}

func TestWithoutTheRunnersFilesNothingIsWritten(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	require.NoError(t, New(Env{}, &log).SetOutputs(map[string]string{"outcome": "x"}))
	require.Contains(t, log.String(), "GITHUB_OUTPUT is not set")
	require.NoError(t, New(Env{}, nil).Summary("x"))
}

func TestTheRunnersVariablesAreRead(t *testing.T) {
	t.Parallel()
	vars := map[string]string{
		"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_REPOSITORY": "o/r", "GITHUB_REPOSITORY_ID": "7",
		"GITHUB_RUN_ID":      "12345678901",
		"GITHUB_RUN_ATTEMPT": "2", "GITHUB_RETENTION_DAYS": "90", "GITHUB_OUTPUT": "/o", "GITHUB_STEP_SUMMARY": "/s",
	}
	e, err := ReadEnv(func(name string) string { return vars[name] })
	require.NoError(t, err)
	require.Equal(t, Env{EventName: "pull_request_target", Repository: "o/r", RepositoryID: 7, RunID: 12345678901,
		RunAttempt:    2,
		RetentionDays: 90, outputPath: "/o", summaryPath: "/s"}, e)
	vars["GITHUB_RUN_ID"], vars["GITHUB_REPOSITORY_ID"] = "x\n::y", "1.5"
	_, err = ReadEnv(func(name string) string { return vars[name] })
	require.ErrorContains(t, err, `GITHUB_RUN_ID is "x\n::y", not a number`)
	require.ErrorContains(t, err, "GITHUB_REPOSITORY_ID", "every bad one is named")
}
