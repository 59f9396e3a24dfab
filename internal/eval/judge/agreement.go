package judge

import (
	"bytes"
	"context"
	_ "embed" // the labelled set is a file next to this one
	"fmt"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/cost"
)

//go:embed labelled.jsonl
var labelledSet []byte

// Labelled is the number of pairs in the labelled set.
const Labelled = 30

const maxConcurrent = 8

// Agreement counts how often a judge agrees with the labels. Usage covers all its calls.
type Agreement struct {
	Agreed, Of int
	Usage      cost.Usage
}

// Agreement rules on all pairs of the labelled set. It returns the errors of Same,
// and then an agreement that holds only the usage.
func (j *Judge) Agreement(ctx context.Context) (Agreement, error) {
	pairs := labelledPairs()
	rulings := make([]Ruling, len(pairs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrent)
	for i, p := range pairs {
		group.Go(func() (err error) {
			rulings[i], err = j.Same(ctx, p.Question)
			return err
		})
	}
	err := group.Wait()
	a := Agreement{Of: len(pairs)}
	for i, r := range rulings {
		a.Usage = cost.Add(a.Usage, r.Usage)
		if r.Yes == pairs[i].Same {
			a.Agreed++
		}
	}
	if err != nil {
		return Agreement{Usage: a.Usage}, err
	}
	return a, nil
}

// labelledPair is a line of labelled.jsonl: a question, and whether the known issue and the
// finding are the same defect. The key hunk of a line contains the whole patch.
type labelledPair struct {
	Question
	Patch string `json:"hunk"`
	Same  bool   `json:"same"`
}

func labelledPairs() (pairs []labelledPair) {
	for line := range bytes.Lines(labelledSet) {
		var p labelledPair
		if err := json.Unmarshal(line, &p, json.RejectUnknownMembers(true)); err != nil {
			panic(fmt.Sprintf("judge: labelled.jsonl: %v", err)) // a broken build
		}
		p.Hunk = Hunk(p.Patch, p.Line)
		pairs = append(pairs, p)
	}
	return pairs
}
