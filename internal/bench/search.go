package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/tree"
)

const questionsPerKind = 20

type finder struct {
	name string
	find func(ctx context.Context, question string) error
	took []float64 // milliseconds
}

// search indexes files of Go's own source and searches them, by words and by name. The floor scans all lines for each
// question. package pgindex has a benchmark beside Postgres.
func (s *suite) search(ctx context.Context, sizes []int) error {
	s.table("files", "chunks", "MB", "index s", "next commit s", "", "p50 ms", "p95 ms", "p50 / memory")
	source, paths, err := goSource(ctx)
	if err != nil {
		return err
	}
	for i, n := range sizes {
		texts := readAll(ctx, source, paths[:min(n, len(paths))])
		o := index.Options{Cut: chunker.New().Cut, Made: chunker.Version()}
		x, r, err := index.Build(ctx, tree.Files(texts), nil, o)
		if err != nil {
			return err
		}
		about := []any{r.Files, r.Chunks, float64(r.Bytes) / 1e6, r.Seconds}
		took, err := timeNextCommit(ctx, texts, x, o)
		if err != nil {
			return err
		}
		finders := []*finder{{name: "memory", find: func(ctx context.Context, q string) error {
			_, err := (&retrieve.Engine{Index: x.Source}).Search(ctx, retrieve.Request{Query: q})
			return err
		}}, {name: "grep", find: func(_ context.Context, q string) error {
			grep(texts, q)
			return nil
		}}}
		if err := askAll(ctx, finders, questions(x.Chunks())); err != nil {
			return err
		}
		s.addAnswers(append(about, took.Seconds()), finders, i == len(sizes)-1)
	}
	return nil
}

// timeNextCommit returns how long it takes to index the next commit, in which twenty files
// have changed: loading the previous index, building on it, and storing the result.
func timeNextCommit(ctx context.Context, texts map[string]string, x *index.Index,
	o index.Options) (time.Duration, error) {
	folder, err := os.MkdirTemp("", "bench-index-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	cache := index.Cache{Folder: folder}
	if err := cache.Keep("before", x); err != nil {
		return 0, err
	}
	for i, path := range slices.Sorted(maps.Keys(texts)) {
		if i%max(len(texts)/20, 1) == 0 {
			texts[path] += "\n// changed\n"
		}
	}
	after := tree.Files(texts)
	began := time.Now()
	before, _ := cache.Load("after")
	built, _, err := index.Build(ctx, after, before, o)
	if err != nil {
		return 0, err
	}
	err = cache.Keep("after", built)
	return time.Since(began), err
}

func (s *suite) addAnswers(about []any, finders []*finder, last bool) {
	memory := stats.Quantiles(finders[0].took).P50
	for _, f := range finders {
		took := stats.Quantiles(f.took)
		s.row(append(about, f.name, took.P50, took.P95, formatRatio(took.P50/memory))...)
		for i := range about {
			about[i] = ""
		}
		if last && f.name == "grep" {
			s.note("search: memory / grep", memory/took.P50)
		}
	}
}

// goSource returns Go's own library and the paths of its files, in order.
func goSource(ctx context.Context) (source *tree.Tree, paths []string, err error) {
	root, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return nil, nil, err
	}
	source = tree.Folder(filepath.Join(root, "src"))
	paths, err = source.Paths(ctx)
	return source, slices.DeleteFunc(paths, func(p string) bool {
		return filepath.Ext(p) != ".go" || strings.Contains(p, "testdata/")
	}), err
}

// readAll returns texts by path.
func readAll(ctx context.Context, source *tree.Tree, paths []string) map[string]string {
	texts := map[string]string{}
	for _, path := range paths {
		if text, err := source.Read(ctx, path); err == nil { // a few are over the size limit
			texts[path] = string(text)
		}
	}
	return texts
}

// questions returns first sentences of doc comments, names to find the definition of, and names to find the uses of.
func questions(chunks []chunk.Chunk) (all []string) {
	step := max(len(chunks)/questionsPerKind/2, 1)
	for at := 0; at < len(chunks); at += step {
		for _, c := range chunks[at:min(at+step, len(chunks))] {
			if sentence, _, ok := strings.Cut(c.Doc, ". "); ok && c.Kind == chunk.Function {
				_, words, _ := strings.Cut(sentence, " ")
				all = append(all, words, c.Name, "references: "+c.Name)
				break
			}
		}
		if len(all) >= 3*questionsPerKind {
			break
		}
	}
	if len(all) == 0 {
		all = []string{"reader"}
	}
	return all
}

// askAll asks each question of all finders in turn, so that other load on the machine affects all of them.
func askAll(ctx context.Context, finders []*finder, questions []string) error {
	for _, question := range questions {
		for _, f := range finders {
			began := time.Now()
			if err := f.find(ctx, question); err != nil {
				return fmt.Errorf("%s: %q: %w", f.name, question, err)
			}
			f.took = append(f.took, time.Since(began).Seconds()*1e3)
		}
	}
	return nil
}

func grep(texts map[string]string, question string) (n int) {
	words := strings.Fields(strings.ToLower(question))
	for _, text := range texts {
		for line := range strings.Lines(text) {
			line = strings.ToLower(line)
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				n++
			}
		}
	}
	return n
}
