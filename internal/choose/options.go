package choose

import (
	"io"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/render"
)

// Options are what the list is made from.
type Options struct {
	In        io.Reader // the terminal's file; its end means later
	Out       io.Writer // the terminal's file: the list is not drawn elsewhere
	Review    render.Review
	Expires   time.Time // when the draft can no longer be decided; zero is not shown
	CanRevise bool      // a model is at hand
	Rounds    int       // revisions that are left
	Color     bool      // ANSI colours; the words are the same without
	Commands  string    // changes that were chosen before; text that does not parse is left out

	// Preview is the review as it would be posted after the commands, in
	// Markdown. An error is shown, and nothing is decided. May be nil.
	Preview func(commands string) (string, error)
}

// Choice is what a person chose. Text holds commands in the grammar of package
// decision, one a line; the verdict's own comes last. Without a Verdict the
// draft is decided later, and Text has what was changed until then.
type Choice struct {
	Verdict decision.Verdict
	Text    string
}
