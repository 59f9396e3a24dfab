package wire

import (
	"context"
	"fmt"
	"sync"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
)

// said reads what was said on a pull request, and names what of it could not be read.
type said func(context.Context) (all []prompt.Document, notes []string)

// discussion is what get_pr_discussion tells of the commits, comments and reviews, the
// first page of each. Which sections are read is fixed here: no model chooses, and issues,
// which are tickets, are not among them.
func (b Brief) discussion(own *secret.Redactor) said {
	if b.Change.Pull == nil || b.API == nil {
		return nil
	}
	tools := tool.NewSet(tool.Discussion(tool.DiscussionSource{API: b.API, Ref: b.Change.Pull.Ref})).Redacting(own)
	sections := []string{"commits", "comments", "reviews"}
	return func(ctx context.Context) (all []prompt.Document, notes []string) {
		records := make([]tool.Record, len(sections))
		var reads sync.WaitGroup
		for i, section := range sections {
			reads.Go(func() {
				records[i] = tools.Call(ctx, llm.Call{Name: "get_pr_discussion",
					Arguments: fmt.Sprintf(`{"section":%q,"page":1}`, section)})
			})
		}
		reads.Wait()
		for i, r := range records {
			if r.Problem != "" {
				notes = append(notes, fmt.Sprintf("The %s of the pull request could not be read; the look at the "+
					"whole change did without them.", sections[i]))
				continue
			}
			all = append(all, prompt.Document{Path: sections[i], Text: r.Text})
		}
		return all, notes
	}
}
