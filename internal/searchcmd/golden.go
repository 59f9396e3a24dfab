package searchcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/wire"
)

// row is one question whose answer is known.
type row struct {
	ID     string  `json:"id"`
	Source *source `json:"source"`
	Kind   string  `json:"kind"`
	Query  string  `json:"query"`
	Edit   *edit   `json:"edit"`
	Want   []part  `json:"want"`
}

// source names the folder <kind>/<name with + for />@<version>. If Under is
// set, only the part below it is searched.
type source struct{ Kind, Name, Version, Under string }

// part is lines of a file.
type part struct {
	Path      string `json:"path"`
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
}

// edit is the change that a question is about: lines of a file and their replacement.
type edit struct {
	part
	ReplaceWith []string `json:"replace_with"`
}

// measure runs all questions and prints how well they were answered.
func (p Program) measure(ctx context.Context, o *Options) error {
	rows, err := readGolden(o.golden)
	if err != nil {
		return err
	}
	_, c, err := p.place(ctx, o)
	if err != nil {
		return err
	}
	engines, by, legs := map[string]*retrieve.Engine{}, table{}, table{}
	for _, r := range rows {
		dir, under := cmp.Or(o.dir, "."), ""
		if r.Source != nil {
			dir, under = filepath.Join(dir, r.Source.folder()), r.Source.Under
		}
		e, ok := engines[dir+"\n"+under]
		if !ok {
			e, err = p.source(ctx, dir, under, c, o)
			engines[dir+"\n"+under] = e
		}
		if err == nil {
			err = r.countAnswer(ctx, e, dir, by, legs)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
	}
	if o.JSON {
		return driver.PrintJSON(p.Stdout, map[string]any{"by": by.figures(), "legs": legs.figures()})
	}
	_, err = fmt.Fprint(p.Stdout, by.text("kind"), "\n", legs.text("leg"))
	return err
}

// source returns an engine that searches a folder, or only its subfolder under.
func (p Program) source(ctx context.Context, dir, under string, c config.Config, o *Options) (*retrieve.Engine, error) {
	place, err := p.Place(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	of := index.Options{}
	if under != "" {
		place = wire.Place{Tree: place.Tree} // no commit and no cache: a part's index is not stored
		of.Ignored = func(path string) bool { return !strings.HasPrefix(path, under+"/") }
	}
	_, e, err := p.index(ctx, place, of, c, o)
	return e, err
}

func (s source) folder() string {
	return filepath.Join(s.Kind, strings.ReplaceAll(s.Name, "/", "+")+"@"+s.Version)
}

// readGolden reads questions from JSON lines. An invalid line, or no question, is an error.
func readGolden(file string) ([]row, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, problem.Usage("the questions cannot be read: "+err.Error(), "name a file of JSON lines")
	}
	var rows []row
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, problem.Usage(fmt.Sprintf("%s:%d is not a question: %v", guard.Line(file, 200), i+1, err), "")
		}
		if r.Query == "" || len(r.Want) == 0 || r.Source != nil && !r.Source.local() {
			return nil, problem.Usage(fmt.Sprintf("%s:%d: %s needs query, want and, where it has one, a source of "+
				"plain names", guard.Line(file, 200), i+1, guard.Line(r.ID, 100)), "")
		}
		rows = append(rows, r)
	}
	if rows == nil {
		return nil, problem.Usage(guard.Line(file, 200)+" contains no question", "a question is a line of JSON")
	}
	return rows, nil
}

// local reports whether a source is complete and stays inside the folder of sources.
func (s source) local() bool { return filepath.IsLocal(s.folder()) && s.Kind != "" && s.Name != "" }

// countAnswer runs one question and counts it for its kind, for all, and for each leg.
func (r row) countAnswer(ctx context.Context, e *retrieve.Engine, dir string, by, legs table) error {
	query, err := r.questionText(dir)
	if err != nil {
		return err
	}
	result, err := e.Search(ctx, retrieve.Request{Query: query})
	if err != nil {
		return err
	}
	var hits []chunk.Chunk
	for _, h := range result.Hits {
		hits = append(hits, h.Chunk)
	}
	for _, kind := range []string{r.Kind, "all"} {
		by.count(kind, r.Want, hits)
	}
	for _, s := range result.Stages {
		legs.count(s.Name, r.Want, slices.DeleteFunc(slices.Clone(s.Chunks), r.overlapsEdit))
	}
	return nil
}

// overlapsEdit reports whether a chunk overlaps the edit itself. Such chunks do not count for a leg.
func (r row) overlapsEdit(c chunk.Chunk) bool {
	return r.Edit != nil && c.Path == r.Edit.Path && c.StartLine <= r.Edit.LineEnd && c.EndLine >= r.Edit.LineStart
}

// questionText returns the question as a user would paste it: its words, followed by the edit's hunk.
func (r row) questionText(dir string) (string, error) {
	if r.Edit == nil {
		return r.Query, nil
	}
	if !filepath.IsLocal(r.Edit.Path) {
		return "", problem.Usage("the edit's path leaves the source", "")
	}
	data, err := os.ReadFile(filepath.Join(dir, r.Edit.Path))
	if err != nil {
		return "", problem.Usage("the edit's file cannot be read: "+err.Error(), "")
	}
	lines := strings.Split(string(data), "\n")
	if r.Edit.LineStart < 1 || r.Edit.LineEnd < r.Edit.LineStart || r.Edit.LineEnd > len(lines) {
		return "", problem.Usage("the edit's lines are not in its file", "")
	}
	changed := slices.Concat(lines[:r.Edit.LineStart-1], r.Edit.ReplaceWith, lines[r.Edit.LineEnd:])
	patch, _, _ := diff.Between(string(data), strings.Join(changed, "\n"))
	return r.Query + "\n--- a/" + r.Edit.Path + "\n+++ b/" + r.Edit.Path + "\n" + patch, nil
}

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
func (t table) count(name string, wanted []part, hits []chunk.Chunk) {
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

const lineRoom = 400 // lines of hits that count for Within

// covered reports whether a chunk and the wanted range share at least half of the smaller
// one. Only the chunk includes the comment above a definition.
func (w part) covered(c chunk.Chunk) bool {
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
	kinds := func(name string) bool { return name != "all" }
	for _, name := range order.Ahead(slices.Sorted(maps.Keys(means)), kinds) {
		f := means[name]
		fmt.Fprintf(&b, "| %-10s | %7d | %9.3f | %16.3f | %5.3f |\n", guard.Line(name, 40), f.Queries, f.Recall,
			f.Within, f.MRR)
	}
	return b.String()
}
