package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// Waiting is the state of a parked draft.
type Waiting string

// The states of parked drafts: only the first can be decided.
const (
	Waits      Waiting = "waits"
	Superseded Waiting = "superseded" // the pull request moved, closed, or has a newer draft
	Withdrawn  Waiting = "withdrawn"  // drafted again
	Expired    Waiting = "expired"
)

// Parked is one row of the list of drafts on GitHub, and of the JSON of threads --json. Where
// is the page or command to decide at; it gets its own row and is never cut.
type Parked struct {
	Name     string    `json:"-"`       // #42, #42@docs
	Outcome  string    `json:"outcome"` // PAUSED or KEPT
	Thread   string    `json:"thread_id"`
	Code     string    `json:"code"`
	Artifact string    `json:"artifact_name"`
	RunID    int64     `json:"run_id"`
	Findings int       `json:"findings"`
	Blockers int       `json:"blockers"`
	State    Waiting   `json:"state"`
	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at"`
	Where    string    `json:"where"`
}

const (
	nameColumns = 17 // of a draft's name
	threadRow   = "%s  %-7s  %6s  %8s  %8s  %-12s  %s\n"
)

// Threads lists parked drafts in the given order under a heading, for a terminal of 80
// columns; "" for none.
func Threads(list []Parked, now time.Time) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, threadRow, column.Pad("pull request", nameColumns), "outcome", "age", "findings", "blockers",
		"expires", "state")
	for _, p := range list {
		name := column.Pad(column.Cut(guard.Line(p.Name, 1000), nameColumns), nameColumns)
		fmt.Fprintf(&b, threadRow, name, guard.Line(p.Outcome, 20), age(now.Sub(p.Created)),
			wording.Thousands(int64(p.Findings)), wording.Thousands(int64(p.Blockers)),
			p.Expires.UTC().Format("2 Jan 15:04"), p.State)
		if p.Where != "" {
			b.WriteString("  " + guard.Line(p.Where, 1000) + "\n")
		}
	}
	return b.String()
}

func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(max(d, 0).Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}
