package tool

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/secret"
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
	masked            int      // lines whose hit is in a comment or a string
	files             int      // files searched
	noise             int      // files skipped
	missing           string   // why the tree may lack files
	left              []string // files not searched when the time ran out
}

// search searches a tree's files in the order of their paths, for a name in code before tests and other files.
func (f finder) search(ctx context.Context, files Files, where place) (*found, error) {
	all, err := files.List(ctx)
	if err != nil {
		return nil, err
	}
	r, paths := &found{missing: all.Missing}, []string(nil)
	for _, file := range all.Files {
		switch {
		case !where.has(file.Path):
		case where.skips(file.Path):
			r.noise++
		default:
			paths = append(paths, file.Path)
		}
	}
	if len(paths)+r.noise == 0 && where.globs() != nil && r.missing == "" {
		return nil, where.unknown(all.Files)
	}
	r.uses.most = maxPerFile
	if len(paths) == 1 {
		r.uses.most = maxHits
	}
	r.definitions.most = r.uses.most
	if f.defines != nil { // of many uses those in code are shown, of which those in tests last
		paths = order.Ahead(paths, func(path string) bool { return !lang.IsTest(path) })
		paths = order.Ahead(paths, func(path string) bool {
			l := lang.Of(path)
			return l.Name != "" && l.Kind == lang.Code
		})
	}
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for len(paths) > 0 && limited.Err() == nil {
		contents, err := files.Hold(limited, paths)
		if err != nil && limited.Err() == nil {
			return nil, err
		}
		for _, content := range contents {
			if f.scanFile(limited, paths[0], content, r); limited.Err() != nil {
				break
			}
			paths = paths[1:]
		}
	}
	r.left = paths
	return r, ctx.Err()
}

// scanFile adds a file's hits. It redacts files that have a hit and ignores hits within a credential,
// so that no search spells one out.
func (f finder) scanFile(ctx context.Context, path string, content []byte, r *found) {
	switch {
	case content == nil:
		return
	case isMinified(content):
		r.noise++
		return
	}
	r.files++
	if !bytes.Contains(content, []byte(f.must)) || !f.hasHit(ctx, string(content)) {
		return
	}
	text := secret.Redact(string(content))
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
			r.definitions.add(path, n, full, at, text[start:])
		case at >= 0:
			r.uses.add(path, n, full, at, "")
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

// page returns hits, formatted, with what they do not show: before them if the time ran out.
func (r *found) page(hits string) string {
	var b strings.Builder
	if len(r.left) > 0 {
		fmt.Fprintf(&b, "INCOMPLETE: stopped after %v, %s not searched, from %s on: give search_code a path\n",
			searchTime, plural(len(r.left), "file"), onePath(r.left[0]))
	}
	fmt.Fprintf(&b, "%s%s searched", hits, plural(r.files, "file"))
	if r.noise > 0 {
		fmt.Fprintf(&b, "; %d vendored, lock or minified files passed over", r.noise)
	}
	if r.masked > 0 {
		fmt.Fprintf(&b, "; %s in comments and strings not shown", plural(r.masked, "line"))
	}
	if r.missing != "" {
		b.WriteString("; not all files: " + r.missing)
	}
	return b.String() + "\n"
}
