package wire

import (
	"os"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
)

// NamedConfig reads the settings file that --config names on this machine; where the
// flag was left alone, it gives the defaults, and without these the settings that hold
// otherwise.
func NamedConfig(file config.File, otherwise config.Config) (config.Config, error) {
	if file.Path == config.DefaultPath && file.Defaults == "" {
		return otherwise, nil
	}
	if file.Path == config.DefaultPath {
		return file.Parse(nil)
	}
	text, err := os.ReadFile(file.Path)
	if err != nil {
		return otherwise, problem.Usage("the settings cannot be read: "+err.Error(),
			"--config names a file; without it the defaults hold")
	}
	return file.Parse(text)
}
