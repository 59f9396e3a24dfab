package index

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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
// (it may be nil) are taken from it, as are the vectors of all chunks that stayed the same: it is
// previous itself where nothing changed. What was left out, and why, is in the report; the
// error is the source's, or that of ctx.
func Build(ctx context.Context, t *tree.Tree, previous *Index, o Options) (*Index, Report, error) {
	start := time.Now()
	listing, err := t.List(ctx)
	if err != nil {
		return nil, Report{}, err
	}
	if previous == nil {
		previous = newIndex(o.Made, nil, nil, nil, VectorsInfo{}, nil)
	}
	b := builder{Options: o, tree: t, start: start, earlier: previous, previous: previous,
		report: Report{Skipped: listing.Left}, fresh: map[string][]count{}}
	if previous.made != o.Made {
		b.previous = newIndex(o.Made, nil, nil, nil, previous.vectors, nil)
	}
	for n, size := range b.previous.sizes {
		b.chunks = append(b.chunks, stored{b.previous.rows[n].value, size, b.previous.packed[n]})
	}
	if err := b.build(ctx, b.choose(listing.Files)); err != nil {
		return nil, Report{}, err
	}
	x := b.index()
	b.report.Chunks = len(x.sizes)
	b.report.Seconds = time.Since(start).Seconds()
	return x, b.report, nil
}

type builder struct {
	Options
	tree     *tree.Tree
	start    time.Time
	earlier  *Index             // whose vectors are taken over
	previous *Index             // whose files are: the earlier one, or none where it was cut otherwise
	files    []file             // that were taken over or cut; where their chunks are in chunks
	chunks   []stored           // those of the previous index, then what was cut
	fresh    map[string][]count // of what was cut, by word
	report   Report
}

// stored is what is kept of a chunk beside its words.
type stored struct {
	record string
	size   uint32 // in tokens
	packed string // its vector
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
	near := map[string]int{}
	for _, first := range b.First {
		near[path.Dir(first)+"/"] = 1
	}
	for _, first := range b.First {
		near[first] = 2
	}
	soon := func(f tree.File) int { return max(near[f.Path], near[path.Dir(f.Path)+"/"]) }
	order.Stable(chosen, func(a, b tree.File) int { return cmp.Compare(soon(b), soon(a)) })
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

// build takes files over, or reads and cuts them, batch by batch, until time is up.
func (b *builder) build(ctx context.Context, files []tree.File) error {
	files = slices.DeleteFunc(files, b.reuse)
	for len(files) > 0 && !b.late() {
		n, size := 0, int64(0)
		for n < len(files) && (n == 0 || size+files[n].Size <= batch) {
			size += files[n].Size
			n++
		}
		begun, err := b.read(ctx, files[:n])
		if err != nil {
			return err
		}
		files = files[begun:]
	}
	if len(files) > 0 {
		b.report.Skipped[SkippedTime] = len(files)
	}
	return ctx.Err()
}

func (b *builder) late() bool { return b.Limit > 0 && time.Since(b.start) >= b.Limit }

func (b *builder) reuse(f tree.File) bool {
	at, ok := b.previous.find(f.Path)
	if !ok || b.previous.files[at].blob != f.Blob {
		return false
	}
	b.add(b.previous.files[at], f.Size)
	b.report.Reused++
	return true
}

// read cuts files, as many at a time as there are processors, until time is up, and says how many.
func (b *builder) read(ctx context.Context, files []tree.File) (begun int, err error) {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	contents, err := b.tree.ReadAll(ctx, paths)
	if err != nil {
		return 0, err
	}
	parts := make([]cut, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for begun < len(files) && ctx.Err() == nil && !b.late() {
		i := begun
		group.Go(func() error {
			parts[i] = b.cut(ctx, files[i], contents[i])
			contents[i] = nil
			return nil
		})
		begun++
	}
	_ = group.Wait() // no cut fails
	for i, p := range parts[:begun] {
		p.first = len(b.chunks)
		for _, c := range p.chunks {
			b.take(c)
		}
		p.next = len(b.chunks)
		b.add(p.file, files[i].Size)
	}
	return begun, ctx.Err()
}

// cut is a file with its chunks.
type cut struct {
	file
	chunks []cutChunk
}

// cutChunk is a chunk, and how often it has a word: names, once each, are none of its size.
type cutChunk struct {
	stored
	times map[string]int32
}

func cutChunkOf(c chunk.Chunk, vectors map[string]string) cutChunk {
	all := cutChunk{stored{record: recordOf(c)}, map[string]int32{}}
	for _, token := range chunk.Tokens(c.Prefix() + c.Text) {
		all.times[token]++
		all.size++
	}
	for _, name := range c.Defines {
		all.times[definedBy+name] = 1
	}
	if len(vectors) > 0 {
		all.packed = vectors[c.Key()]
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
	vectors := b.earlier.vectorsOf(f.Path)
	for _, c := range chunks {
		p.chunks = append(p.chunks, cutChunkOf(c, vectors))
	}
	return p
}

// take adds a chunk that was cut.
func (b *builder) take(c cutChunk) {
	for name, n := range c.times {
		counts, ok := b.fresh[name]
		if !ok {
			name = strings.Clone(name) // without the text that it is cut from
		}
		b.fresh[name] = append(counts, count{int32(len(b.chunks)), n})
	}
	b.chunks = append(b.chunks, c.stored)
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
