package app_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

// modelsPage is what users read about the side of the models.
func modelsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "MODELS.md"))
	require.NoError(t, err)
	return string(text)
}

func TestThePageOfModelsShowsTheFaultTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join("testdata", "fault-table.md"))
	require.NoError(t, err)
	require.Contains(t, modelsPage(t), string(table))
	require.Contains(t, modelsPage(t), "as of "+cost.PricesAsOf())
	require.LessOrEqual(t, strings.Count(modelsPage(t), "\n"), 200)
}

func TestThePageOfModelsShowsAddressesThatAreTaken(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("`(https?://[^`]+)`").FindAllStringSubmatch(modelsPage(t), -1)
	require.GreaterOrEqual(t, len(rows), 7)
	for _, row := range rows {
		_, err := llm.New(llm.Options{BaseURL: row[1], Key: "sk-test", Model: "m",
			HTTP: transport.New(transport.Options{})})
		require.NoError(t, err, row[1])
	}
}
