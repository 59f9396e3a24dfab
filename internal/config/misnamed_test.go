package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func TestAFileThatIsNearlyNamedAsTheSettingsIsNamed(t *testing.T) {
	t.Parallel()
	f := config.File{Path: ".github/pr-review.yml"}
	require.Equal(t, []string{
		".github/pr-review.yaml is not read: settings are in .github/pr-review.yml",
		".github/PR_Review.yml is not read: settings are in .github/pr-review.yml",
	}, f.Misnamed([]string{"pr-review.yml", "pr-review.yaml", "PR_Review.yml", "pr-review.schema.json", "workflows",
		"review.yml", "pr-review-decide.yml"}))
}
