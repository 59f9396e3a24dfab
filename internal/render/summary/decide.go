package summary

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// Decide holds what a summary says about deciding a draft.
type Decide struct {
	Code          string
	Kept          bool      // no finding calls a person; the draft can still be decided, by route B
	Expires       time.Time // when the draft can no longer be decided
	RetainedUntil time.Time // when the artifact is deleted; zero if unknown
	Environment   string    // route A: the protected environment; empty means route B
	Run           int64     // route A: the run that waits; 0 if unknown
	Approve       string    // route A: the whole command that approves; empty if there is none
	Workflow      string    // route B: the file of the dispatched workflow, without its folder
	Draft         string    // route B: the draft's name to enter in its form, such as 42-3f9c2a71be04d855
	Dispatch      string    // route B: the whole command that approves
	DispatchAbort string    // route B: the whole command that aborts
	Artifact      string    // the artifact's name; empty if unknown
	Elapsed       time.Duration
	Trust         string        // digest, seal or encrypt; empty means digest
	Counts        bool          // only the number of findings is shown
	Show          string        // with Counts: the command that shows the whole draft
	Withdraws     string        // code of the earlier draft that this one replaces, if any
	Extra         cost.MicroUSD // with Withdraws: what drafting again cost
	Revise        string        // the whole command that requests another draft; empty if there is none
}

// Section says how to decide: where, one command, and the rest in a fold. The ways are the
// environment's dialog (route A) and a dispatch (route B). No job waits for a kept draft, so only
// route B can decide it, and no one has to. r gives the repository and the draft's revision;
// commands are examples that change this draft.
func (d Decide) Section(r render.Review, commands ...string) string {
	others := d.otherWays(r, strings.Join(commands, "\n"))
	if d.Kept {
		return render.Details("To post it all the same",
			render.Paragraphs("Until it expires, the draft can be decided"+d.formRoute(r),
				others))
	}
	where := d.formRoute(r)
	if d.Environment != "" {
		where = d.dialogRoute(r)
	}
	return render.Paragraphs("**Decide**"+where, render.Details("More ways to decide", others))
}

// dialogRoute names the environment's dialog, in the waiting run, and the command.
func (d Decide) dialogRoute(r render.Review) string {
	address := ""
	if d.Run > 0 {
		address = r.ActionsPage("runs/" + strconv.FormatInt(d.Run, 10))
	}
	where := " in " + linkTo("Review deployments", address)
	if d.Approve == "" {
		return where + "."
	}
	return render.Paragraphs(where+" or with:", guard.Fence(d.Approve, ""))
}

// formRoute names the dispatch form, what to enter there, and the command.
func (d Decide) formRoute(r render.Review) string {
	where := "*Actions*"
	if address := r.ActionsPage("workflows/" + d.Workflow); d.Workflow != "" && address != "" {
		where = linkTo("this form", address)
	}
	return render.Paragraphs(" in "+where+", which *Run workflow* opens, draft "+guard.Code(d.Draft)+", or with:",
		guard.Fence(d.Dispatch, ""))
}

func linkTo(text, address string) string {
	if address == "" {
		return "*" + text + "*"
	}
	return "[" + text + "](" + address + ")"
}

func (d Decide) otherWays(r render.Review, commands string) string {
	if d.Environment != "" && !d.Kept {
		dialog := "In the dialog tick " + guard.Code(d.Environment) + ", then *Approve and deploy* or *Reject*."
		return render.Paragraphs(dialog,
			commandsHint("write commands into the comment of that dialog, one a line:", "", commands),
			d.dispatchHint(), d.revisionHint(r.Round), d.retentionWarning())
	}
	return render.Paragraphs("**Reject:** choose `abort` in the form, or:",
		guard.Fence(d.DispatchAbort, ""),
		commandsHint("approve with commands, one a line:", d.Dispatch, commands), d.revisionHint(r.Round),
		d.retentionWarning())
}

// dispatchHint says how an environment's reviewers can decide without its dialog, if they can.
func (d Decide) dispatchHint() string {
	if d.Dispatch == "" {
		return ""
	}
	return render.Paragraphs("**By dispatch**, for its reviewers, `decision=abort` to reject:", guard.Fence(d.Dispatch,
		""))
}

// revisionHint says how to request another draft, if that is possible.
func (d Decide) revisionHint(round int) string {
	if d.Revise == "" || round >= render.Revisions {
		return ""
	}
	return render.Paragraphs(fmt.Sprintf("**With another draft:** say what it should do differently (%s left):",
		wording.Count(render.Revisions-round, "revision")), guard.Fence(d.Revise, ""))
}

// commandsHint shows commands, if any, one a line, or as an argument of the dispatch command if given.
func commandsHint(how, dispatch, commands string) string {
	if commands == "" {
		return ""
	}
	if dispatch != "" {
		commands = dispatch + " -f commands='" + strings.ReplaceAll(commands, "'", `'\''`) + "'"
	}
	return "**With changes:** " + how + "\n\n" + guard.Fence(commands, "")
}

// examples returns example commands. No finding occurs twice, so all together are a valid decision.
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

// retentionWarning warns if the artifact is deleted before the draft expires.
func (d Decide) retentionWarning() string {
	if d.RetainedUntil.IsZero() || !d.RetainedUntil.Before(d.Expires) {
		return ""
	}
	return fmt.Sprintf("GitHub keeps the artifact only until %s, though the draft would wait until %s.",
		wording.Minute(d.RetainedUntil), wording.Minute(d.Expires))
}
