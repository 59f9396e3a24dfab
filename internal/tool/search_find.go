package tool

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tree"
)

const searchTime = 10 * time.Second // after which the search ends with what was found

// finder decides which lines are hits.
type finder struct {
	must  string                // a file without it has no hits; may be empty
	match func(line string) int // offset of the hit in a line, -1 for none
	// reports whether a hit's line defines the name, by language; if not nil, only code has hits
	defines map[string]func(line string) bool
	name    string
}

// found is the result of a search.
type found struct {
	definitions, uses hits
	masked            int    // lines whose hit is in a comment or a string
	files             int    // files searched
	noise             int    // files skipped
	missing           string // why the tree may lack files
	stopped           bool   // the time ran out
}

// search searches a tree's files in the order of their paths, for a name in code before tests and other files.
func (f finder) search(ctx context.Context, files Files, where place) (*found, error) {
	r := &found{}
	if t, ok := files.(*tree.Tree); ok {
		files, r.missing = t.Whole(ctx)
	}
	paths, err := files.Paths(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !where.has(path) })
	if f.defines != nil { // of many uses those in code are shown, of which those in tests last
		slices.SortStableFunc(paths, func(a, b string) int { return codeFirst(a) - codeFirst(b) })
	}
	r.uses.most = maxPerFile
	if len(paths) == 1 {
		r.uses.most = maxHits
	}
	r.definitions.most = r.uses.most
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for _, path := range paths {
		content, err := files.Read(limited, path)
		switch {
		case limited.Err() != nil:
		case err != nil && !tree.AboutFile(err):
			return nil, err
		case err != nil:
		case where.skips(path), isMinified(content):
			r.noise++
		default:
			r.files++
			f.scanFile(limited, path, content, r)
		}
		if limited.Err() != nil {
			r.stopped = true
			return r, ctx.Err()
		}
	}
	return r, nil
}

func codeFirst(path string) int {
	switch l := lang.Of(path); {
	case l.Name == "" || l.Kind != lang.Code:
		return 2
	case lang.IsTest(path):
		return 1
	}
	return 0
}

// scanFile adds a file's hits. It redacts files that have a hit and ignores hits within a credential,
// so that no search spells one out.
func (f finder) scanFile(ctx context.Context, path string, content []byte, r *found) {
	if !bytes.Contains(content, []byte(f.must)) {
		return
	}
	text := string(content)
	if !f.hasHit(ctx, text) {
		return
	}
	text = secret.Redact(text)
	code, defines := text, func(string) bool { return false }
	if f.defines != nil {
		in := lang.Of(path)
		code = in.Blank(text)
		if f.defines[in.Name] == nil {
			f.defines[in.Name] = in.Defines(f.name)
		}
		defines = f.defines[in.Name]
	}
	n, start := 0, 0
	for line := range strings.Lines(code) {
		if n++; timeUp(ctx, n) {
			return
		}
		full := strings.TrimRight(text[start:start+len(line)], "\r\n")
		start += len(line)
		line = strings.TrimRight(line, "\r\n")
		at := f.match(line)
		switch {
		case at >= 0 && defines(line):
			r.definitions.add(path, n, full, at)
		case at >= 0:
			r.uses.add(path, n, full, at)
		case f.defines != nil && f.match(full) >= 0:
			r.masked++
		}
	}
}

func (f finder) hasHit(ctx context.Context, text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		if n++; timeUp(ctx, n) {
			return false
		}
		if f.match(strings.TrimRight(line, "\r\n")) >= 0 {
			return true
		}
	}
	return false
}

// timeUp reports, checking every 64th line, whether the time is over.
func timeUp(ctx context.Context, line int) bool { return line%64 == 0 && ctx.Err() != nil }

// notes says what the hits do not show.
func (r *found) notes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s searched", plural(r.files, "file"))
	if r.noise > 0 {
		fmt.Fprintf(&b, "; %d vendored, lock or minified files passed over", r.noise)
	}
	if r.masked > 0 {
		fmt.Fprintf(&b, "; %s in comments and strings not shown", plural(r.masked, "line"))
	}
	if r.missing != "" {
		b.WriteString("; not all files: " + r.missing)
	}
	if r.stopped {
		fmt.Fprintf(&b, "; stopped after %v, so later files are missing: narrow the search", searchTime)
	}
	return b.String() + "\n"
}
