package render

import (
	"fmt"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// reused says what of the review was paid for by earlier runs.
func (r Review) reused() string {
	if r.Reused <= 0 {
		return ""
	}
	read := inState(r.Files, finding.Reviewed) + inState(r.Files, finding.Partly)
	return fmt.Sprintf("%s of %s taken from earlier runs, not paid again.", Thousands(int64(r.Reused)), Count(max(read, r.Reused), "file"))
}

// moved says how many findings stand on another line than the model gave.
func (r Review) moved() string {
	n := 0
	for _, f := range r.Files {
		n += f.Moved
	}
	if n == 0 {
		return ""
	}
	return Count(n, "finding") + " moved to the line quoted."
}

// again says what became of the draft that this one replaces.
func (d Decide) again() string {
	if d.Withdraws == "" {
		return ""
	}
	more := "nothing"
	if d.Extra > 0 {
		more = d.Extra.String()
	}
	return fmt.Sprintf("Drafted again: the earlier draft %s is withdrawn; this one cost %s more.", guard.Code(d.Withdraws), more)
}

// retained warns where the artifact is gone before the draft expires.
func (d Decide) retained() string {
	if d.RetainedUntil.IsZero() || !d.RetainedUntil.Before(d.Expires) {
		return ""
	}
	return fmt.Sprintf("GitHub keeps the artifact only until %s, though the draft would wait until %s.", minute(d.RetainedUntil), minute(d.Expires))
}

// hidden stands in the place of findings and warnings: how to read them.
func (d Decide) hidden(r Review) string {
	text, how := "The findings", "This"
	if n := len(r.Notices) + len(r.Flags); n > 0 {
		text += " and " + Count(n, "warning")
	}
	if d.Trust == "seal" || d.Trust == "encrypt" {
		how = "With the checkpoint key in `PR_REVIEW_CHECKPOINT_KEY`, this"
	}
	return paragraphs(text+" are not shown here. "+how+" shows the whole draft:", guard.Fence(d.Show, ""))
}
