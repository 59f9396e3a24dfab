package handofftest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
)

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
