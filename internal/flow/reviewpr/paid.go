package reviewpr

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/review"
)

// Paid is what earlier runs paid for: results of files by their keys, and answers
// about files that were not finished. It is filled before a run and only read in
// it. Its content is believed: what is added must have been checked.
type Paid struct {
	Drafts []checkpoint.Draft // that were looked through, the newest first

	results map[string]paid[finding.FileReview]
	answers map[string]paid[review.Recorded]
	wholes  map[string]paid[finding.Overview]
	costs   map[string]cost.MicroUSD // of threads, and of drafts that were made anew, each apart
	thread  string                   // that is to be run
}

// paid is something of an earlier run.
type paid[T any] struct {
	what T
	own  bool // of the thread that is run: what it cost is part of this run's usage
}

// put keeps v under a key, in a map that may still be nil.
func put[T any](all *map[string]T, key string, v T) {
	if *all == nil {
		*all = map[string]T{}
	}
	(*all)[key] = v
}

// Own is what earlier parts of the thread that is run have cost.
func (p Paid) Own() cost.MicroUSD { return p.costs[p.thread] }

// Others is what the other threads of the pull request have cost.
func (p Paid) Others() (sum cost.MicroUSD) {
	for thread, c := range p.costs {
		if thread != p.thread {
			sum += c
		}
	}
	return sum
}

// count takes over what a thread has cost, as far as one of its checkpoints says:
// of those of one run the one that says most is the latest. A draft that was made
// anew took nothing from the one before, so it counts for itself.
func (p *Paid) count(s graph.Snapshot, open cost.Usage) {
	var d Draft
	_ = json.Unmarshal(s.Fields["draft"], &d) // what cannot be read is of the thread's first run
	run := s.Thread
	if d.Again {
		run += " " + d.CreatedAt.String()
	}
	put(&p.costs, run, max(p.costs[run], usageOf(s.Fields[usageField]).Cost+open.Cost))
}

// Count takes over what a thread has cost, and nothing of what it paid for.
func (p *Paid) Count(saved graph.Saved, thread string) {
	var of Paid
	of.Add(saved, thread)
	for run, c := range of.costs {
		put(&p.costs, run+" replaced", max(p.costs[run+" replaced"], c)) // none of it is of the run to come
	}
}

// errReplaced is a checkpoint whose results are not taken over.
var errReplaced = errors.New("it belongs to the draft that is being replaced")

// Take is given what earlier runs of the pull request had saved, each checkpoint once;
// thread is the one that is to be run. Where the draft is made anew, progress of such a
// draft alone is taken over, and of the others what they have cost.
func (p *Paid) Take(thread string, anew bool) func(checkpoint.Draft, graph.Saved) error {
	return func(o checkpoint.Draft, saved graph.Saved) error {
		draft := o.Manifest.Partial == 0
		if draft {
			p.Drafts = append(p.Drafts, o)
		}
		if anew && (draft || !madeAnew(saved)) {
			p.Count(saved, thread)
			return errReplaced
		}
		p.Add(saved, thread)
		return nil
	}
}

// madeAnew reports whether progress is of a draft that again: true asked for.
func madeAnew(saved graph.Saved) bool {
	d, _, err := about(saved)
	return err == nil && d.Again
}

// Add takes over what a store has of a thread: a draft, or a run that did not
// get so far. thread is the one that is to be run. What does not decode, or
// has no key, is left out.
func (p *Paid) Add(saved graph.Saved, thread string) {
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	if err != nil || s.Graph != Name {
		return
	}
	own := s.Thread == thread
	p.thread = thread
	p.addResults(s.Fields[reviewsField], own)
	p.addOverview(s.Fields[wholeField], own)
	type place struct {
		node string
		task int
	}
	ended := map[place]bool{}
	var answers []graph.Record
	var open cost.Usage // of the step under way
	defer func() { p.count(s, open) }()
	for _, data := range saved.Journal {
		r, err := graph.DecodeRecord(data)
		if err != nil || r.Node != reviewNode && r.Node != redraftNode && r.Node != overviewNode {
			continue
		}
		if r.Answer != "" {
			answers = append(answers, r)
			continue
		}
		ended[place{r.Node, r.Task}] = true
		for _, u := range r.Update {
			switch u.Field {
			case reviewsField:
				p.addResults(u.Value, own)
			case wholeField:
				p.addOverview(u.Value, own)
			case usageField:
				open = cost.Add(open, usageOf(u.Value))
			}
		}
	}
	for _, r := range answers {
		over := ended[place{r.Node, r.Task}]
		if over && r.Node == reviewNode {
			continue // they are in the result, or led to none and are not to do so again
		}
		used := p.addAnswer(r, own) // a revision's result has no key: its answers are what can be taken over
		if !over {
			open = cost.Add(open, used)
		}
	}
}

// addResults prefers what was read in full, and what this thread paid itself.
func (p *Paid) addResults(data []byte, own bool) {
	var list []finding.FileReview
	if json.Unmarshal(data, &list, json.RejectUnknownMembers(true)) != nil {
		return
	}
	for _, r := range list {
		had, known := p.results[r.Key]
		better := had.what.State == finding.Partly && r.State == finding.Reviewed
		if r.Reusable() && (!known || better || had.what.State == r.State && own && !had.own) {
			put(&p.results, r.Key, paid[finding.FileReview]{r, own})
		}
	}
}

// addOverview takes over what was seen of a whole change, where all of it was.
func (p *Paid) addOverview(data []byte, own bool) {
	var seen finding.Overview
	if json.Unmarshal(data, &seen, json.RejectUnknownMembers(true)) != nil || seen.Key == "" {
		return
	}
	if _, known := p.wholes[seen.Key]; known && !own {
		return
	}
	seen.Dropped = false
	put(&p.wholes, seen.Key, paid[finding.Overview]{seen, own})
}

// overview is what an earlier run saw of the same change.
func (p Paid) overview(key string) (finding.Overview, bool) {
	seen, ok := p.wholes[key]
	if !seen.own {
		seen.what.Usage = cost.Usage{}
	}
	return seen.what, ok
}

func (p *Paid) addAnswer(r graph.Record, own bool) cost.Usage {
	var a review.Recorded
	if json.Unmarshal(r.Value, &a, json.RejectUnknownMembers(true)) != nil {
		return cost.Usage{}
	}
	if had, known := p.answers[r.Answer]; !known || own && !had.own {
		put(&p.answers, r.Answer, paid[review.Recorded]{a, own})
	}
	return a.Usage
}

func usageOf(data []byte) (u cost.Usage) {
	_ = json.Unmarshal(data, &u) // what cannot be read counts as nothing
	return u
}

// Has reports whether a file's result was paid for.
func (p Paid) Has(key string) bool {
	_, ok := p.results[key]
	return ok && key != ""
}

// result is an earlier result for a file. Its usage is none where another thread
// paid it.
func (p Paid) result(key, path string) (finding.FileReview, bool) {
	r, ok := p.results[key]
	if !ok || key == "" || r.what.Path != path {
		return finding.FileReview{}, false
	}
	if !r.own {
		r.what.Usage, r.what.Notes = cost.Usage{}, nil // both are of the run that reviewed it
	}
	return r.what, true
}

// Once is the Once of a reviewer by a model: it keeps answers in the run's
// journal, and asks only for those that no earlier run got.
func (p *Paid) Once(ctx context.Context, key string,
	do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
	return graph.Once(ctx, key, func(ctx context.Context) (review.Recorded, error) {
		a, ok := p.answers[key]
		if !ok {
			return do(ctx)
		}
		if !a.own {
			a.what.Usage = cost.Usage{}
		}
		return a.what, nil
	})
}
