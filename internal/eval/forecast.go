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

// Guesses about the judge: input bytes and output tokens of a vote, and votes per
// question.
const (
	guessedQuestion = 6_000
	guessedVote     = 200
	guessedVotes    = 2
)

// forecast describes what the run is about to ask. It counts the texts of the reviews that
// are not in the journal, and guesses the rest.
func (r *run) forecast() string {
	files, reviews, rulings := 0, cost.Usage{}, cost.Usage{}
	_, scripted := r.Reviewer.Chat.(script)
	judged := slices.ContainsFunc(r.judging, func(j *journal) bool { return j != nil && len(j.list) > 0 })
	for i, c := range r.Cases {
		chosen, unread := r.filesToReview(i)
		if files += len(chosen); r.Reviewer.Chat == nil || scripted {
			unread = nil
		}
		reviews = cost.Add(reviews, budget.Estimate(unread, nil))
		if r.Judge != nil && len(r.judging[i].list) == 0 && (len(unread) > 0 || !judged) {
			rulings = cost.Add(rulings, voteUsage(len(c.Golden)+1))
		}
	}
	if r.labelled != nil && len(r.labelled.list) == 0 {
		rulings = cost.Add(rulings, voteUsage(judge.Labelled))
	}
	asked := cost.Add(priced(reviews, r.Budget.Price), priced(rulings, r.Budget.Judge))
	text := fmt.Sprintf("%s, %s to review", wording.Count(len(r.Cases), "case"), wording.Count(files, "file"))
	switch alone := r.Reviewer.Chat == nil || scripted; {
	case asked.Calls == 0 && alone && r.Judge == nil:
		return text + "; no model is asked."
	case asked.Calls == 0:
		return text + "; every answer is there already."
	}
	return fmt.Sprintf("%s; about %s with %.2f million input and %.2f million output tokens, %s.", text,
		wording.Count(int(asked.Calls), "question"), float64(asked.InputTokens)/1e6, float64(asked.OutputTokens)/1e6,
		wording.Price(asked, 0))
}

func priced(u cost.Usage, price *cost.Price) cost.Usage {
	if price == nil {
		u.Unpriced = u.Calls
	}
	return budget.Priced(u, price)
}

// filesToReview returns the files of a case to be reviewed, and the expected size of the
// questions for those that are not in the journal.
func (r *run) filesToReview(i int) (files []diff.File, unread []budget.Expected) {
	change, _ := r.Cases[i].Change() // the run itself will report the error
	files, _ = triage.Files(change.Files, triage.Options{Ignore: r.Config.Ignore, MaxLines: r.Config.Lines()})
	for _, f := range files {
		known := func(e Exchange) bool { return e.About == f.Path }
		if r.review[i] != nil && slices.ContainsFunc(r.review[i].list, known) {
			continue
		}
		task := prompt.Reviewing(false)
		user := prompt.User(guard.Boundary(strings.Repeat("0", 32)),
			prompt.Input{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch})
		unread = append(unread, budget.Expected{Bytes: len(task.System) + len(user) + len(task.Schema)})
	}
	return files, unread
}

func voteUsage(questions int) cost.Usage {
	return budget.Estimate([]budget.Expected{{Times: guessedVotes * questions, Bytes: guessedQuestion,
		Output: guessedVote}}, nil)
}

// Took describes how long a run and its answers took. It is not part of the
// report's Markdown, which is the same for two runs with the same answers.
func Took(r score.Report) string {
	text := "Took " + wording.Span(time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	if l := r.Latency; l != nil {
		text += fmt.Sprintf("; the slowest file of a case %.1f s at the median, %.1f s at p95", l.P50, l.P95)
	}
	return text + "."
}
