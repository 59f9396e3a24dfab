package searchcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/retrieve"
)

// figures are the means over the questions of one kind.
type figures struct {
	Queries int     `json:"queries"`
	Recall  float64 `json:"recall_at_10"`
	Within  float64 `json:"within_400"` // found before 400 lines of hits were read
	MRR     float64 `json:"mrr"`        // one over the rank of the first that was wanted
}

// table sums them up, by name.
type table map[string]*figures

// count adds a question and its hits, best first.
func (t table) count(name string, wanted []want, hits []chunk.Chunk) {
	f := t[name]
	if f == nil {
		f = &figures{}
		t[name] = f
	}
	found, within, first, lines := map[int]bool{}, map[int]bool{}, 0, 0
	for i, c := range hits[:min(len(hits), retrieve.DefaultK)] {
		lines += c.EndLine - c.StartLine + 1
		for n, w := range wanted {
			if !w.covered(c) {
				continue
			}
			found[n] = true
			if lines <= lineRoom {
				within[n] = true
			}
			if first == 0 {
				first = i + 1
			}
		}
	}
	f.Queries++
	f.Recall += float64(len(found)) / float64(len(wanted))
	f.Within += float64(len(within)) / float64(len(wanted))
	if first > 0 {
		f.MRR += 1 / float64(first)
	}
}

type want struct {
	Path      string `json:"path"`
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
}

const lineRoom = 400 // lines that are read in the order of the hits

// covered reports whether a chunk shares at least half of the smaller of the two
// ranges. A comment above a definition is part of the chunk and of no wanted range.
func (w want) covered(c chunk.Chunk) bool {
	shared := min(c.EndLine, w.LineEnd) - max(c.StartLine, w.LineStart) + 1
	return c.Path == w.Path && shared > 0 &&
		2*shared >= min(c.EndLine-c.StartLine, w.LineEnd-w.LineStart)+1
}

// figures are the means.
func (t table) figures() map[string]figures {
	all := map[string]figures{}
	for name, f := range t {
		n := float64(f.Queries)
		all[name] = figures{f.Queries, f.Recall / n, f.Within / n, f.MRR / n}
	}
	return all
}

// text is the table in Markdown, by name, with all of them last.
func (t table) text(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %-10s | queries | recall@10 | within 400 lines |   MRR |\n", what)
	b.WriteString("| ---------- | ------: | --------: | ---------------: | ----: |\n")
	means := t.figures()
	names := slices.Sorted(maps.Keys(means))
	if at := slices.Index(names, "all"); at >= 0 {
		names = append(slices.Delete(names, at, at+1), "all")
	}
	for _, name := range names {
		f := means[name]
		fmt.Fprintf(&b, "| %-10s | %7d | %9.3f | %16.3f | %5.3f |\n", guard.Line(name, 40), f.Queries, f.Recall,
			f.Within, f.MRR)
	}
	return b.String()
}
