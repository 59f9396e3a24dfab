package app

import (
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/wire"
)

func (a *app) versionCommand() command {
	return command{name: "version", help: "print the version", run: a.version}
}

func (a *app) version(context.Context, []string) error {
	fmt.Fprintln(a.Stdout, "pr-review-action", wire.Version())
	return nil
}
