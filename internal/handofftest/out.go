package handofftest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// Out is the outside world of an approved draft: a folder, with one file a thread.
type Out struct {
	Dir  string
	Race func(decision.Record) *handoff.Race // of jobs that decide the same draft
}

// Write waits for its turn and writes a text, once: it looks before. A folder has one file
// of a name, which is the lock of those who wrote at the same time.
func (o Out) Write(ctx context.Context, by decision.Record, text string) (string, error) {
	if path, done, err := o.Look(by); done || err != nil {
		return path, err
	}
	race := o.Race(by)
	if err := race.Claim(ctx, race.Record); err != nil {
		return "", err
	}
	if err := handoff.Turn(ctx, *race); err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(o.Dir, "*.part")
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(by.Digest + "\n" + text)
	if err := errors.Join(err, draft.Close()); err != nil {
		return "", err
	}
	if err := os.Link(draft.Name(), o.path(by.Thread)); !errors.Is(err, fs.ErrExist) {
		return o.path(by.Thread), err
	}
	path, _, err := o.Look(by)
	return path, err
}

// Look is resume check 13 in the folder: it finds what was written of the draft that was
// decided, and refuses what was written of another.
func (o Out) Look(by decision.Record) (path string, done bool, err error) {
	path, done, err = o.Standing(context.Background(), by.Thread)
	if !done || err != nil {
		return path, done, err
	}
	text, err := os.ReadFile(path)
	if err == nil && !strings.HasPrefix(string(text), by.Digest+"\n") {
		err = problem.Refuse(13, "another draft of this thread was written", "draft another one", problem.At(path))
	}
	return path, true, err
}

// Standing finds the file of a thread, whatever was decided.
func (o Out) Standing(_ context.Context, thread string) (where string, found bool, err error) {
	_, err = os.Stat(o.path(thread))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return o.path(thread), err == nil, err
}

func (o Out) path(thread string) string {
	return filepath.Join(o.Dir, checkpoint.Code(checkpoint.Digest([]byte(thread)))+".txt")
}
