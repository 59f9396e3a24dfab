package index

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/claim"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/tree"
)

// Cut cuts a text into chunks, and says why it was not cut by its definitions;
// empty where it was. It is chunker.Chunker's Cut.
type Cut func(ctx context.Context, path, text string) (chunks []chunk.Chunk, fallback string)

// Options say what is indexed.
type Options struct {
	Cut      Cut
	Made     string                 // the version of Cut: what another one has cut is not taken over
	MaxFiles int                    // 0: tree.MaxFiles
	Ignored  func(path string) bool // what is left out; nil for nothing
	// paths that are indexed first, and the folders that they are in, where there is a limit
	First []string
	Limit time.Duration // after which no further file is taken in; 0: none
}

// Report says what an index is made of.
type Report struct {
	Files   int            `json:"files"` // that have chunks
	Chunks  int            `json:"chunks"`
	Skipped map[string]int `json:"skipped"` // reason → files not in it, or (windows: …) not cut by definitions
	Reused  int            `json:"reused"`  // files that were taken from the previous index
	Seconds float64        `json:"seconds"`
	Bytes   int64          `json:"bytes"` // of the files that have chunks
}

// Reasons for which a file is not in an index, beside tree's.
const (
	SkippedIgnored = "ignored"
	SkippedNoCode  = "no code"
	SkippedData    = "settings larger than 32 KiB"
	SkippedMany    = "beyond the number of files"
	SkippedBytes   = "beyond 128 MiB"
	SkippedTime    = "out of time"
	SkippedLFS     = "kept by Git LFS"
)

// Windows goes before the reason for which a file was not cut by its definitions.
const Windows = "windows: "

const (
	batch       = 8 << 20  // bytes of files that are read at once
	maxSettings = 32 << 10 // bytes of a file of settings; larger ones are data
)

// Build makes the index of a tree. Files that previous holds with the same content
// (it may be nil) are taken from it. What was left out, and why, is in the report; the
// error is the source's, or that of ctx.
func Build(ctx context.Context, t tree.Tree, previous *Index, o Options) (*Index, Report, error) {
	start := time.Now()
	listing, err := tree.List(ctx, t)
	if err != nil {
		return nil, Report{}, err
	}
	b := builder{Options: o, tree: t, report: Report{Skipped: map[string]int{}}, fresh: map[string]*posting{}}
	for reason, n := range listing.Left {
		b.report.Skipped[reason] = n
	}
	if b.previous = previous; previous == nil || previous.made != o.Made {
		b.previous = newIndex(o.Made, nil, nil, nil, nil, "", 0, nil)
	}
	b.records, b.sizes = slices.Clone(b.previous.records), slices.Clone(b.previous.sizes)
	if err := b.build(ctx, b.choose(listing.Files), start); err != nil {
		return nil, Report{}, err
	}
	x := b.index()
	b.report.Chunks = len(x.records)
	b.report.Seconds = time.Since(start).Seconds()
	return x, b.report, nil
}

type builder struct {
	Options
	tree     tree.Tree
	previous *Index
	files    []file              // that were taken over or cut; where their chunks are in records
	records  []string            // those of the previous index, then of what was cut
	sizes    []uint32            // of each of them
	fresh    map[string]*posting // of what was cut, by word
	report   Report
}

// choose leaves out what nobody would search in, by its path, and puts the others in
// the order in which they are indexed.
func (b *builder) choose(files []tree.File) []tree.File {
	var chosen []tree.File
	var size int64
	for _, f := range files {
		reason := b.skip(f)
		switch {
		case reason != "":
		case len(chosen) >= cmp.Or(b.MaxFiles, tree.MaxFiles):
			reason = SkippedMany
		case size+f.Size > tree.MaxTree:
			reason = SkippedBytes
		}
		if reason != "" {
			b.report.Skipped[reason]++
			continue
		}
		size += f.Size
		chosen = append(chosen, f)
	}
	near := b.nearness()
	order.Stable(chosen, func(a, b tree.File) int { return cmp.Compare(near(a.Path), near(b.Path)) })
	return chosen
}

func (b *builder) skip(f tree.File) string {
	if claims := claim.Of(diff.File{Path: f.Path}); len(claims) > 0 {
		return string(claims[0].Reason)
	}
	switch l := lang.Of(f.Path); {
	case l.Name == "" || l.Kind == lang.Prose:
		return SkippedNoCode
	case l.Kind == lang.Settings && f.Size > maxSettings:
		return SkippedData
	case b.Ignored != nil && b.Ignored(f.Path):
		return SkippedIgnored
	}
	return ""
}

// nearness tells how soon a path is indexed: a path that is first, one beside it, any
// other.
func (b *builder) nearness() func(string) int {
	first, folders := map[string]bool{}, map[string]bool{}
	for _, p := range b.First {
		first[p], folders[path.Dir(p)] = true, true
	}
	return func(p string) int {
		switch {
		case first[p]:
			return 0
		case folders[path.Dir(p)]:
			return 1
		}
		return 2
	}
}

// build takes files over, or reads and cuts them, batch by batch, until time is up.
func (b *builder) build(ctx context.Context, files []tree.File, start time.Time) error {
	files = slices.DeleteFunc(files, func(f tree.File) bool { return b.reuse(f) })
	for len(files) > 0 {
		if b.Limit > 0 && time.Since(start) >= b.Limit {
			b.report.Skipped[SkippedTime] += len(files)
			return nil
		}
		n, size := 0, int64(0)
		for n < len(files) && (n == 0 || size+files[n].Size <= b.batch()) {
			size += files[n].Size
			n++
		}
		if err := b.read(ctx, files[:n], start); err != nil {
			return err
		}
		files = files[n:]
	}
	return ctx.Err()
}

// batch is smaller where time is short, so that it is looked at often.
func (b *builder) batch() int64 {
	if b.Limit > 0 {
		return batch / 8
	}
	return batch
}

func (b *builder) reuse(f tree.File) bool {
	at, ok := b.previous.find(f.Path)
	if !ok || b.previous.files[at].blob != f.Blob {
		return false
	}
	b.add(b.previous.files[at], f.Size)
	b.report.Reused++
	return true
}

// read cuts some files, as many at a time as there are processors.
func (b *builder) read(ctx context.Context, files []tree.File, start time.Time) error {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	contents, err := tree.ReadAll(ctx, b.tree, paths)
	if err != nil {
		return err
	}
	parts, begun := make([]cut, len(files)), len(files)
	var group sync.WaitGroup
	turn := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range turn {
				parts[i] = b.cut(ctx, files[i], contents[i])
				contents[i] = nil
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil || b.Limit > 0 && time.Since(start) >= b.Limit {
			b.report.Skipped[SkippedTime] += len(files) - i
			begun = i
			break
		}
		turn <- i
	}
	close(turn)
	group.Wait()
	for i, p := range parts[:begun] {
		p.first = len(b.records)
		for _, c := range p.chunks {
			b.take(c)
		}
		p.next = len(b.records)
		b.add(p.file, files[i].Size)
	}
	return ctx.Err()
}

// cut is a file with its chunks.
type cut struct {
	file
	chunks []cutChunk
}

// cutChunk is a chunk's record, and how often it has a word: names, once each, are none of
// its size.
type cutChunk struct {
	record string
	size   int
	words  []wordCount
}

type wordCount struct {
	name  string
	times int
}

const mostTimes = 1<<16 - 1 // of a word in a chunk: as often it counts

func cutChunkOf(c chunk.Chunk) cutChunk {
	all, times := cutChunk{record: recordOf(c)}, map[string]int{}
	for _, token := range chunk.Tokens(c.Prefix() + c.Text) {
		times[token] = min(times[token]+1, mostTimes)
	}
	for _, n := range times {
		all.size += n
	}
	for _, name := range c.Defines {
		times[definedBy+name] = 1
	}
	for name, n := range times {
		all.words = append(all.words, wordCount{name, n})
	}
	return all
}

// cut reads and cuts a file.
func (b *builder) cut(ctx context.Context, f tree.File, content []byte) cut {
	p := cut{file: file{path: f.Path, blob: f.Blob}}
	switch {
	case content == nil && f.Size > 0:
		p.note = tree.LeftBinary
	case bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")):
		p.note = SkippedLFS // a pointer to the text, which is elsewhere
	case claim.Bears(content, finding.Generated):
		p.note = string(finding.Generated)
	case claim.Bears(content, finding.Minified):
		p.note = string(finding.Minified)
	}
	if p.note != "" {
		return p
	}
	text := string(content)
	chunks, fallback := b.Cut(ctx, f.Path, text)
	if fallback != "" {
		p.note = Windows + fallback
	}
	p.imports = importsOf(f.Path, text)
	for _, c := range chunks {
		p.chunks = append(p.chunks, cutChunkOf(c))
	}
	return p
}

// posting is the chunks that have a word, in order, as they come to be found.
type posting struct {
	held writer
	next int
}

// take adds a chunk that was cut.
func (b *builder) take(c cutChunk) {
	n := len(b.records)
	b.records, b.sizes = append(b.records, c.record), append(b.sizes, uint32(c.size))
	for _, w := range c.words {
		p := b.fresh[w.name]
		if p == nil {
			p = &posting{}
			b.fresh[strings.Clone(w.name)] = p // without the text that it is cut from
		}
		p.held.number(n - p.next)
		p.held.number(w.times)
		p.next = n + 1
	}
}

// add takes a file in, and says what came of it.
func (b *builder) add(f file, size int64) {
	b.files = append(b.files, f)
	if f.note != "" {
		b.report.Skipped[f.note]++
	}
	if f.next > f.first {
		b.report.Files++
		b.report.Bytes += size
	}
}
