package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/embed"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
)

// Indexed is an index of a place, ready to be searched.
type Indexed struct {
	Source *index.Source
	Index  *index.Index // in memory; nil if a database had it
	Report index.Report // of the files, if they were read
	Notes  []string     // what is missing or not kept, for a person
	// Instead builds the index in memory once the database behind Source fails; nil without a
	// database
	Instead func(ctx context.Context, failed error) (*index.Source, error)
}

// Indexed builds or loads the index of a place with the vectors of its chunks, and keeps it
// as the settings require. Only an index of a commit is stored under a name; that of a change
// is never kept. If a database does not answer, Indexed adds a note and returns an index in
// memory. If it fails later, Instead replaces it by one in memory and tells onLost.
func (w Wire) Indexed(ctx context.Context, p Place, o index.Options, c config.Config, e Endpoints,
	onLost func(note string)) (Indexed, error) {
	local := func(ctx context.Context) (x Indexed, err error) { return p.inMemory(ctx, o, c.Index, e) }
	if c.Index.Postgres() == "" || p.Commit == "" {
		return local(ctx)
	}
	db, err := openIndexes(ctx, c.Index.Postgres(), w.getenv(c.Index.PasswordEnv))
	if err != nil {
		if problem.KindOf(err) == problem.Misuse {
			return Indexed{}, err
		}
		x, failed := local(ctx)
		x.Notes = append(x.Notes, databaseNote(err))
		return x, failed
	}
	x, err := p.inDatabase(ctx, db, local, c.Index, e)
	if err != nil {
		return Indexed{}, err
	}
	if !db.Vectors() && e.Embedder != nil {
		x.Notes = append(x.Notes, noPgvector)
	}
	x.Instead = func(ctx context.Context, failed error) (*index.Source, error) {
		if onLost != nil {
			onLost(databaseNote(failed))
		}
		again, err := local(ctx)
		return again.Source, err
	}
	return x, nil
}

const noPgvector = "The database has no pgvector (0.7 or later), so search used only words and structure."

// databaseNote describes the failure in our own words, without the server's.
func databaseNote(err error) string {
	what := "does not answer"
	if errors.Is(err, context.DeadlineExceeded) {
		what = "gave no answer in time"
	}
	return "The database of index.store " + what + ", so this run searched an index in memory."
}

// inDatabase loads the commit's index, or builds and writes it. An incomplete index is not
// written: others would take it for the commit's.
func (p Place) inDatabase(ctx context.Context, db database, local func(context.Context) (Indexed, error),
	o config.Index, e Endpoints) (Indexed, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %d", o.Ignore, o.MaxFiles)
	k := index.Key{Repository: p.Name, Commit: p.Commit, Made: fmt.Sprintf("%s %x", chunker.Version(), h.Sum64())}
	if e.Embedder != nil {
		k.Model = e.Embedder.Identity()
	}
	began := time.Now()
	found, report, err := db.Find(ctx, k)
	if found != nil && err == nil {
		report.Reused, report.Seconds = report.Files, time.Since(began).Seconds()
		return Indexed{Source: found, Report: report}, nil
	}
	x, failed := local(ctx)
	if failed != nil || err != nil {
		if err != nil {
			x.Notes = append(x.Notes, databaseNote(err))
		}
		return x, failed
	}
	if x.Report.Skipped[index.SkippedTime] > 0 || e.Embedder != nil && x.Index.Vectors().Missing > 0 {
		return x, nil
	}
	if found, err = db.Write(ctx, k, x.Index, x.Report); err != nil {
		x.Notes = append(x.Notes, databaseNote(err))
	} else if found != nil {
		x.Source = found
	}
	return x, nil
}

// inMemory returns the place's index with vectors, kept in its folder.
func (p Place) inMemory(ctx context.Context, o index.Options, c config.Index, e Endpoints) (Indexed, error) {
	x, report, note, err := p.Index(ctx, o, c)
	if err != nil {
		return Indexed{}, err
	}
	all := Indexed{Source: x.Source, Index: x, Report: report}
	if note != "" {
		all.Notes = append(all.Notes, note)
	}
	if e.Embedder == nil {
		return all, nil
	}
	if p.Changed && (p.Unkept || x.Vectors().Missing <= maxUnkept) { // a journal is small
		ctx = embed.Keeping(ctx)
	}
	with, left, err := p.embedMissing(ctx, x, e.Embedder)
	all.Source, all.Index = with.Source, with
	var lost interface{ Note() string }
	switch {
	case err == nil && left > 0:
		all.Notes = append(all.Notes, fmt.Sprintf("%d pieces of code have no vector, since no index of the base is "+
			"kept; words find them", left))
	case err == nil:
	case ctx.Err() != nil:
		return Indexed{}, ctx.Err()
	case errors.As(err, &lost):
		all.Notes = append(all.Notes, lost.Note())
	default:
		all.Notes = append(all.Notes, "Not every chunk could be embedded: "+err.Error()+".")
	}
	return all, nil
}

// embedBatch is the number of chunks that are embedded between two saves, which bounds what is
// paid for twice if the process is killed.
const embedBatch = 5_000

// embedMissing adds the vectors that x lacks, and keeps the index after each batch. left counts the chunks that stay
// without a vector because nothing of the place is kept. With an error, the index as far as it got is returned.
func (p Place) embedMissing(ctx context.Context, x *index.Index, e retrieve.Embedder) (with *index.Index, left int,
	err error) {
	missing := order.Unique(x.Without(e.Identity()), chunk.Chunk.Key)
	if p.Unkept {
		left = max(0, len(missing)-maxUnkept)
	}
	known, dimensions := map[string][]float32{}, 0
	for batch := range slices.Chunk(missing[:len(missing)-left], embedBatch) {
		var texts []string
		for _, c := range batch {
			texts = append(texts, c.Prefix()+c.Text)
		}
		vectors, err := e.Embed(ctx, texts, false)
		for i, v := range vectors {
			if v != nil {
				known[batch[i].Key()], dimensions = v, len(v)
			}
		}
		if dimensions > 0 {
			x = x.WithVectors(e.Identity(), dimensions, known)
			if p.Cache.Folder != "" {
				if failed := p.Cache.Keep(p.Commit, x); failed != nil { // kept in any case: it is paid for
					err = cmp.Or(err, fmt.Errorf("keeping vectors: %w", failed))
				}
			}
		}
		if err != nil {
			return x, left, err
		}
	}
	return x, left, nil
}

// maxUnkept is the number of chunks that are embedded if their vectors are not kept: the next push
// would pay for them again. The others are found by words alone.
const maxUnkept = 2_000
