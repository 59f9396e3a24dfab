package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/lang"
)

const (
	maxDiff        = 256 << 10 // bytes: a larger change tests how it is split, at a high price
	maxDescription = 600       // characters, as in the format
)

var (
	errNoText  = errors.New("no file of the change has text to review")
	errNoPlace = errors.New("none of its remarks is on a line of the change")
)

// build makes a case of the change as it was when the remarks were made. Its date is that of
// the first remark. A person has to fill in the licence.
func (b *builder) build(ctx context.Context, p github.MergedPull, remarks []remark) (dataset.Case, error) {
	c := dataset.Case{
		ID: fmt.Sprintf("%s-%d", p.Repo, p.Number), Kind: dataset.Bug, Repo: p.FullName(),
		Head: remarks[0].OriginalCommitID, PR: p.Number, Date: remarks[0].CreatedAt.UTC().Format(time.DateOnly),
		SourceDataset: "eval import: reviewers' remarks that were acted on",
	}
	describe(&c, p)
	files, err := b.change(ctx, p, &c)
	if err != nil {
		return dataset.Case{}, err
	}
	if c.Golden = golden(remarks, files); c.Golden == nil {
		return dataset.Case{}, errNoPlace
	}
	c.Language = cmp.Or(lang.Of(c.Golden[0].Path).Name, "other")
	p.HeadSHA = c.Head
	c.Base, err = b.api.MergeBase(ctx, p.Pull)
	return c, err
}

// describe sets title and description to what the author wrote, with hidden
// characters made visible to readers of the file; see issue.
func describe(c *dataset.Case, p github.MergedPull) {
	c.Title = guard.Line(strings.TrimSpace(p.Title), 0)
	if c.Title == "" {
		c.Title = p.String()
	}
	text := []rune(strings.TrimSpace(guard.Visible(p.Body)))
	c.Description = strings.TrimSpace(string(text[:min(len(text), maxDescription)]))
}

// change sets the diff up to the case's head and returns its files. The diff is
// under review, so it is not altered, except for invalid UTF-8, which JSON cannot
// represent.
func (b *builder) change(ctx context.Context, p github.MergedPull, c *dataset.Case) ([]diff.File, error) {
	text, err := b.api.CompareDiff(ctx, p.Owner, p.Repo, p.BaseSHA, c.Head, maxDiff)
	if err != nil {
		return nil, err
	}
	c.Diff = strings.ToValidUTF8(text, "\uFFFD")
	files, err := diff.Parse(strings.NewReader(c.Diff), dataset.MaxDiff)
	if err != nil {
		return nil, fmt.Errorf("reading its diff: %w", err)
	}
	if !slices.ContainsFunc(files, func(f diff.File) bool { return f.Patch != "" }) {
		return nil, errNoText
	}
	return files, nil
}

// golden turns each remark on a line that the diff shows into a known finding.
func golden(remarks []remark, files []diff.File) (list []dataset.Golden) {
	for _, r := range remarks {
		start := firstLine(r)
		touches := func(h diff.Hunk) bool { return start < h.NewStart+h.NewLines && r.OriginalLine >= h.NewStart }
		if slices.ContainsFunc(files, func(f diff.File) bool {
			hunks, _ := f.Hunks() // diff.Parse has read them
			return f.Path == r.Path && slices.ContainsFunc(hunks, touches)
		}) {
			list = append(list, dataset.Golden{
				Path: r.Path, LineStart: start, LineEnd: r.OriginalLine,
				Severity: finding.Minor, Visibility: dataset.Context, Issue: r.issue, Source: r.URL,
			})
		}
	}
	return list
}

// firstLine returns the first line of a remark on the new side. It ignores a start on
// the old side, which is numbered differently.
func firstLine(r remark) int {
	if r.StartSide == "LEFT" || r.OriginalStartLine < 1 || r.OriginalStartLine > r.OriginalLine {
		return r.OriginalLine
	}
	return r.OriginalStartLine
}
