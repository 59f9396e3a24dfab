package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
)

func (a *app) graphCommand() command {
	return command{name: "graph", args: "[reviewpr | ticketpr]", help: "print the built graph as Mermaid", run: a.graph}
}

// graph prints the built graph as Mermaid.
func (a *app) graph(_ context.Context, args []string) error {
	var flow interface{ Mermaid() string }
	var err error
	switch strings.Join(args, " ") {
	case "", reviewpr.Name:
		flow, err = reviewpr.New(reviewpr.Steps{}, graph.NewMemory())
	case ticketpr.Name:
		flow, err = ticketpr.New(ticketpr.Steps{}, graph.NewMemory())
	default:
		err = problem.Usage(fmt.Sprintf("unknown graph %q", strings.Join(args, " ")),
			"the graphs are "+reviewpr.Name+" and "+ticketpr.Name)
	}
	if err == nil {
		fmt.Fprint(a.Stdout, flow.Mermaid())
	}
	return err
}
