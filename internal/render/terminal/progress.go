package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// Running is the progress of a run. Status is what it does while no file is under review;
// Waiting is what it waits for, or empty; a Limit of 0 means none.
type Running struct {
	Status                string
	Done, Total, Findings int
	Used                  cost.Usage
	Limit                 cost.MicroUSD
	Waiting               string
	Elapsed               time.Duration
}

// Progress returns one line about a run in progress, without a line break and at most width
// columns wide.
func Progress(r Running, width int) string {
	parts := []string{r.Status}
	if r.Total > 0 {
		done, total := wording.Thousands(int64(r.Done)), wording.Count(r.Total, "file")
		parts = []string{fmt.Sprintf("reviewing  %s/%s", done, total), wording.Count(r.Findings, "finding")}
	}
	if u := r.Used; u.Calls > 0 {
		parts = append(parts, wording.Count(int(u.Calls), "call"), wording.Price(u, r.Limit))
	}
	parts = append(parts, fmt.Sprintf("%d s", int(r.Elapsed.Seconds())))
	line := strings.Join(parts, " · ")
	if r.Waiting != "" {
		waiting := guard.Line("waiting for "+r.Waiting, render.TitleRunes)
		line += strings.Repeat(" ", max(2, width-column.Width(line)-column.Width(waiting))) + waiting
	}
	return column.Cut(line, width)
}
