// Fakegithub runs the fake GitHub as a process for scripts: it prints one JSON
// object with addresses and tokens and serves until it is interrupted.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/pr-review-action/internal/githubtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "fakegithub:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, logs io.Writer) error {
	flags := flag.NewFlagSet("fakegithub", flag.ContinueOnError)
	flags.SetOutput(logs)
	fork := flags.Bool("fork", false, "the pull request comes from a fork")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := githubtest.Start(githubtest.Options{
		Violation: func(reason string) { fmt.Fprintln(logs, "violation:", reason) },
	})
	if err != nil {
		return err
	}
	defer s.Close()
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if err := e.Encode(s.Scenario(*fork)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
