package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/graph"
)

func pause(ctx context.Context, j job) (line, error) {
	b, flow, err := open(j)
	if err != nil {
		return line{}, err
	}
	r, err := flow.Run(ctx, thread, state{})
	err = errors.Join(err, b.store.Close())
	if err == nil && r.Status != graph.Paused {
		err = fmt.Errorf("the run is %s, not paused", r.Status)
	}
	return line{Status: "paused", FirstNode: b.first, Paused: now(), Tasks: b.done}, err
}

func resume(ctx context.Context, j job) (line, error) {
	b, flow, err := open(j)
	if err != nil {
		return line{}, err
	}
	r, err := flow.Resume(ctx, thread, graph.Answer{Value: j.decision})
	if err = errors.Join(err, b.store.Close()); err != nil {
		return line{}, err
	}
	return ended(r.End == "posted", r.State.Body), nil
}

func ended(posted bool, body string) line {
	size := 0
	if posted {
		size = len(body)
	}
	return line{Status: "done", Posted: &posted, BodyBytes: &size, PostedAt: now()}
}

// body is the file that stands for the posted review.
func (j job) body() string { return filepath.Join(j.dir, "body.md") }

func writeBody(j job, body string) error { return os.WriteFile(j.body(), []byte(body), 0o600) }
