package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// Artifacts reads and writes decisions that runs of a repository keep as artifacts.
type Artifacts struct {
	Runs       *Runs
	Subject    checkpoint.Subject
	Branch     string // the default branch
	Protection checkpoint.Protection
	Folder     artifactstore.Carrier // also searched for decisions; nil for none
	Own        artifactstore.Carrier // where this run stores; nil if it cannot
	Out        io.Writer             // receives a notice if not all artifacts were searched
	Warn       func(what string, err error)
}

// maxSiblings bounds how many decisions on other drafts are read, because anyone
// can name an artifact.
const maxSiblings = 50

// Claims returns the decisions on a draft, and on others of its subject, that
// were stored by runs entitled to decide.
func (r *Artifacts) Claims(ctx context.Context, code string) (claims []Claim, err error) {
	name := r.Runs.Names.Decision(code)
	found, err := r.Runs.Stored(ctx, name, 0)
	others, othersErr := r.siblings(ctx, code)
	if err := cmp.Or(err, othersErr); err != nil {
		return nil, NeedsActions(err, "earlier decisions cannot be read")
	}
	found = append(found, others...)
	if r.Folder != nil {
		there, _ := Named(ctx, r.Folder, name) // an unreadable folder holds no decision
		found = append(found, there...)
	}
	for _, s := range found {
		var claim Claim
		var ours bool
		if s.RunID != 0 || s.Source != artifactstore.OfRun {
			claim, ours, err = r.Runs.Claim(ctx, s, r.Protection, r.Subject.RepositoryID, r.Branch)
		} else if !s.Expired {
			// GitHub reports no run for it. The API's description allows that, and whoever stores an artifact cannot
			// cause it. Such a decision proves nothing, but the draft must still not be decided differently.
			claim, ours, err = r.Runs.open(ctx, s, github.Run{}, r.Protection)
		}
		switch {
		case s.Name != name && problem.Check(err) == 13:
			continue // of another draft, as one encrypted before the repository's trust was changed
		case err != nil:
			return nil, err
		case ours:
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

// siblings returns the decisions on other drafts of the subject, as far as they
// are among the repository's newest artifacts.
func (r *Artifacts) siblings(ctx context.Context, code string) ([]Stored, error) {
	all, err := List(ctx, r.Runs.Everything())
	r.Runs.TellCut(r.Out)
	codes := map[string]bool{}
	for _, s := range all {
		if name, ok := r.Runs.Names.Parse(s.Name); ok && name.Of(r.Subject) {
			codes[r.Runs.Names.Decision(name.Code)] = name.Code != code
		}
	}
	found := slices.DeleteFunc(all, func(s Stored) bool { return !codes[s.Name] })
	return found[:min(len(found), maxSiblings)], err
}

// Put stores a decision as an artifact of this run. A decision that an earlier
// attempt of the run stored under the same name is kept, if it is listed: an upload
// that never ended takes the name too.
func (r *Artifacts) Put(ctx context.Context, record decision.Record) error {
	if r.Own == nil {
		r.Warn("the decision could not be put on record", artifact.ErrNoRuntime)
		return nil
	}
	zip, err := r.Protection.PackRecord(record)
	if err != nil {
		return err
	}
	name := r.Runs.Names.Decision(record.Code)
	if err = r.Own.Put(ctx, name, zip); errors.Is(err, artifact.ErrExists) {
		kept, failed := Named(ctx, r.Own, name)
		if err = cmp.Or(failed, err); len(kept) > 0 {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("storing the decision: %w", err)
	}
	return nil
}

// Rejected reports whether a draft of the thread was rejected, by a record that holds. It believes only sealed
// records: without a key an abort applies to its code alone. It reads no record on a draft that is listed for
// other subjects alone, since each read is a request.
func (r *Artifacts) Rejected(ctx context.Context, found []Stored, thread string,
	holds func(decision.Record) bool) bool {
	listed, ours := map[string]bool{}, map[string]bool{}
	for _, s := range found {
		if name, ok := r.Runs.Names.Parse(s.Name); ok {
			listed[name.Code], ours[name.Code] = true, ours[name.Code] || name.Of(r.Subject)
		}
	}
	return r.Protection.Keyed() && slices.ContainsFunc(found, func(s Stored) bool {
		code, ok := strings.CutPrefix(s.Name, r.Runs.Names.Decision(""))
		if !ok || listed[code] && !ours[code] {
			return false
		}
		record, err := r.Record(ctx, s)
		return err == nil && record.Thread == thread && record.Decision == decision.Abort && !record.Withdrawn() &&
			holds(record)
	})
}

// Record fetches and opens a stored decision.
func (r *Artifacts) Record(ctx context.Context, s Stored) (decision.Record, error) {
	zip, err := s.From.Get(ctx, s.Item, checkpoint.MaxZip)
	if err != nil {
		return decision.Record{}, err // gone, or not readable
	}
	return r.Protection.OpenRecord(zip)
}

// Stored is an artifact and the carrier it can be fetched from.
type Stored struct {
	artifactstore.Item
	From artifactstore.Carrier
}

// List returns the artifacts of a place, newest first.
func List(ctx context.Context, place artifactstore.Carrier) ([]Stored, error) {
	items, err := place.List(ctx)
	var found []Stored
	for _, i := range items {
		found = append(found, Stored{i, place})
	}
	return found, err
}

// Named returns the artifacts of a place that have the name, newest first.
func Named(ctx context.Context, place artifactstore.Carrier, name string) ([]Stored, error) {
	found, err := List(ctx, place)
	return slices.DeleteFunc(found, func(s Stored) bool { return s.Name != name }), err
}

// Candidates converts listed artifacts, newest first. A folder and the cache hold
// only our own and report neither size nor repository. If GitHub reports an
// artifact's run but not its repository, check 4 decides, which reads the run. If
// it reports no run, nothing is assumed.
func Candidates(found []Stored, repositoryID int64) []Candidate {
	var out []Candidate
	for _, s := range found {
		if s.Source != artifactstore.OfRun || s.RunID != 0 && s.RepositoryID == 0 {
			s.RepositoryID = repositoryID
		}
		s.Size = max(s.Size, 1)
		out = append(out, Candidate{
			Artifact: s.Artifact,
			Fetch: func(ctx context.Context) ([]byte, error) {
				zip, err := s.From.Get(ctx, s.Item, checkpoint.MaxZip)
				return zip, Unusable(s.Name, err)
			},
		})
	}
	return out
}

// Unusable turns a store's error about an artifact's content into the refusal of
// a resume check.
func Unusable(name string, err error) error {
	where := problem.At("artifact " + name)
	switch {
	case errors.Is(err, artifact.ErrDigest):
		return problem.Refuse(2, "the artifact is not the draft that was shown", draftAnew, where)
	case errors.Is(err, transport.ErrTooLarge), errors.Is(err, artifact.ErrEmpty):
		return problem.Refuse(1, "the artifact has a size that no draft has", draftAnew, where)
	case errors.Is(err, github.ErrNotFound): // deleted after it was listed
		return problem.Refuse(1, "no draft of this name was found", draftAnew, where)
	case errors.Is(err, github.ErrExpired):
		gone := problem.Refuse(1, "the draft was not decided in time, its artifact is gone", draftAnew, where)
		gone.Expired = true
		return gone
	}
	return err
}
