package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
)

// Candidate is an artifact that may be the draft. RunID is 0 if its carrier, such as
// a folder, does not report a run.
type Candidate struct {
	github.Artifact
	Fetch func(context.Context) ([]byte, error)
}

// Origin describes where a checkpoint must come from and how it is protected.
type Origin struct {
	Names      Names                    // names of the artifacts
	Subject    checkpoint.Subject       // the subject, with no head set
	Thread     func(head string) string // returns the subject's thread at a head
	Workflow   string                   // the workflow file whose runs may have made it
	Dispatched bool                     // only a run that was dispatched may have made it
	Branch     string                   // the default branch
	Run        int64                    // the run that must have made it; 0 for any run of the workflow
	Protection checkpoint.Protection
	RunFacts   func(ctx context.Context, run int64) (checkpoint.Run, error)
	Now        time.Time
}

// Resume holds what a draft is checked against before it is decided.
type Resume struct {
	Origin
	Graph    string // graph that made the draft, with its Version
	Version  int
	Name     string // name of the artifact
	Shown    string // digest or code received by a separate channel
	Settings checkpoint.Settings
	Unmoved  func(ctx context.Context, draft checkpoint.Draft) error // check 9: the subject is unchanged
	// whether a draft that is not listed has expired: GitHub lists none then; nil if nothing tells
	Expired func(ctx context.Context) bool
}

// Events returns the events whose runs may make drafts (check 4).
func (o Origin) Events() []string {
	if o.Dispatched {
		return []string{"workflow_dispatch"}
	}
	return []string{"pull_request_target", "pull_request", "workflow_dispatch"}
}

// Verify runs resume checks 1 to 10 in order. It returns the draft that passed
// them all, and the changes since it was made that do not affect the decision. Of
// several artifacts with one name it takes the newest that passes checks 1 to 5:
// with the same digest they have equal content and differ only in who made them,
// while two different drafts with one code are refused. Checks 11 to 13 follow
// with the decision. Candidates must be newest first.
func (r Resume) Verify(ctx context.Context, candidates []Candidate) (draft checkpoint.Draft, changes []string,
	err error) {
	if draft, err = r.newestPassing(ctx, candidates); err != nil {
		return checkpoint.Draft{}, nil, err
	}
	if changes, err = r.check(ctx, draft); err != nil {
		return checkpoint.Draft{}, nil, err
	}
	return draft, changes, nil
}

// check runs checks 6 to 10.
func (r Resume) check(ctx context.Context, o checkpoint.Draft) (changes []string, err error) {
	m := o.Manifest
	if err := checkpoint.CheckFormat(m, r.Graph, r.Version); err != nil {
		return nil, err
	}
	if err := r.checkTarget(m); err != nil {
		return nil, err
	}
	if changes, err = checkpoint.CheckSettings(m, r.Settings); err != nil {
		return nil, err
	}
	if err := r.Unmoved(ctx, o); err != nil {
		return nil, err
	}
	return changes, checkpoint.CheckExpiry(m, r.Now)
}

func (o Origin) checkTarget(m checkpoint.Manifest) error {
	return checkpoint.CheckTarget(m, o.Subject, o.Thread(m.Subject.Head))
}

// newestPassing returns the newest candidate that passes. If none does, or if only a
// 64-bit code names the draft, an unreadable candidate is reported before a
// refused one: it may be the draft, and another attempt may read it.
func (r Resume) newestPassing(ctx context.Context, candidates []Candidate) (checkpoint.Draft, error) {
	if len(candidates) == 0 {
		var gone *github.Artifact
		if r.Expired != nil && r.Expired(ctx) {
			gone = &github.Artifact{Name: r.Name, Expired: true}
		}
		return checkpoint.Draft{}, checkpoint.CheckFound(r.Name, gone, r.Subject.RepositoryID, r.Now)
	}
	var refused, unread error
	var found []checkpoint.Draft
	for _, c := range candidates {
		opened, err := r.open(ctx, c, r.Name, r.Shown)
		switch {
		case err == nil && len(r.Shown) > codeDigits:
			return opened, nil
		case err == nil:
			found = append(found, opened)
		case problem.Check(err) == 0:
			unread = cmp.Or(unread, err)
		default:
			refused = cmp.Or(refused, err)
		}
	}
	if len(found) == 0 || unread != nil {
		return checkpoint.Draft{}, cmp.Or(unread, refused)
	}
	return found[0], checkpoint.CheckOne(found)
}

const codeDigits = 16 // of a code, the start of a draft's digest

// open runs checks 1 to 5 on one artifact.
func (o Origin) open(ctx context.Context, c Candidate, name, shown string) (checkpoint.Draft, error) {
	z, err := o.fetchZip(ctx, c, name, shown)
	if err != nil {
		return checkpoint.Draft{}, err
	}
	opened, err := o.Protection.Open(z) // check 5 precedes any decoding
	if err != nil {
		return checkpoint.Draft{}, err
	}
	if c.RunID == 0 { // only the draft itself names its run
		return opened, o.checkRun(ctx, opened.Manifest.RunID)
	}
	return opened, checkpoint.CheckMadeBy(opened.Manifest, c.RunID)
}

// fetchZip runs checks 1 to 4, as far as they need nothing from inside the draft.
func (o Origin) fetchZip(ctx context.Context, c Candidate, name, shown string) (checkpoint.Zip, error) {
	zip, err := o.fetch(ctx, c, name, shown)
	if err != nil {
		return checkpoint.Zip{}, err
	}
	z, err := checkpoint.Unzip(zip)
	if err == nil && c.RunID != 0 {
		err = o.checkRun(ctx, c.RunID)
	}
	return z, err
}

// fetch runs checks 1 and 2. If the server already reports a wrong digest,
// nothing is downloaded.
func (o Origin) fetch(ctx context.Context, c Candidate, name, shown string) ([]byte, error) {
	if err := checkpoint.CheckFound(name, &c.Artifact, o.Subject.RepositoryID, o.Now); err != nil {
		return nil, err
	}
	if err := checkpoint.CheckReported(c.Artifact, shown); err != nil {
		return nil, err
	}
	zip, err := c.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkpoint.CheckDigest(zip, shown); err != nil {
		return nil, err
	}
	return zip, checkpoint.CheckReported(c.Artifact, checkpoint.Digest(zip))
}

func (o Origin) checkRun(ctx context.Context, run int64) error {
	facts, err := o.RunFacts(ctx, run)
	if err != nil {
		return err
	}
	return checkpoint.CheckRun(facts, checkpoint.RunWant{ID: o.Run, Path: o.Workflow, Branch: o.Branch,
		Events: o.Events(), RepositoryID: o.Subject.RepositoryID})
}

// Peek runs checks 1 to 4 on a draft that is inspected but not decided: its name
// contains the wanted code, and any run of the workflow may have made it. The
// manifest is unverified; whoever has the key can open the zip.
func (o Origin) Peek(ctx context.Context, c Candidate) (checkpoint.Zip, checkpoint.Manifest, error) {
	o.Run = 0
	name, _ := o.Names.Parse(c.Name)
	z, err := o.fetchZip(ctx, c, c.Name, name.Code)
	if err != nil {
		return checkpoint.Zip{}, checkpoint.Manifest{}, err
	}
	m, err := z.Manifest()
	if err == nil {
		err = checkpoint.CheckMadeBy(m, c.RunID)
	}
	return z, m, err
}

// Open runs checks 1 to 5 on a draft of any run of the workflow. For a draft from
// a folder, only its own manifest says which run that is.
func (o Origin) Open(ctx context.Context, c Candidate) (checkpoint.Draft, error) {
	o.Run = 0
	name, _ := o.Names.Parse(c.Name)
	return o.open(ctx, c, c.Name, name.Code)
}

// Bounds on how many checkpoints are fetched for their paid results, and on how
// many are examined, because anyone can name an artifact.
const (
	maxEarlier = 20
	maxLooked  = 200
)

// errUnsealed reports another run's checkpoint in a job that cannot tell who wrote it.
var errUnsealed = errors.New("it is of another run, and without trust: seal or encrypt nothing vouches for it")

// Earlier calls take for each candidate of this subject, draft or partial
// checkpoint, with what its run had saved. It returns what was skipped and why; none
// of that ends a run. Run is the current run. At most 20 candidates are fetched.
//
// Checkpoints of this run must pass checks 1 to 4. All others also need a seal,
// because a planted result can make a file look clean.
func (o Origin) Earlier(ctx context.Context, candidates []Candidate,
	take func(checkpoint.Draft, graph.Saved) error) []error {
	if o.Protection.Keyed() {
		o.Run = 0 // a seal vouches for any run
	}
	var left []error
	fetched := 0
	for _, c := range candidates[:min(len(candidates), maxLooked)] {
		err := o.checkCandidate(ctx, c)
		if err == nil && fetched < maxEarlier {
			fetched++
			err = o.takeEarlier(ctx, c, take)
		}
		if err != nil {
			left = append(left, fmt.Errorf("earlier results in %.100q: %w", c.Name, err))
		}
	}
	return left
}

// checkCandidate checks what is known of a candidate before anything is fetched: its
// name, and check 4 of its run.
func (o Origin) checkCandidate(ctx context.Context, c Candidate) error {
	name, ok := o.Names.Parse(c.Name)
	switch {
	case !ok || !name.Of(o.Subject):
		return errors.New("it is not of this " + o.Subject.Kind)
	case !o.Protection.Keyed() && (o.Run == 0 || c.RunID != o.Run):
		return errUnsealed
	case c.RunID == 0:
		return nil
	}
	return o.checkRun(ctx, c.RunID)
}

func (o Origin) takeEarlier(ctx context.Context, c Candidate, take func(checkpoint.Draft, graph.Saved) error) error {
	name, _ := o.Names.Parse(c.Name)
	opened, err := o.open(ctx, c, c.Name, name.Code)
	if err == nil {
		err = o.checkTarget(opened.Manifest)
	}
	saved := graph.Saved{Snapshot: opened.Snapshot}
	if err == nil && opened.Manifest.Partial > 0 {
		saved, err = checkpoint.DecodeSaved(opened.Snapshot)
	}
	if err != nil {
		return err
	}
	return take(opened, saved)
}
