package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/settings"
)

// TestASettingsFileOfThisMachineIsReadOnce has a revision ask for it again, when a shell's <(…) would be empty.
func TestASettingsFileOfThisMachineIsReadOnce(t *testing.T) {
	t.Parallel()
	a := &Terminal{Front: driver.NewFront(driver.Process{}), Options: &Options{Settings: settings.Defaults()}}
	a.Config = filepath.Join(t.TempDir(), "own.yml")
	for _, text := range []string{"language: French\n", ""} {
		require.NoError(t, os.WriteFile(a.Config, []byte(text), 0o600))
		require.NoError(t, a.InRepository())
		require.Equal(t, "language: French\n", string(a.ConfigHere))
		require.False(t, a.ConfigAtBase)
	}
}
