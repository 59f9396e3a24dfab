package app

import (
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
)

// sealing is how snapshots are sealed: under the key where drafts are.
func sealing(p checkpoint.Protection) []graph.RunOption {
	if !p.Keyed() {
		return nil
	}
	return []graph.RunOption{graph.WithKey(p.Key.Derive("graph snapshot"))}
}
