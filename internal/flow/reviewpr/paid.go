package reviewpr

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/review"
)

// Paid holds what earlier runs paid for: file results by key, and answers about
// unfinished files. It is filled before a run and read-only during it. Its
// content is trusted: check what you add.
type Paid struct {
	Drafts []checkpoint.Draft // the drafts examined, newest first

	results map[string]paid[finding.FileReview]
	answers map[string]paid[review.Recorded]
	wholes  map[string]paid[finding.Overview]
	costs   map[string]cost.MicroUSD // by thread; a draft made again counts separately
	thread  string                   // the thread about to run
}

// paid is a value that an earlier run paid for.
type paid[T any] struct {
	what T
	own  bool // paid by the thread about to run, so its cost is part of this run's usage
}

// put stores v under key, and creates the map if it is nil.
func put[T any](all *map[string]T, key string, v T) {
	if *all == nil {
		*all = map[string]T{}
	}
	(*all)[key] = v
}

// Own returns what the thread about to run has cost so far.
func (p Paid) Own() cost.MicroUSD { return p.costs[p.thread] }

// Others returns what the other threads of the pull request have cost.
func (p Paid) Others() (sum cost.MicroUSD) {
	for thread, c := range p.costs {
		if thread != p.thread {
			sum += c
		}
	}
	return sum
}

// count records what a thread has cost according to one of its checkpoints. Among
// the checkpoints of one run, the highest cost is the latest. A draft made again
// took nothing from its predecessor, so it counts separately.
func (p *Paid) count(s graph.Snapshot, open cost.Usage) {
	var d Draft
	_ = json.Unmarshal(s.Fields["draft"], &d) // an unreadable draft counts toward the thread's first run
	run := s.Thread
	if !d.Again.IsZero() {
		run += " " + d.Again.String()
	}
	put(&p.costs, run, max(p.costs[run], usageOf(s.Fields[usageField]).Cost+open.Cost))
}

// Count records what a thread has cost, without taking over its results.
func (p *Paid) Count(saved graph.Saved, thread string) {
	var of Paid
	of.Add(saved, thread)
	for run, c := range of.costs {
		put(&p.costs, run+" replaced", max(p.costs[run+" replaced"], c)) // not part of the run to come
	}
}

// These report a checkpoint whose results are not reused.
var (
	errReplaced = errors.New("it belongs to the draft that is being replaced")
	errRolled   = errors.New("somebody who may not decide had it drafted again, so what was found before counts")
)

// Take returns a function that takes over the checkpoints of earlier runs of the pull
// request, each passed once. thread is the thread about to run. If the draft is made
// anew, only progress of such a draft is reused. What somebody who may not decide had made
// anew is reused only where the findings stay that had to stay in it: in a new draft of
// theirs, which stay says, and if this thread has that draft. For the others only the
// cost is counted.
func (p *Paid) Take(thread string, anew, stay bool) func(checkpoint.Draft, graph.Saved) error {
	return func(o checkpoint.Draft, saved graph.Saved) error {
		draft := o.Manifest.Partial == 0
		if draft {
			p.Drafts = append(p.Drafts, o)
		}
		if anew && (draft || !madeAnew(saved)) {
			p.Count(saved, thread)
			return errReplaced
		}
		if d, err := runFacts(saved); err == nil && d.Withdrew != "" && !stay && (anew || !p.has(d.Again, thread)) {
			p.Count(saved, thread)
			return errRolled
		}
		p.Add(saved, thread)
		return nil
	}
}

// has reports whether there is a draft of a thread that was made again at a time.
func (p *Paid) has(again time.Time, thread string) bool {
	return slices.ContainsFunc(p.Drafts, func(o checkpoint.Draft) bool {
		s, err := decodeState(o.Snapshot)
		return err == nil && o.Manifest.Thread == thread && s.Draft.Again.Equal(again)
	})
}

// madeAnew reports whether progress belongs to a draft requested with again: true.
func madeAnew(saved graph.Saved) bool {
	d, err := runFacts(saved)
	return err == nil && !d.Again.IsZero()
}

// Again returns the newest draft of a thread that was drafted again, the findings it shows, and its code with
// those of the drafts that it continues.
func (p Paid) Again(thread string) (newest Draft, shown []finding.Finding, codes []string) {
	for _, o := range p.Drafts {
		s, err := decodeState(o.Snapshot)
		switch again := s.Draft.Again; {
		case err != nil || o.Manifest.Thread != thread || again.IsZero():
		case newest.Again.IsZero():
			newest, shown, codes = s.Draft, s.judgements(), []string{o.Code}
		case newest.Again.Equal(again):
			codes = append(codes, o.Code)
		}
	}
	return newest, shown, codes
}

// Add takes over the stored data of a thread, be it a draft or an unfinished run.
// thread is the thread about to run. Results that do not decode or have no key
// are skipped.
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
	var open cost.Usage // of the current step
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
			continue // they are part of the result, or led to none and must not do so again
		}
		used := p.addAnswer(r, own) // a revision's result has no key, so only its answers can be reused
		if !over {
			open = cost.Add(open, used)
		}
	}
}

// addResults prefers results of whole files, and results that this thread paid for.
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

// addOverview takes over an overview if it covers the whole change.
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

// overview returns an earlier run's overview of the same change.
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
	_ = json.Unmarshal(data, &u) // unreadable usage counts as zero
	return u
}

// Has reports whether a file's result was paid for.
func (p Paid) Has(key string) bool {
	_, ok := p.results[key]
	return ok && key != ""
}

// result returns an earlier result for a file. Its usage is zero if another
// thread paid for it.
func (p Paid) result(key, path string) (finding.FileReview, bool) {
	r, ok := p.results[key]
	if !ok || key == "" || r.what.Path != path {
		return finding.FileReview{}, false
	}
	if !r.own {
		r.what.Usage, r.what.Notes = cost.Usage{}, nil // both belong to the run that reviewed it
	}
	return r.what, true
}

// Once is graph.Once for model reviewers: it journals answers, and calls do only
// for those that no earlier run received.
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
