package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
)

func (a *app) graphCommand() command {
	return command{name: "graph", args: "[reviewpr]", help: "print the built graph as Mermaid", run: a.graph}
}

// graph prints the built graph as Mermaid.
func (a *app) graph(_ context.Context, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != reviewpr.Name {
		return problem.Usage(fmt.Sprintf("unknown graph %q", strings.Join(args, " ")), "the graph is "+reviewpr.Name)
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, graph.NewMemory())
	if err != nil {
		return err
	}
	fmt.Fprint(a.Stdout, flow.Mermaid())
	return nil
}
