//go:build nopostgres

package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/problem"
)

// openPostgres is not in the action's image: its jobs keep drafts in artifacts,
// and what is not linked beside their tokens cannot be attacked.
func openPostgres(context.Context, string) (Store, error) {
	return nil, problem.Usage("this build has no Postgres store",
		"install the command line with go install, or name a folder with --store")
}

// openIndexes is not in a build without Postgres, as openPostgres is not.
func openIndexes(context.Context, string, string) (database, error) {
	return nil, problem.Usage("this build has no Postgres, so index.store cannot be one",
		"install the command line with go install, or leave index.store out")
}
