package linter

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// Limits of the search for an artifact.
const (
	maxZip     = 20 << 20 // size of its zip in bytes
	maxRuns    = 5        // newest runs of a workflow at one commit to search
	firstPause = 2 * time.Second
	mostPause  = 15 * time.Second
)

// artifact reads the files of the artifact that a workflow's run at the head stores, as soon as
// it exists. The run's conclusion does not matter: a linter that found something fails its job.
func (s Source) artifact(ctx context.Context, r *Reader, workflow, name string) error {
	if s.API == nil {
		return fmt.Errorf("%s/%s is an artifact, and only a pull request's runs have one", workflow, name)
	}
	found, err := s.await(ctx, workflow, name)
	if err != nil {
		return err
	}
	content, err := s.API.Download(ctx, s.Owner, s.Repo, found.ID, maxZip)
	if errors.Is(err, github.ErrTooLarge) {
		return fmt.Errorf("the artifact %q is larger than %d MB", name, maxZip>>20)
	}
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(content, []byte("PK")) { // upload-artifact with archive: false
		r.file(name, content, nil)
		return nil
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return fmt.Errorf("the artifact %q is not a complete zip", name)
	}
	return readFiles(archive, "**", fmt.Sprintf("the artifact %q", name), r.file)
}

// await polls for the artifact until it exists, the runs have ended, or the time is up.
func (s Source) await(ctx context.Context, workflow, name string) (github.Artifact, error) {
	var waited time.Duration
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		found, why, over := s.findOnce(ctx, workflow, name)
		switch {
		case why == nil:
			return found, nil
		case over || ctx.Err() != nil:
			return found, why
		case waited >= s.Wait:
			return found, fmt.Errorf("%w; waited for %s (findings-wait)", why, wording.Span(s.Wait))
		case waited == 0 && s.Tell != nil:
			s.Tell(fmt.Sprintf("waiting for linters' results: artifact %q of %s, at most %s", name, workflow,
				wording.Span(s.Wait)))
		}
		pause = min(pause, s.Wait-waited)
		if err := transport.Sleep(ctx, pause); err != nil {
			return found, why
		}
		waited += pause
	}
}

// findOnce looks for the artifact once. why says what there is instead; over means that it will not come.
func (s Source) findOnce(ctx context.Context, workflow, name string) (found github.Artifact, why error, over bool) {
	runs, err := s.API.RunsAt(ctx, s.Owner, s.Repo, workflow, s.SHA)
	if errors.Is(err, github.ErrNotFound) {
		return found, fmt.Errorf("there is no workflow %s, or the token may not read it (actions: read)", workflow),
			true
	}
	if err != nil {
		return found, err, true
	}
	runs = slices.DeleteFunc(runs, func(r github.Run) bool { return r.ID == s.Run || r.HeadSHA != s.SHA })
	over = len(runs) > 0
	for _, run := range runs[:min(len(runs), maxRuns)] {
		stored, _, err := s.API.Artifacts(ctx, s.Owner, s.Repo, github.Artifacts{Run: run.ID, Name: name})
		if err != nil {
			return found, err, true
		}
		for _, a := range stored {
			if !a.Expired && a.RunID == run.ID {
				return a, nil, true
			}
		}
		over = over && run.Status == "completed"
	}
	switch {
	case len(runs) == 0:
		return found, fmt.Errorf("no run of %s at %.7s", workflow, s.SHA), false
	case over:
		return found, fmt.Errorf("%s ended at %.7s without an artifact %q", workflow, s.SHA, name), true
	}
	return found, fmt.Errorf("%s has stored no artifact %q at %.7s", workflow, name, s.SHA), false
}
