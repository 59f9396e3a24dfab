package handofftest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// Flow is a flow under test; S is the state of its graph.
type Flow[S any] struct {
	Graph   string // by name, in this version
	Version int
	Names   handoff.Names
	Subject handoff.Subject[S]
	About   checkpoint.Subject // of the drafts, in the repository o/r, at no head
	Thread  func(head string) string
	Items   func(S) []decision.Item     // of a draft, as commands name them; nil for none
	Begin   func(checkpoint.Manifest) S // what a thread begins with
	Build   func(World) (*graph.Flow[S], error)
	Text    string // what an approved draft leaves in the folder
}

// World is what a flow under test is built with.
type World struct {
	Store graph.Store
	Paid  func(answer string) // is told of each answer that is paid for, by a name without spaces
	Out   Out                 // where an approved draft goes
}

// made is when drafts are made.
var made = time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)

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

// folder keeps decisions in files, each with the number of its claim and its run's.
type folder struct {
	dir   string
	run   int64
	ended func(run int64) (ended, well bool)
	lag   func() // how long a request takes
}

// Claims are all decisions, as the contract has it.
func (f folder) Claims(context.Context, string) (claims []handoff.Claim, err error) {
	f.lag()
	files, err := filepath.Glob(filepath.Join(f.dir, "*", "*.zip"))
	for _, file := range files {
		var c handoff.Claim
		text, unread := os.ReadFile(file)
		record, bad := checkpoint.Protection{}.OpenRecord(text)
		_, odd := fmt.Sscanf(filepath.ToSlash(file[len(f.dir):]), "/%d/%d.zip", &c.ID, &c.Run)
		err = errors.Join(err, unread, bad, odd)
		ended, well := f.ended(c.Run)
		c.Record, c.Live, c.Done = record, !ended, well
		claims = append(claims, c)
	}
	return claims, err
}

// Put stores a decision under the next number, and one of the run once.
func (f folder) Put(ctx context.Context, r decision.Record) error {
	on, err := f.Claims(ctx, r.Code)
	stored := func(c handoff.Claim) bool { return c.Run == f.run && c.Record.Digest == r.Digest }
	if err != nil || slices.ContainsFunc(on, stored) {
		return err
	}
	zip, err := checkpoint.Protection{}.PackRecord(r)
	if err != nil {
		return err
	}
	f.lag()
	part := filepath.Join(f.dir, fmt.Sprint(f.run)+".part")
	if err := os.WriteFile(part, zip, 0o600); err != nil {
		return err
	}
	for n := 1; ; n++ {
		place := filepath.Join(f.dir, fmt.Sprintf("%03d", n))
		if err := os.Mkdir(place, 0o700); err == nil {
			return os.Rename(part, filepath.Join(place, fmt.Sprint(f.run)+".zip"))
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}
