package claim

import (
	"bytes"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// headers reports whether a patch shows a generator's header among the first lines of the new file, and of the old
// one. A header that the change takes away does not count for the new file.
func headers(f diff.File) (head, base bool) {
	if templateName().MatchString(f.Path) {
		return false, false // it is what the file makes that was generated
	}
	hunks, err := f.Hunks()
	if err != nil {
		return false, false // the review of the file reports a patch that cannot be read
	}
	for _, h := range hunks {
		for _, l := range h.Lines {
			atHead, atBase := l.Op != diff.Delete && l.New <= headerLines, l.Op != diff.Add && l.Old <= headerLines
			if (atHead || atBase) && header(l.Text) {
				head, base = head || atHead, base || atBase
			}
		}
	}
	return head, base
}

// unseen reports whether a file is one of the base whose patch shows nothing of its
// beginning, where a generator's header would stand.
func unseen(f diff.File) bool {
	if templateName().MatchString(f.Path) {
		return false
	}
	hunks, err := f.Hunks()
	if err != nil || len(hunks) == 0 || hunks[0].OldStart <= 1 {
		return false
	}
	head, base := headers(f)
	return !head && !base
}

// Bears reports whether the text that a file has at the base is what it claims to be.
func Bears(text []byte, reason finding.Reason) bool {
	switch reason {
	case finding.Generated:
		first := bytes.SplitN(text, []byte("\n"), headerLines+1)
		isHeader := func(line []byte) bool { return header(string(line)) }
		return slices.ContainsFunc(first[:min(len(first), headerLines)], isHeader)
	case finding.Minified:
		return packed(strings.Lines(string(text)))
	case finding.Binary:
		return bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0
	}
	return false
}

// IsMedia reports whether bytes begin as those of a picture, sound, film or font do,
// which no reviewer reads. Archives and documents may hold code, and are not meant.
func IsMedia(content []byte) bool {
	kind, _, _ := strings.Cut(http.DetectContentType(content), "/")
	return kind == "image" || kind == "audio" || kind == "video" || kind == "font"
}

// binaryHead is how far Git looks for a zero byte, which makes a file a binary one.
const binaryHead = 8000

const (
	longLine     = 1000 // bytes in a line that no person wrote
	minifiedMean = 400  // bytes per added line, on average, of a file without line breaks
)

// minified reports whether the added lines are too long to have been written by
// hand: on average, with at least one very long one.
func minified(patch string) bool {
	return packed(func(yield func(string) bool) {
		for line := range strings.Lines(patch) {
			if strings.HasPrefix(line, "+") && !yield(line) {
				return
			}
		}
	})
}

func packed(all iter.Seq[string]) bool {
	lines, size, longest := 0, 0, 0
	for line := range all {
		lines, size, longest = lines+1, size+len(line), max(longest, len(line))
	}
	return longest >= longLine && size/lines >= minifiedMean
}
