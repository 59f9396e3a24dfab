package pgindex

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

// Source answers questions about one index. What files there are and how long chunks
// are it holds in memory, all else stays in the database.
type Source struct {
	store  *Store
	schema string
	info   index.VectorsInfo
	mean   float64
	sizes  []uint32
	files  []index.File
	places map[string]int // of paths, in files
	by     [][]int        // who imports a file
	counts recent[string, []index.Count]
	chunk  recent[int, chunk.Chunk]
}

var _ index.Source = (*Source)(nil)

// Report says what the index is made of, all of which was there.
func (x *Source) Report() index.Report {
	r := index.Report{Chunks: len(x.sizes), Skipped: map[string]int{}}
	for _, f := range x.files {
		if f.Next > f.First {
			r.Files++
		}
	}
	r.Reused = r.Files
	return r
}

func (x *Source) readFiles(ctx context.Context) error {
	rows, err := x.store.pool.Query(ctx, `SELECT path, first, next, imports FROM `+x.schema+`.file ORDER BY n`)
	if err != nil {
		return err
	}
	var path []byte
	var first, next int
	var imports []int32
	_, err = pgx.ForEachRow(rows, []any{&path, &first, &next, &imports}, func() error {
		f := index.File{Path: string(path), First: first, Next: next}
		for _, to := range imports {
			f.Imports = append(f.Imports, int(to))
		}
		x.places[f.Path] = len(x.files)
		x.files = append(x.files, f)
		return nil
	})
	x.by = make([][]int, len(x.files))
	for i, f := range x.files {
		for _, to := range f.Imports {
			x.by[to] = append(x.by[to], i)
		}
	}
	return err
}

// asked is the context of one question.
func asked(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, queryTime)
}

// Linked is index.Source's.
func (x *Source) Linked(_ context.Context, path string) (all []string, _ error) {
	if at, ok := x.places[path]; ok {
		for _, i := range slices.Concat(x.files[at].Imports, x.by[at]) {
			all = append(all, x.files[i].Path)
		}
	}
	return all, nil
}

// Paths is index.Source's.
func (x *Source) Paths(context.Context) ([]string, error) {
	var all []string
	for _, f := range x.files {
		if f.Next > f.First {
			all = append(all, f.Path)
		}
	}
	return all, nil
}

// Vectors is index.Source's.
func (x *Source) Vectors(context.Context) (index.VectorsInfo, error) {
	info := x.info
	if info.Dimensions == 0 {
		info.Missing = len(x.sizes)
	}
	return info, nil
}

// keep reports which chunks a filter lets through; nil for all.
func (x *Source) keep(f index.Filter) func(n int) bool {
	if len(f.Paths) == 0 {
		return nil
	}
	passes := make([]bool, len(x.sizes))
	for _, file := range x.files {
		ok := f.Passes(file.Path)
		for n := file.First; n < file.Next; n++ {
			passes[n] = ok
		}
	}
	return func(n int) bool { return passes[n] }
}
