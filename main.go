// Command pr-review-action reviews pull requests and posts what a person
// approves. It is both the GitHub Action and the command line.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/pr-review-action/internal/app"
)

// init writes the workflows of this repository into other repositories.
var (
	//go:embed .github/workflows/pr-review.yml
	draftWorkflow string
	//go:embed .github/workflows/pr-review-decide.yml
	decideWorkflow string
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills the program; the first waits for a write under way
	os.Exit(app.Run(ctx, app.Process{
		Args: os.Args, Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Workflows: map[string]string{
			".github/workflows/pr-review.yml":        draftWorkflow,
			".github/workflows/pr-review-decide.yml": decideWorkflow,
		},
	}))
}
