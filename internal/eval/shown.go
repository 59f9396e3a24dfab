package eval

import (
	"context"
	"path/filepath"

	"github.com/org/pr-review-action/internal/eval/score"
)

// RunShown runs the cases four times, with the reviewer of Looking: with packs and
// tools, whose report and results these are, with one of the two, and with neither.
// The runs of the last three stand in folders of the run's own.
func RunShown(ctx context.Context, o Options) (score.Report, error) {
	var shown score.Shown
	for _, run := range []struct {
		name string
		Blind
		into *score.Seen
	}{
		{"neither", Blind{Packs: true, Tools: true}, &shown.Neither}, {"tools", Blind{Packs: true}, &shown.Tools},
		{"packs", Blind{Tools: true}, &shown.Packs}, {"", Blind{}, &shown.Both},
	} {
		part := o
		part.Blind, part.shown = run.Blind, &shown
		if run.name != "" {
			part.Dir, part.Announce, part.shown = filepath.Join(o.Dir, "shown-"+run.name), nil, nil
		}
		report, results, err := execute(ctx, part)
		if err != nil || run.name == "" {
			return report, err
		}
		*run.into = score.SeenIn(report, scores(results))
	}
	return score.Report{}, nil
}
