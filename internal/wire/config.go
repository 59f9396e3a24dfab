package wire

import (
	"os"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
)

// NamedConfig reads the settings file that --config names on this machine;
// otherwise it gives the settings that hold where the flag was left alone.
func NamedConfig(path string, otherwise config.Config) (config.Config, error) {
	if path == config.DefaultPath {
		return otherwise, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return otherwise, problem.Usage("the settings cannot be read: "+err.Error(),
			"--config names a file; without it the defaults hold")
	}
	return config.Parse(path, text)
}
