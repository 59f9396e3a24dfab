package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// Decide says how a draft is decided.
type Decide struct {
	Code          string
	Kept          bool      // nothing calls a person; the draft can be decided all the same, by route B
	Expires       time.Time // when the draft can no longer be decided
	RetainedUntil time.Time // when the artifact is deleted; zero where unknown
	Environment   string    // route A: the protected environment; empty means route B
	Dispatch      string    // route B: the whole command that approves
	DispatchAbort string    // route B: the whole command that aborts
	Artifact      string    // the artifact's name; empty where unknown
	Elapsed       time.Duration
	Trust         string        // digest, seal or encrypt; empty means digest
	Counts        bool          // nothing of a finding is shown but how many there are
	Show          string        // with Counts: the command that shows the whole draft
	Withdraws     string        // code of the earlier draft that this one replaces, if any
	Extra         cost.MicroUSD // with Withdraws: what drafting again cost
	Revise        string        // the whole command that asks for another draft; empty where none does
}

// section says how to decide: by the environment's dialog (route A) or by a
// command that works as it stands (route B). No job waits for a kept draft, so
// route B alone decides it.
func (d Decide) section(r Review) string {
	if d.Environment != "" && !d.Kept {
		return paragraphs("### Decide",
			"**As it stands:** *Review deployments* above, tick "+guard.Code(d.Environment)+
				", *Approve and deploy*; or *Reject*.",
			changes(r.Findings, "write commands into the comment of that dialog, one a line:", ""),
			d.dispatched(), d.another(r), d.retained())
	}
	return paragraphs("### Decide", d.optional(),
		"**As it stands:**", guard.Fence(d.Dispatch, ""),
		"**Reject:**", guard.Fence(d.DispatchAbort, ""),
		changes(r.Findings, "approve with commands, one a line:", d.Dispatch),
		d.another(r),
		"Without a terminal: *Actions*, the workflow named in that line, *Run workflow* with the same values.",
		d.retained())
}

// dispatched says how an environment's reviewers may decide without its dialog.
func (d Decide) dispatched() string {
	if d.Dispatch == "" {
		return ""
	}
	return paragraphs("**By dispatch**, for its reviewers, `decision=abort` to reject:", guard.Fence(d.Dispatch, ""))
}

// pointer says, above the findings, how to decide. A kept draft waits for nobody.
func (d Decide) pointer() string {
	switch {
	case d.Kept:
		return ""
	case d.Environment != "":
		return "**Decide** with *Review deployments* above; for changes see *Decide* below."
	}
	return "**Decide** with the commands under *Decide* below, or in *Actions* with this code."
}

// another says how to have the change drafted anew.
func (d Decide) another(r Review) string {
	left := revisions - r.Round
	if d.Revise == "" || left <= 0 {
		return ""
	}
	return paragraphs(fmt.Sprintf("**With another draft:** say what it should do differently (%s left):",
		Count(left, "revision")), guard.Fence(d.Revise, ""))
}

// optional introduces the commands of a draft that nobody has to decide.
func (d Decide) optional() string {
	if !d.Kept {
		return ""
	}
	return "Optional: without a decision nothing is posted. Until it expires, the draft can be decided by its code."
}

// changes shows commands that are right for this draft's findings, behind the
// dispatch line where there is one.
func changes(all []finding.Finding, how, dispatch string) string {
	commands := examples(all)
	if len(commands) == 0 {
		return ""
	}
	text := strings.Join(commands, "\n")
	if dispatch != "" {
		text = dispatch + " -f commands='" + text + "'"
	}
	return "**With changes:** " + how + "\n\n" + guard.Fence(text, "")
}

// examples never names one finding twice: as a whole they are a valid decision.
func examples(all []finding.Finding) []string {
	if len(all) == 0 {
		return nil
	}
	commands := []string{fmt.Sprintf("/drop %s: REASON", all[len(all)-1].ID)}
	if len(all) > 1 {
		commands = append(commands, fmt.Sprintf("/edit %s: NEW TEXT", all[0].ID))
	}
	if len(all) > 2 {
		commands = append(commands, "/summary "+all[1].ID)
	}
	return commands
}

// retained warns where the artifact is gone before the draft expires.
func (d Decide) retained() string {
	if d.RetainedUntil.IsZero() || !d.RetainedUntil.Before(d.Expires) {
		return ""
	}
	return fmt.Sprintf("GitHub keeps the artifact only until %s, though the draft would wait until %s.",
		minute(d.RetainedUntil), minute(d.Expires))
}
