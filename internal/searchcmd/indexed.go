package searchcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/wording"
)

// Index runs the index command: it builds the index that a search would use, and prints what it contains.
func (p Program) Index(ctx context.Context, _ []string, o *Options) error {
	place, c, err := p.place(ctx, o)
	if err != nil {
		return err
	}
	x, _, err := p.indexed(ctx, place, index.Options{}, c, o)
	if err != nil {
		return err
	}
	r := x.Report
	if o.JSON {
		return driver.PrintJSON(p.Stdout, struct {
			Commit string `json:"commit,omitempty"`
			index.Report
		}{place.Commit, r})
	}
	fmt.Fprintf(p.Stdout, "%s of %s, %.1f MB, in %.1f s; %s unchanged since the last index\n",
		wording.Count(r.Chunks, "chunk"), wording.Count(r.Files, "file"), float64(r.Bytes)/1e6, r.Seconds,
		wording.Count(r.Reused, "file"))
	skipped := map[bool][]string{} // true: indexed, but not cut by definitions
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		name, uncut := strings.CutPrefix(reason, index.Windows)
		skipped[uncut] = append(skipped[uncut], fmt.Sprintf("%d %s", r.Skipped[reason], name))
	}
	if len(skipped[false]) > 0 {
		fmt.Fprintln(p.Stdout, "not indexed: "+strings.Join(skipped[false], ", "))
	}
	if len(skipped[true]) > 0 {
		fmt.Fprintln(p.Stdout, "cut by lines, not by definitions: "+strings.Join(skipped[true], ", "))
	}
	if place.Cache.Folder != "" && len(x.Notes) == 0 && c.Index.Postgres() == "" {
		fmt.Fprintln(p.Stdout, "kept in "+guard.Line(place.Cache.Folder, driver.MaxLine))
	}
	return nil
}
