package driver

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/trace"
)

// Tree is how the run of a draft came to its findings: files, calls, tools, and what
// became of each finding.
func Tree(r Report) trace.Node {
	root := trace.Node{Name: r.Thread, Time: -1, Usage: r.Usage, End: r.Outcome}
	for _, f := range r.State.Coverage() {
		if f.State != finding.Skipped {
			root.Children = append(root.Children, fileNode(f, r.State.Comments))
		}
	}
	return root
}

// fileNode is a file with the calls about it, and what became of its findings.
func fileNode(f finding.FileReview, all []finding.Finding) trace.Node {
	n := trace.Node{Name: f.Path, Usage: f.Usage, End: string(f.State)}
	if f.Label != "" {
		n.Name += " (" + f.Label + ")"
	}
	for _, c := range f.Calls {
		took := time.Duration(c.Seconds * float64(time.Second))
		n.Time += took
		call := trace.Node{Name: strings.TrimSpace(c.Task + " " + c.Model), Time: took, Usage: c.Usage, End: c.Finish,
			Tools: c.Tools}
		if c.Part > 0 {
			call.Name += fmt.Sprintf(", part %d", c.Part)
		}
		n.Children = append(n.Children, call)
	}
	for _, p := range f.Pack {
		n.Notes = append(n.Notes, fmt.Sprintf("shown: %s:%d-%d, %s", p.Path, p.StartLine, p.EndLine, p.Why))
	}
	if f.Reason != "" {
		n.Notes = append(n.Notes, string(f.Reason))
	}
	for _, c := range all {
		if c.Path == f.Path {
			n.Notes = append(n.Notes, fate(c))
		}
	}
	return n
}

// fate says in a line what became of a finding.
func fate(f finding.Finding) string {
	what := cmp.Or(f.ID, string(f.Filtered))
	text := fmt.Sprintf("%s %s line %d, by %s: %s", what, f.Severity, f.Line, f.Source, f.Title)
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}
