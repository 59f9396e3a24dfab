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

// figures holds the means over the questions of one kind.
type figures struct {
	Queries int     `json:"queries"`
	Recall  float64 `json:"recall_at_10"`
	Within  float64 `json:"within_400"` // share found in the first 400 lines of hits
	MRR     float64 `json:"mrr"`        // mean of 1/rank of the first wanted hit
}

// table holds sums of figures by name; the method figures divides them.
type table map[string]figures

// count adds a question's figures. Hits are ordered best first; only the first 10 count.
func (t table) count(name string, wanted []want, hits []chunk.Chunk) {
	f, found, within := t[name], 0, 0
	hits = hits[:min(len(hits), retrieve.DefaultK)]
	first := len(hits)
	for _, w := range wanted {
		at := slices.IndexFunc(hits, w.covered)
		if at < 0 {
			continue
		}
		found, first = found+1, min(first, at)
		lines := 0
		for _, c := range hits[:at+1] {
			lines += c.EndLine - c.StartLine + 1
		}
		if lines <= lineRoom {
			within++
		}
	}
	f.Queries++
	f.Recall += float64(found) / float64(len(wanted))
	f.Within += float64(within) / float64(len(wanted))
	if first < len(hits) {
		f.MRR += 1 / float64(first+1)
	}
	t[name] = f
}

type want struct {
	Path      string `json:"path"`
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
}

const lineRoom = 400 // lines of hits that count for Within

// covered reports whether a chunk and the wanted range share at least half of the smaller
// one. Only the chunk includes the comment above a definition.
func (w want) covered(c chunk.Chunk) bool {
	shared := min(c.EndLine, w.LineEnd) - max(c.StartLine, w.LineStart) + 1
	return c.Path == w.Path && shared > 0 &&
		2*shared >= min(c.EndLine-c.StartLine, w.LineEnd-w.LineStart)+1
}

// figures returns the means by name.
func (t table) figures() map[string]figures {
	all := map[string]figures{}
	for name, f := range t {
		n := float64(f.Queries)
		all[name] = figures{f.Queries, f.Recall / n, f.Within / n, f.MRR / n}
	}
	return all
}

// text returns the table in Markdown, sorted by name, with the row all last.
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
