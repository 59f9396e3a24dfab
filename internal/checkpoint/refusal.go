package checkpoint

import (
	"fmt"

	"github.com/org/pr-review-action/internal/problem"
)

// refuse makes a refusal whose last row is what to do next.
func refuse(check int, next, what string, rows ...[2]string) *problem.Error {
	return problem.Refuse(check, what, next, rows...)
}

func row(label, format string, args ...any) [2]string {
	return [2]string{label, fmt.Sprintf(format, args...)}
}

const draftAnew = "start a new draft: run the workflow that drafts again"

// damaged turns an error of reading a checkpoint into check 3's refusal. A
// refusal of another check stays what it is.
func damaged(err error) error {
	if problem.Check(err) > 0 {
		return err
	}
	return refuse(3, draftAnew, "the checkpoint cannot be read", row("where", "%v", err))
}

// altered is check 5's refusal of what a seal or age does not vouch for. Which
// of the two it is cannot be told.
func altered(what string, err error) *problem.Error {
	return refuse(5, "give both jobs the same checkpoint-key, look who changed it; "+draftAnew,
		"the key is not the one that sealed "+what+", or it was changed", row("where", "%v", err))
}

func unknownFormat(format int) *problem.Error {
	return refuse(6, "decide with the version that drafted, or "+draftAnew,
		"the checkpoint has a format that this version does not know",
		row("draft", "format %d", format), row("known", "format %d", Format))
}
