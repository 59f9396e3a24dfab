//go:build nopostgres

package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/problem"
)

// openPostgres is left out of the action's image: its jobs keep drafts in artifacts, and code
// that is not linked cannot be attacked for their tokens.
func openPostgres(context.Context, string) (Store, error) {
	return nil, problem.Usage("this build has no Postgres store",
		"install the command line with go install, or name a folder with --store")
}

// openIndexes is left out of a build without Postgres, like openPostgres.
func openIndexes(context.Context, string, string) (database, error) {
	return nil, problem.Usage("this build has no Postgres, so index.store cannot be one",
		"install the command line with go install, or leave index.store out")
}
