package eval

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/triage"
)

// What a question is guessed to come to, beside its own text: output tokens of a
// review, reasoning included, and input and output of one vote of the judge.
const (
	guessedAnswer   = 1_200
	guessedQuestion = 1_500
	guessedVote     = 200
)

// Forecast says what a run is about to ask, as far as that can be known before:
// the text of the reviews is counted, all else is guessed.
func Forecast(o Options) string {
	files, asked := 0, cost.Usage{}
	for _, c := range o.Cases {
		n, u := forecast(c, o)
		files, asked = files+n, cost.Add(asked, u)
	}
	text := fmt.Sprintf("%s, %s to review", render.Count(len(o.Cases), "case"), render.Count(files, "file"))
	if asked.Calls > 0 {
		text += fmt.Sprintf("; about %s with %s million input and %s million output tokens",
			render.Count(int(asked.Calls), "question"), millions(asked.InputTokens), millions(asked.OutputTokens))
	}
	switch {
	case asked.Calls > 0 && o.Budget.Price != nil:
		text += ", " + o.Budget.Price.Of(asked).String()
	case asked.Calls > 0:
		text += " (--price IN/OUT says what that costs)"
	}
	return text + "."
}

func forecast(c dataset.Case, o Options) (files int, asked cost.Usage) {
	change, err := c.Change()
	if err != nil {
		return 0, cost.Usage{} // the run will say so
	}
	chosen, _ := triage.Files(change.Files, triage.Options{Ignore: o.Config.Ignore})
	if _, free := o.Reviewer.Chat.(script); o.Reviewer.Chat != nil && !free {
		for _, f := range chosen {
			question := prompt.User(guard.Boundary(strings.Repeat("0", 32)), prompt.Input{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch})
			u := bound(llm.Request{System: prompt.System(), User: question, Schema: prompt.Schema(), MaxTokens: guessedAnswer})
			asked = cost.Add(asked, u)
		}
	}
	if o.Judge != nil { // two votes mostly settle a question, and about one finding a case is judged twice
		votes := int64(2 * (len(c.Golden) + 1))
		asked = cost.Add(asked, cost.Usage{Calls: votes, InputTokens: votes * guessedQuestion, OutputTokens: votes * guessedVote})
	}
	return len(chosen), asked
}

// Took says how long a run and its answers took. It is not part of the report's
// Markdown, which two runs with the same answers have in common.
func Took(r score.Report) string {
	text := "Took " + time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond).String()
	if l := r.Latency; l != nil {
		text += fmt.Sprintf("; the slowest file of a case %.1f s at the median, %.1f s at p95", l.P50.Value, l.P95.Value)
	}
	return text + "."
}

func millions(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1e6) }
