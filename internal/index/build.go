package index

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/tree"
)

// Cut cuts a text into chunks. If it could not cut at definitions, fallback is the
// reason; otherwise it is empty. It is chunker.Chunker's Cut.
type Cut func(ctx context.Context, path, text string) (chunks []chunk.Chunk, fallback string)

// Options configures Build.
type Options struct {
	Cut      Cut
	Made     string                 // the version of Cut: chunks of another version are not reused
	MaxFiles int                    // 0: tree.MaxFiles
	Ignored  func(path string) bool // reports whether a path is left out; nil: none is
	// paths that are indexed first, then the files in their folders, then those whose paths fit Toward; matter only
	// with a Limit
	First  []string
	Toward string
	Limit  time.Duration // after which no further file is indexed; 0: no limit
}

// Report describes what Build put into an index.
type Report struct {
	Files   int            `json:"files"` // files that have chunks
	Chunks  int            `json:"chunks"`
	Skipped map[string]int `json:"skipped"` // reason → files left out, or (windows: …) not cut at definitions
	Reused  int            `json:"reused"`  // files taken from the previous index
	Seconds float64        `json:"seconds"`
	Bytes   int64          `json:"bytes"` // size of the files that have chunks
}

// Reasons why a file is not in an index, in addition to those of tree.
const (
	SkippedIgnored = "ignored"
	SkippedNoCode  = "no code"
	SkippedData    = "settings larger than 32 KiB"
	SkippedMany    = "beyond the number of files"
	SkippedBytes   = "beyond 128 MiB"
	SkippedTime    = "out of time"
	SkippedLFS     = "kept by Git LFS"
)

// Windows is the prefix of a reason why a file was not cut at its definitions.
const Windows = "windows: "

const (
	batch       = 8 << 20   // bytes of files read at once
	maxSettings = 32 << 10  // bytes of a settings file; larger ones are data
	softLimit   = 768 << 20 // of the heap in bytes, see limitHeapGrowth
)

// Build builds the index of a tree. It reuses from previous, which may be nil, the files
// whose content is the same, if Made is too, and the vectors of unchanged chunks. If
// nothing changed it returns previous itself. The report lists what was left out, and why.
// The error is the tree's or ctx's.
func Build(ctx context.Context, t *tree.Tree, previous *Index, o Options) (*Index, Report, error) {
	if previous == nil {
		previous = newIndex(o.Made, nil, nil, nil, VectorsInfo{}, nil)
	}
	b := builder{Options: o, tree: t, start: time.Now(), previous: previous, fresh: map[string][]count{}}
	if b.soft = debug.SetMemoryLimit(-1) == math.MaxInt64; b.soft { // else the limit is the user's
		defer debug.SetMemoryLimit(math.MaxInt64)
	}
	listing, err := t.List(ctx)
	if err != nil {
		return nil, Report{}, err
	}
	b.report.Skipped = listing.Left
	for n, size := range previous.sizes {
		b.chunks = append(b.chunks, stored{record: previous.rows[n].value, size: size, packed: previous.packed[n]})
	}
	if err := b.build(ctx, b.choose(listing.Files)); err != nil {
		return nil, Report{}, err
	}
	x := b.index()
	b.report.Chunks = len(x.sizes)
	b.report.Seconds = time.Since(b.start).Seconds()
	return x, b.report, nil
}

type builder struct {
	Options
	tree     *tree.Tree
	start    time.Time
	soft     bool               // the memory limit is this build's to set
	previous *Index             // its vectors are reused and, if Made is the same, its files
	files    []file             // reused or newly cut; their places are in chunks
	chunks   []stored           // those of the previous index, then the newly cut ones
	fresh    map[string][]count // counts of the newly cut chunks, by word
	report   Report
}

// stored holds what is kept of a chunk in addition to its words.
type stored struct {
	record string
	size   uint32           // in tokens
	packed string           // its vector
	times  map[string]int32 // counts of its words, until they are in fresh
}

// choose leaves out the files that are not worth searching, judged by path and size, and
// those beyond the limits. It returns the others in the order in which they are indexed.
func (b *builder) choose(files []tree.File) []tree.File {
	var chosen []tree.File
	var paths []string
	var size int64
	for _, f := range files {
		if reason := b.skip(f, len(chosen), size); reason != "" {
			b.report.Skipped[reason]++
			continue
		}
		size += f.Size
		chosen, paths = append(chosen, f), append(paths, f.Path)
	}
	near := map[string]int{}
	for _, first := range b.First {
		near[first], near[path.Dir(first)+"/"] = 2, 1
	}
	soon := func(f tree.File) int { return max(near[f.Path], near[path.Dir(f.Path)+"/"]) }
	fit := chunk.Fit(paths, b.Toward)
	order.Stable(chosen, func(a, b tree.File) int {
		return cmp.Or(cmp.Compare(soon(b), soon(a)), cmp.Compare(fit[b.Path], fit[a.Path]))
	})
	return chosen
}

// skip returns why a file is left out, given how many files and bytes are chosen already; empty if it is not.
func (b *builder) skip(f tree.File, files int, size int64) string {
	if claims := linguist.Of(diff.File{Path: f.Path}); len(claims) > 0 {
		return string(claims[0].Reason)
	}
	switch l := lang.Of(f.Path); {
	case l.Name == "" || l.Kind == lang.Prose:
		return SkippedNoCode
	case l.Kind == lang.Settings && f.Size > maxSettings:
		return SkippedData
	case b.Ignored != nil && b.Ignored(f.Path):
		return SkippedIgnored
	case files >= cmp.Or(b.MaxFiles, tree.MaxFiles):
		return SkippedMany
	case size+f.Size > tree.MaxTree:
		return SkippedBytes
	}
	return ""
}

// build reuses files, or reads and cuts them batch by batch, until time is up.
func (b *builder) build(ctx context.Context, files []tree.File) error {
	files = slices.DeleteFunc(files, b.reuse)
	for len(files) > 0 && !b.timeIsUp() {
		n, size := 0, int64(0)
		for n < len(files) && (n == 0 || size+files[n].Size <= batch) {
			size += files[n].Size
			n++
		}
		if b.soft {
			limitHeapGrowth()
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

// limitHeapGrowth has the heap collected before it has doubled, because the trees of large files are gone soon: from
// softLimit on, or when it has grown by a quarter of what is in use.
func limitHeapGrowth() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(max(softLimit, int64(live[0].Value.Uint64()/4*5)))
}

func (b *builder) timeIsUp() bool { return b.Limit > 0 && time.Since(b.start) >= b.Limit }

func (b *builder) reuse(f tree.File) bool {
	at, ok := b.previous.find(f.Path)
	if !ok || b.previous.made != b.Made || b.previous.files[at].blob != f.Blob {
		return false
	}
	counted := b.report.Files
	b.add(b.previous.files[at], f.Size)
	b.report.Reused += b.report.Files - counted
	return true
}

// read reads and cuts files, one per processor at a time, until time is up. begun is how many it cut.
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
	for begun < len(files) && ctx.Err() == nil && !b.timeIsUp() {
		i := begun
		group.Go(func() error {
			parts[i] = b.cut(ctx, files[i], contents[i])
			contents[i] = nil
			return nil
		})
		begun++
	}
	_ = group.Wait() // cut returns no error
	for i, p := range parts[:begun] {
		p.first = len(b.chunks)
		for _, c := range p.chunks {
			b.addChunk(c)
		}
		p.next = len(b.chunks)
		b.add(p.file, files[i].Size)
	}
	return begun, ctx.Err()
}

type cut struct {
	file
	chunks []stored
}

// storedOf returns what is kept of a chunk. Names that it defines count once each, and not towards its size.
func storedOf(c chunk.Chunk, vectors map[string]string) stored {
	all := stored{record: recordOf(c), times: map[string]int32{}}
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

// cut cuts the content of a file; a note explains why it has no chunks, or only windows.
func (b *builder) cut(ctx context.Context, f tree.File, content []byte) cut {
	p := cut{file: file{path: f.Path, blob: f.Blob}}
	switch {
	case content == nil && f.Size > 0:
		p.note = tree.LeftBinary
	case bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")):
		p.note = SkippedLFS // only a pointer to the text
	case linguist.Bears(f.Path, content, finding.Generated):
		p.note = string(finding.Generated)
	case linguist.Bears(f.Path, content, finding.Minified):
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
	vectors := b.previous.vectorsOf(f.Path)
	for _, c := range chunks {
		p.chunks = append(p.chunks, storedOf(c, vectors))
	}
	return p
}

func (b *builder) addChunk(c stored) {
	for name, n := range c.times {
		counts, ok := b.fresh[name]
		if !ok {
			name = strings.Clone(name) // does not keep the whole text alive
		}
		b.fresh[name] = append(counts, count{int32(len(b.chunks)), n})
	}
	c.times = nil
	b.chunks = append(b.chunks, c)
}

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
