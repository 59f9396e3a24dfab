package ingest

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
)

// MaxPatches bounds the patches of a change together, in bytes of JSON. A draft
// travels in a file of at most 48 MiB, and what is found is to fit in as well.
const MaxPatches = 32 << 20

// Fit leaves out patches until the others are within limit: first those of files
// that are not needed, then of the others, the largest first. A file that lost
// its patch keeps its counts, and has no Problem.
func Fit(files []diff.File, limit int, needed func(diff.File) bool) []diff.File {
	type patch struct {
		file, size int
		needed     bool
	}
	var patches []patch
	total := 0
	for i, f := range files {
		size := quoted(f.Patch)
		total += size
		patches = append(patches, patch{i, size, false})
	}
	if total <= limit {
		return files
	}
	for i := range patches {
		patches[i].needed = needed(files[patches[i].file])
	}
	slices.SortStableFunc(patches, func(a, b patch) int {
		if a.needed != b.needed {
			return map[bool]int{false: -1, true: 1}[a.needed]
		}
		return cmp.Compare(b.size, a.size)
	})
	files = slices.Clone(files)
	for _, p := range patches {
		if total <= limit {
			break
		}
		files[p.file].Patch, total = "", total-p.size
	}
	return files
}

// quoted is the length of a text as JSON.
func quoted(text string) int {
	out, _ := jsontext.AppendQuote(nil, text) // the error is of text that is no UTF-8, and is written all the same
	return len(out)
}
