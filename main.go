// Command pr-review-action reviews pull requests and posts what a person
// approved. It is both the GitHub Action and its command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/pr-review-action/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once: a write that is out is waited for
	os.Exit(app.Run(ctx, app.Process{
		Args: os.Args, Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
