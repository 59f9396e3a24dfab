package review

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/prompt"
)

// The limits of what is shown of the places that findings name.
const (
	maxCited   = 6  // places
	citedLines = 40 // of one
	around     = 6  // lines before and after it
)

// places matches path:12 and path:12-18 in a finding's text, and line 12 and lines 12-18 of its own file.
var places = pattern.Lazy(`(?:([\w./@+-]*\w\.\w+):|\blines? )(\d{1,7})(?:[-–](\d{1,7}))?`)

// cited returns the pieces of the new tree that findings name and that neither the diff nor the pack shows, so that
// what proves a finding is there when it is verified.
func (t *task) cited(ctx context.Context, in prompt.Input, claims []finding.Finding) (pieces []prompt.Piece) {
	hunks, _ := diff.Hunks(in.Patch)
	shown := func(path string, line int) bool {
		return path == in.Path && slices.ContainsFunc(hunks, func(h diff.Hunk) bool {
			return slices.ContainsFunc(h.Lines, func(l diff.Line) bool { return l.New == line })
		}) || slices.ContainsFunc(slices.Concat(in.Pack, pieces), func(p prompt.Piece) bool {
			return p.Path == path && p.StartLine <= line && line <= p.EndLine()
		})
	}
	for _, c := range claims {
		for _, m := range places().FindAllStringSubmatch(c.Body, -1) {
			path := cmp.Or(strings.TrimPrefix(m[1], "./"), in.Path)
			first, _ := strconv.Atoi(m[2])
			last, _ := strconv.Atoi(cmp.Or(m[3], m[2]))
			if t.Head == nil || len(pieces) == maxCited || shown(path, first) && shown(path, last) {
				continue
			}
			text, err := t.Head(ctx, path)
			lines := strings.SplitAfter(t.Redact.Redact(string(text)), "\n") // whole: a key's middle looks like text
			if err != nil || first < 1 || last < first || len(lines) < last {
				continue
			}
			from, to := max(1, first-around), min(last+around, first+citedLines, len(lines))
			pieces = append(pieces, prompt.Piece{Path: path, StartLine: from, Why: "cited",
				Text: strings.Join(lines[from-1:to], "")})
		}
	}
	return pieces
}
