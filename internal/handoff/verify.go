package handoff

import (
	"cmp"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
)

// Candidate is an artifact that may be the draft. Its RunID is 0 where the place does
// not tell the run, as a folder.
type Candidate struct {
	github.Artifact
	Fetch func(context.Context) ([]byte, error)
}

// Origin is where a checkpoint must come from, and what protects it.
type Origin struct {
	Names      Names                    // of the artifacts
	Subject    checkpoint.Subject       // what it is about, at no head
	Thread     func(head string) string // of the subject at a head
	Workflow   string                   // the file whose runs may have made it
	Branch     string                   // the default branch
	Run        int64                    // the run that must have made it; 0 for any of the workflow
	Protection checkpoint.Protection
	RunFacts   func(ctx context.Context, run int64) (checkpoint.Run, error)
	Now        time.Time
}

// Resume is what a draft is checked against before it is decided.
type Resume struct {
	Origin
	Graph    string // that made the draft, in this Version
	Version  int
	Name     string // of the artifact
	Shown    string // digest or code that came by a separate channel
	Settings checkpoint.Settings
	Unmoved  func(ctx context.Context, draft checkpoint.Draft) error // check 9: the subject is as it was drafted
}

// DraftEvents are the events whose runs may make drafts (check 4).
func DraftEvents() []string {
	return []string{"pull_request_target", "pull_request", "workflow_dispatch"}
}

// Verify runs resume checks 1 to 10, in order, and returns the draft that
// passed them all, and what changed since it was made and does not matter for
// the decision. Of several artifacts of one name the newest that passes checks
// 1 to 5 is taken: under one digest they have equal content, so what differs is
// who made them; under a code alone two of them that differ are refused. 11 to 13
// follow with the decision. The candidates come newest first.
func (r Resume) Verify(ctx context.Context, candidates []Candidate) (draft checkpoint.Draft, changes []string,
	err error) {
	if draft, err = r.first(ctx, candidates); err != nil {
		return checkpoint.Draft{}, nil, err
	}
	if changes, err = r.check(ctx, draft); err != nil {
		return checkpoint.Draft{}, nil, err
	}
	return draft, changes, nil
}

// check is checks 6 to 10.
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

// first is the newest candidate that passes. Where none does, and where a code of
// 64 bits is all that names the draft, one that could not be read is told before
// one that was refused: it may be the draft, and another try may read it.
func (r Resume) first(ctx context.Context, candidates []Candidate) (checkpoint.Draft, error) {
	if len(candidates) == 0 {
		return checkpoint.Draft{}, checkpoint.CheckFound(r.Name, nil, r.Subject.RepositoryID, r.Now)
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

const codeDigits = 16 // of a draft's digest

// open is checks 1 to 5 for one artifact.
func (o Origin) open(ctx context.Context, c Candidate, name, shown string) (checkpoint.Draft, error) {
	z, err := o.made(ctx, c, name, shown)
	if err != nil {
		return checkpoint.Draft{}, err
	}
	opened, err := o.Protection.Open(z) // check 5 comes before anything is decoded
	if err != nil {
		return checkpoint.Draft{}, err
	}
	if c.RunID == 0 { // the draft's own word is all there is
		return opened, o.checkRun(ctx, opened.Manifest.RunID)
	}
	return opened, checkpoint.CheckMadeBy(opened.Manifest, c.RunID)
}

// made is checks 1 to 4, as far as they need nothing that the draft says.
func (o Origin) made(ctx context.Context, c Candidate, name, shown string) (checkpoint.Zip, error) {
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

// fetch is checks 1 and 2. What the server reports of an artifact of the wrong
// content spares its download.
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
		Events: DraftEvents(), RepositoryID: o.Subject.RepositoryID})
}

// Peek is checks 1 to 4 of a draft that is looked at and not decided: its name
// has the digest that is wanted, and it may be of any run of the workflow. The
// manifest is what it says of itself; who has the key can open the zip.
func (o Origin) Peek(ctx context.Context, c Candidate) (checkpoint.Zip, checkpoint.Manifest, error) {
	o.Run = 0
	name, _ := o.Names.Parse(c.Name)
	z, err := o.made(ctx, c, c.Name, name.Code)
	if err != nil {
		return checkpoint.Zip{}, checkpoint.Manifest{}, err
	}
	m, err := z.Manifest()
	if err == nil {
		err = checkpoint.CheckMadeBy(m, c.RunID)
	}
	return z, m, err
}

// Open is checks 1 to 5 of a draft of any run of the workflow. Where a folder
// carried it, its own word says which run that is.
func (o Origin) Open(ctx context.Context, c Candidate) (checkpoint.Draft, error) {
	o.Run = 0
	name, _ := o.Names.Parse(c.Name)
	return o.open(ctx, c, c.Name, name.Code)
}
