//go:build nopostgres

package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/problem"
)

// openIndexes is not in a build without Postgres, as openPostgres is not.
func openIndexes(context.Context, string, string) (database, error) {
	return nil, problem.Usage("this build has no Postgres, so index.store cannot be one",
		"install the command line with go install, or leave index.store out")
}
