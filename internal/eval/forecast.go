package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/judge"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wording"
)

// What is guessed of the judge: bytes and output tokens of one vote, and votes that
// settle a question.
const (
	guessedQuestion = 6_000
	guessedVote     = 200
	guessedVotes    = 2
)

// forecast says what the run is about to ask, as far as that can be known before:
// the texts of the reviews that are not in the journal are counted, all else is guessed.
func (r *run) forecast() string {
	files, reviews, rulings := 0, cost.Usage{}, cost.Usage{}
	judged := slices.ContainsFunc(r.judging, func(j *journal) bool { return j != nil && len(j.list) > 0 })
	for i := range r.Cases {
		n, u := r.reviewsOf(i)
		files, reviews = files+n, cost.Add(reviews, u)
		if r.Judge != nil && len(r.judging[i].list) == 0 && (u.Calls > 0 || !judged) {
			rulings = cost.Add(rulings, votes(len(r.Cases[i].Golden)+1))
		}
	}
	if r.labelled != nil && len(r.labelled.list) == 0 {
		rulings = cost.Add(rulings, votes(judge.Labelled))
	}
	text := fmt.Sprintf("%s, %s to review", wording.Count(len(r.Cases), "case"), wording.Count(files, "file"))
	asked := cost.Add(reviews, rulings)
	if asked.Calls == 0 {
		if r.Reviewer.Chat == nil || free(r.Reviewer) {
			return text + "."
		}
		return text + "; what is to be asked is in the journal, as far as that can be told."
	}
	return fmt.Sprintf("%s; about %s with %s million input and %s million output tokens%s.",
		text, wording.Count(int(asked.Calls), "question"), millions(asked.InputTokens), millions(asked.OutputTokens),
		r.amount(reviews, rulings))
}

func (r *run) amount(reviews, rulings cost.Usage) string {
	if reviews.Calls > 0 && r.Budget.Price == nil || rulings.Calls > 0 && r.Budget.Judge == nil {
		return " (--price IN/OUT says what that costs)"
	}
	return ", about " + (budget.Priced(reviews, r.Budget.Price).Cost + budget.Priced(rulings,
		r.Budget.Judge).Cost).String()
}

// free reports whether a reviewer costs nothing and asks nobody.
func free(r Reviewer) bool {
	_, scripted := r.Chat.(script)
	return scripted
}

// reviewsOf counts the files of a case that are to be reviewed, and what those
// take about which nothing is in the journal.
func (r *run) reviewsOf(i int) (files int, asked cost.Usage) {
	change, err := r.Cases[i].Change()
	if err != nil {
		return 0, cost.Usage{} // the run will say so
	}
	chosen, _ := triage.Files(change.Files, triage.Options{Ignore: r.Config.Ignore, MaxLines: r.Config.Lines()})
	if r.Reviewer.Chat == nil || free(r.Reviewer) {
		return len(chosen), cost.Usage{}
	}
	for _, f := range chosen {
		if !slices.ContainsFunc(r.review[i].list, func(e Exchange) bool { return e.About == f.Path }) {
			asked = cost.Add(asked, budget.Estimate(question(f), nil))
		}
	}
	return len(chosen), asked
}

// question is what the review of a file takes.
func question(f diff.File) []budget.Expected {
	user := prompt.User(guard.Boundary(strings.Repeat("0", 32)),
		prompt.Input{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch})
	return []budget.Expected{{Bytes: len(prompt.Reviewing().System) + len(user) + len(prompt.Reviewing().Schema)}}
}

func votes(questions int) cost.Usage {
	return budget.Estimate([]budget.Expected{{Times: guessedVotes * questions, Bytes: guessedQuestion,
		Output: guessedVote}}, nil)
}

// Took says how long a run and its answers took. It is not part of the report's
// Markdown, which two runs with the same answers have in common.
func Took(r score.Report) string {
	text := "Took " + time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond).String()
	if l := r.Latency; l != nil {
		text += fmt.Sprintf("; the slowest file of a case %.1f s at the median, %.1f s at p95", l.P50, l.P95)
	}
	return text + "."
}

func millions(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1e6) }
