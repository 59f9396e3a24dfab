package terminal

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/wording"
)

// Proposal returns the draft for reading at a prompt: as on the page, in the same order, with
// the diff in full.
func Proposal(p proposal.Proposal, o Options) string {
	if o.Width <= 0 {
		o.Width = 80
	}
	t := &screen{Review: p.Review, Options: o}
	t.writeColored(Bold, "", "Proposed changes for "+guard.Line(p.Title(), render.TitleRunes))
	t.writeText("", p.Size())
	for _, w := range p.Warnings {
		t.writeText("", "warning: "+guard.Line(w, proposal.SentenceRunes))
	}
	say := func(label, text string) {
		if text != "" {
			t.writeText("", label+guard.Line(text, proposal.SentenceRunes))
		}
	}
	t.WriteString("\n")
	say("Root cause: ", p.RootCause)
	say("What it is: ", p.Class.Summary)
	say("Components: ", strings.Join(p.Class.Components, ", "))
	for _, m := range p.Scope.Modules {
		say("Module ", wording.Joined(": ", m.Name, m.Reason))
	}
	for _, f := range p.Proposed() {
		t.WriteString("\n")
		t.writeColored(Bold, "", guard.Line(f.Path, 0)+" "+proposal.Counted(f))
		t.writeText("  ", guard.Line(f.Description, proposal.SentenceRunes))
		for line := range strings.SplitSeq(proposal.Patch(f), "\n") {
			color := map[byte]string{'+': green, '-': red, '@': cyan}[(line + " ")[0]]
			t.WriteString(t.paint(color, guard.Text(line)) + "\n")
		}
	}
	t.WriteString("\n")
	if c := p.Check; c != nil && (c.Passed || c.Output == "") {
		t.writeText("", "Check: "+c.Command+" "+c.Verdict())
	} else if c != nil {
		t.writeText("", "Check: "+c.Command+" failed:")
		t.writeText("  ", guard.Cut(c.Output, proposal.OutputRunes))
	}
	if len(p.Review.Findings) == 0 && !p.Unreviewed {
		t.writeText("", "Review: no findings.")
	}
	for _, f := range p.Review.Findings {
		t.writeText("", fmt.Sprintf("%s  %s:%d  %s", f.Severity, guard.Line(f.Path, 0), f.Line, name(f)))
		t.writeText("  ", guard.Line(f.Body, proposal.SentenceRunes))
	}
	t.writeAsked()
	t.WriteString(guard.Text(strings.ReplaceAll(p.Foot(), "`", "")) + "\n")
	return t.String()
}
