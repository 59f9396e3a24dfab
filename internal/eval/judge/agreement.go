package judge

import (
	"bytes"
	"context"
	_ "embed" // the labelled set is a file beside this one
	"fmt"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/cost"
)

//go:embed labelled.jsonl
var labelledSet []byte

// Labelled is the number of pairs in the labelled set.
const Labelled = 30

// atOnce bounds the pairs that are judged at one time.
const atOnce = 8

// Agreement says how a judge does on the labelled set. Wrong lists the
// pairs ruled otherwise than labelled, by their 1-based line in labelled.jsonl.
type Agreement struct {
	Agreed, Of int
	Wrong      []int
	Usage      cost.Usage
}

// Agreement rules on all pairs of the labelled set. Errors are those of Same;
// the agreement then holds only the usage that was paid.
func (j *Judge) Agreement(ctx context.Context) (Agreement, error) {
	pairs, err := labelled()
	if err != nil {
		return Agreement{}, err
	}
	rulings := make([]Ruling, len(pairs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, p := range pairs {
		group.Go(func() (err error) {
			rulings[i], err = j.Same(ctx, p.question())
			return err
		})
	}
	err = group.Wait()
	a := compare(pairs, rulings)
	if err != nil {
		return Agreement{Usage: a.Usage}, err
	}
	return a, nil
}

// labelledPair is one line of labelled.jsonl: a known issue, a finding, the hunk
// they are about, and whether they are the same defect.
type labelledPair struct {
	Issue string `json:"issue"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Hunk  string `json:"hunk"`
	Same  bool   `json:"same"`
}

func (p labelledPair) question() Question {
	return Question{Issue: p.Issue, Path: p.Path, Title: p.Title, Body: p.Body, Line: p.Line,
		Hunk: Hunk(p.Hunk, p.Line)}
}

func labelled() ([]labelledPair, error) {
	var pairs []labelledPair
	for i, line := range bytes.Split(bytes.TrimSpace(labelledSet), []byte("\n")) {
		var p labelledPair
		if err := json.Unmarshal(line, &p, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("reading the labelled set: line %d: %w", i+1, err)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func compare(pairs []labelledPair, rulings []Ruling) Agreement {
	a := Agreement{Of: len(pairs)}
	for i, r := range rulings {
		a.Usage = cost.Add(a.Usage, r.Usage)
		if r.Yes == pairs[i].Same {
			a.Agreed++
		} else {
			a.Wrong = append(a.Wrong, i+1)
		}
	}
	return a
}
