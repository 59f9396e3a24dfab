package handoff

import (
	"context"
	"errors"
	"slices"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

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
