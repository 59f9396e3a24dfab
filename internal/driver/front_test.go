package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Windows lists LOCALAPPDATA and Path, whatever case a program asks for.
func TestOnWindowsTheCaseOfAVariablesNameDoesNotMatter(t *testing.T) {
	t.Parallel()
	environ := []string{`=C:=C:\work`, "LOCALAPPDATA=first", "Path=bin", "LOCALAPPDATA=last", "PATHEXT=.EXE"}
	for name, want := range map[string]struct{ windows, elsewhere string }{
		"LocalAppData": {"last", ""},
		"LOCALAPPDATA": {"last", "last"},
		"PATH":         {"bin", ""},
		"HOME":         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want.windows, variable(environ, name, true))
			require.Equal(t, want.elsewhere, variable(environ, name, false))
		})
	}
}
