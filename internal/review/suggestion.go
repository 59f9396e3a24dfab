package review

import (
	"context"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// unreadHead is why suggestions are shown as code where the file was not at hand.
const unreadHead = "the file could not be read to apply it"

// checkSuggestions holds the suggestions of the file's findings against the file
// as it is after the change. The error says that the file was not reached.
func (t *task) checkSuggestions(ctx context.Context) error {
	found := t.out.Findings
	if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Suggestion != "" }) {
		return nil
	}
	var head []byte
	unread := ""
	if t.Head != nil {
		var err error
		if head, err = t.Head(ctx, t.file.Path); err != nil {
			head, unread = nil, unreadHead
		}
		if err := t.ends(ctx, err); err != nil {
			return err
		}
	}
	shown, _ := t.file.Anchors() // a patch that cannot be read shows no lines
	file := suggest.New(t.file.Path, shown, head)
	for i, f := range found {
		if err := t.ends(ctx, ctx.Err()); err != nil {
			return err
		}
		if found[i] = file.Check(f); found[i].Suggestion != "" && found[i].SuggestionProblem == "" {
			found[i].SuggestionProblem = unread
		}
	}
	return nil
}
