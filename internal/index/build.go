package index

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"runtime"
	"slices"
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
	b := builder{Options: o, tree: t, report: Report{Skipped: map[string]int{}}}
	for reason, n := range listing.Left {
		b.report.Skipped[reason] = n
	}
	if previous != nil && previous.made == o.Made {
		b.previous = previous
	}
	if err := b.build(ctx, b.choose(listing.Files), start); err != nil {
		return nil, Report{}, err
	}
	x := b.index()
	b.report.Chunks = len(x.fileOf)
	b.report.Seconds = time.Since(start).Seconds()
	return x, b.report, nil
}

type builder struct {
	Options
	tree     tree.Tree
	previous *Index
	reused   []placed // of the previous index
	fresh    []*layer // of files that were cut, by batch
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
	if b.previous == nil {
		return false
	}
	at, ok := b.previous.find(f.Path)
	if !ok || b.previous.placed[at].blob != f.Blob {
		return false
	}
	b.reused = append(b.reused, b.previous.placed[at])
	b.count(b.previous.placed[at].file, f.Size)
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
	for _, p := range parts[:begun] {
		b.count(p.file, p.size)
	}
	b.fresh = append(b.fresh, layerOf(b.Made, parts[:begun]))
	return ctx.Err()
}

// cut reads and cuts a file.
func (b *builder) cut(ctx context.Context, f tree.File, content []byte) cut {
	p := cut{file: file{path: f.Path, blob: f.Blob}, size: f.Size}
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
	var fallback string
	if p.chunks, fallback = b.Cut(ctx, f.Path, text); fallback != "" {
		p.note = Windows + fallback
	}
	p.imports = importsOf(f.Path, text)
	p.next = len(p.chunks)
	for _, c := range p.chunks {
		p.counted = append(p.counted, countTokens(c))
	}
	return p
}

// count says what came of a file.
func (b *builder) count(f file, size int64) {
	if f.note != "" {
		b.report.Skipped[f.note]++
	}
	if f.next > f.first {
		b.report.Files++
		b.report.Bytes += size
	}
}

// Where one in so many chunks of the first layer differs, all is put into one layer.
const mostDiffering = 4

// index is what was cut and what is taken over. The first layer of the index before
// stays as it is where little differs from it: that is what makes the next commit cheap.
func (b *builder) index() *Index {
	var above []some
	for _, l := range b.fresh {
		above = append(above, some{layer: l, files: l.files})
	}
	if b.previous == nil {
		return newIndex(b.Made, merge(b.Made, above, nil))
	}
	taken := b.taken()
	base := taken[0]
	above = append(above, taken[1:]...)
	here, differing := map[string]bool{}, len(base.sizes)
	for _, f := range base.files {
		here[f.path] = true
		differing -= f.next - f.first
	}
	for _, s := range above {
		for _, f := range s.files {
			here[f.path] = true
			differing += f.next - f.first
		}
	}
	if differing*mostDiffering > len(base.sizes) {
		return newIndex(b.Made, merge(b.Made, append(above, base), nil))
	}
	var gone []string
	for _, f := range base.layer.files {
		if !here[f.path] {
			gone = append(gone, f.path)
		}
	}
	if len(here) == len(base.files) && len(gone) == 0 {
		return newIndex(b.Made, base.layer)
	}
	return newIndex(b.Made, base.layer, merge(b.Made, above, gone))
}

// taken are the files that are taken over, by layer.
func (b *builder) taken() []some {
	all := make([]some, len(b.previous.layers))
	for i, l := range b.previous.layers {
		all[i].layer = l
	}
	for _, p := range b.reused {
		i := slices.Index(b.previous.layers, p.layer)
		all[i].files = append(all[i].files, p.stored())
	}
	return all
}
