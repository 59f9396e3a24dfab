package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

// Refusal is a resume check that said no: nothing was posted. Check is its
// number, What the sentence for the user, Rows are pairs of label and text
// ("where", "next"). Expired is set where the draft was not decided in time.
type Refusal struct {
	Check   int
	What    string
	Rows    [][2]string
	Expired bool
}

const shownText = 400 // characters of a row

// Error is the message for the user, a line for What and one for each row,
// safe to print.
func (r *Refusal) Error() string {
	width := 6
	for _, row := range r.Rows {
		width = max(width, len(row[0]))
	}
	var b strings.Builder
	b.WriteString(guard.Line(r.What, shownText))
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "\n  %-*s  %s", width, row[0], guard.Line(row[1], shownText))
	}
	return b.String()
}

// refuse makes a refusal whose last row is what to do next.
func refuse(check int, next, what string, rows ...[2]string) *Refusal {
	return &Refusal{Check: check, What: what, Rows: append(rows, [2]string{"next", next})}
}

func row(label, format string, args ...any) [2]string {
	return [2]string{label, fmt.Sprintf(format, args...)}
}

const draftAnew = "start a new draft: run the review workflow again"

// damaged turns an error of reading a checkpoint into check 3's refusal. A
// refusal of another check stays what it is.
func damaged(err error) error {
	if r := new(Refusal); errors.As(err, &r) {
		return r
	}
	return refuse(3, draftAnew, "the checkpoint cannot be read", row("where", "%v", err))
}

// altered is check 5's refusal of what a seal or age does not vouch for. Which
// of the two it is cannot be told.
func altered(what string, err error) *Refusal {
	return refuse(5, "give both jobs the same checkpoint-key, look who changed it; "+draftAnew,
		"the key is not the one that sealed "+what+", or it was changed", row("where", "%v", err))
}

func unknownFormat(format int) *Refusal {
	return refuse(6, "decide with the version that drafted, or "+draftAnew,
		"the checkpoint has a format that this version does not know",
		row("draft", "format %d", format), row("known", "format %d", Format))
}
