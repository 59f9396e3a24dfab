package action

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var known = []string{"mode", "pull-request", "commands"}

func TestInputsAreReadByName(t *testing.T) {
	t.Parallel()
	got, err := Inputs([]string{"PATH=/bin", "INPUT_MODE= resume \n", "INPUT_PULL-REQUEST=42",
		"INPUT_COMMANDS=/drop F1: a=b\n/approve\n", "X=INPUT_Y=z"}, known)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"mode": "resume", "pull-request": "42", "commands": "/drop F1: a=b\n/approve"},
		got)
	got, err = Inputs([]string{"INPUT_MODE=", "INPUT_COMMANDS=  "}, known)
	require.NoError(t, err)
	require.Empty(t, got, "an empty input is one that was not given")
}

func TestAnUnknownInputIsAnErrorWithTheNearestName(t *testing.T) {
	t.Parallel()
	_, err := Inputs([]string{"INPUT_MODES=resume", "INPUT_OTHERS=", "INPUT_MODE=review"}, known)
	require.EqualError(t, err, "unknown input \"modes\"\n  did you mean \"mode\"?\nunknown input \"others\"")
}

func event(tb testing.TB, text string) Env {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "event.json")
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o600))
	return Env{EventName: "e", EventPath: path}
}

func TestTheEventNamesThePullRequest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Event{
		`{"action":"opened","pull_request":{"number":42},"sender":{"login":"ada"}}`: {Name: "e", Action: "opened",
			Number: 42},
		`{"action":"labeled","pull_request":{"number":42},"label":{"name":"x\n::y"}}`: {Name: "e", Action: "labeled",
			Number: 42, Label: "x\n::y"},
		`{"issue":{"number":3,"pull_request":{}}}`:            {Name: "e", Number: 3},
		`{"issue":{"number":3}}`:                              {Name: "e"},
		`{"inputs":{"pull-request":"9"},"pull_request":null}`: {Name: "e"},
		`{}`: {Name: "e"},
	} {
		got, err := ReadEvent(event(t, text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	got, err := ReadEvent(Env{EventName: "schedule"})
	require.NoError(t, err)
	require.Equal(t, Event{Name: "schedule"}, got)
	got, err = ReadEvent(Env{EventName: "schedule", EventPath: filepath.Join(t.TempDir(), "none")})
	require.NoError(t, err)
	require.Equal(t, Event{Name: "schedule"}, got, "act names a file that it does not make")
}

func TestAnEventThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", `{"pull_request":{"number":"42"}}`, `{"action":"opened"`} {
		_, err := ReadEvent(event(t, text))
		require.ErrorContains(t, err, "reading the event", text)
	}
	_, err := ReadEvent(Env{EventPath: t.TempDir()})
	require.Error(t, err)
}

func FuzzEvent(f *testing.F) {
	f.Add(`{"pull_request":{"number":42},"label":{"name":"x"}}`)
	f.Add(`{"issue":{"number":3,"pull_request":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := ReadEvent(event(t, text)); err == nil {
			require.Equal(t, "e", e.Name)
		}
	})
}
