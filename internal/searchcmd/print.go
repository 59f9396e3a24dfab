package searchcmd

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/wording"
)

// shownLines is the maximum number of a hit's lines printed below its signature.
const shownLines = 3

// object is the command's JSON output.
type object struct {
	Query  string  `json:"query"`
	Commit string  `json:"commit"`
	Cached bool    `json:"cached"`
	Hits   []hit   `json:"hits"`
	Stages []stage `json:"stages,omitempty"`
}

type hit struct {
	ID        string  `json:"id"`
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Symbol    string  `json:"symbol"`
	Kind      string  `json:"kind"`
	Language  string  `json:"language"`
	Score     float64 `json:"score"`
	*explained
}

// explained is what --explain adds to a hit. A rank is null if the list does not have the hit.
type explained struct {
	Ranks  map[string]*int `json:"ranks"`
	Rerank *float64        `json:"rerank"`
}

type stage struct {
	Name         string   `json:"name"`
	Milliseconds float64  `json:"milliseconds"`
	Hits         []string `json:"hits"`
}

func objectOf(query, commit string, r retrieve.Result, explain bool) object {
	o := object{Query: query, Commit: commit, Cached: r.Cached}
	for _, h := range r.Hits {
		one := hit{ID: h.ID(), Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Symbol: h.Symbol(),
			Kind: string(h.Kind), Language: h.Language, Score: h.Score}
		if explain {
			one.explained = &explained{Rerank: h.Rerank, Ranks: map[string]*int{}}
			for _, l := range lists {
				one.Ranks[l.key] = nil
				if rank, ok := h.Ranks[l.key]; ok {
					one.Ranks[l.key] = &rank
				}
			}
		}
		o.Hits = append(o.Hits, one)
	}
	if explain {
		for _, s := range r.Stages {
			o.Stages = append(o.Stages, stage{s.Name, float64(s.Took.Microseconds()) / 1000, s.IDs(len(s.Chunks))})
		}
	}
	return o
}

// lists holds the lists in which a hit may appear: their keys, and their names in output.
var lists = []struct{ key, name string }{{"lexical", "words"}, {"vector", "meaning"}, {"symbol", "names"},
	{"structure", "structure"}}

// text returns the result as text for people, in rows of the terminal's width.
func (p Program) text(query string, r retrieve.Result, explain bool) string {
	if len(r.Hits) == 0 {
		return "nothing found\n"
	}
	width := cmp.Or(p.Width, 80)
	var b strings.Builder
	for i, h := range r.Hits {
		if i > 0 {
			b.WriteString("\n")
		}
		place := fmt.Sprintf(":%d-%d", h.StartLine, h.EndLine)
		what := strings.TrimSpace(string(h.Kind) + " " + guard.Line(h.Symbol(), 60))
		room := width - 4 - column.Width(place) - 2
		path := column.CutFront(guard.Line(h.Path, 500), room)
		what = strings.TrimRight("  "+column.Cut(what, room-column.Width(path)), " ")
		fmt.Fprintf(&b, "%s%s%s\n", terminal.Paint(p.Color, "1", fmt.Sprintf("%2d  ", i+1)+path), place, what)
		p.row(&b, width, "    ", h.Signature, "")
		for _, line := range retrieve.Best(h.Chunk, query, shownLines) {
			p.row(&b, width, fmt.Sprintf("%6d  ", line.Number), strings.ReplaceAll(line.Text, "\t", "  "), "2")
		}
		if explain {
			p.row(&b, width, "    ", reasons(h), "36")
		}
	}
	if explain {
		b.WriteString("\n" + stages(r))
	}
	return b.String()
}

func (p Program) row(b *strings.Builder, width int, prefix, text, color string) {
	if text = strings.TrimRight(text, " "); text == "" {
		return
	}
	text = column.Cut(guard.Line(text, 1000), width-column.Width(prefix))
	b.WriteString(prefix + terminal.Paint(p.Color && p.Width > 0, color, text) + "\n")
}

// reasons returns a hit's score, its rank in each list that has it, and its reranked score.
func reasons(h retrieve.Hit) string {
	var said []string
	for _, l := range lists {
		if rank, ok := h.Ranks[l.key]; ok {
			said = append(said, fmt.Sprintf("%s %d", l.name, rank))
		}
	}
	if h.Rerank != nil {
		said = append(said, fmt.Sprintf("reranked %.3f", *h.Rerank))
	}
	return fmt.Sprintf("score %.4f: %s", h.Score, strings.Join(said, ", "))
}

// stages returns a table of what each stage found and how long it took.
func stages(r retrieve.Result) string {
	var b strings.Builder
	for _, s := range r.Stages {
		first := ""
		if len(s.Chunks) > 0 {
			first = ", first " + column.CutFront(guard.Line(s.Chunks[0].ID(), 500), 40)
		}
		fmt.Fprintf(&b, "%-10s %8.1f ms  %s%s\n", s.Name, float64(s.Took)/float64(time.Millisecond),
			wording.Count(len(s.Chunks), "hit"), first)
	}
	return b.String()
}
