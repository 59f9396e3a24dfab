package review

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/prompt"
)

// The limits of what is shown of the places that findings name.
const (
	maxCited   = 6  // places
	maxNamed   = 20 // names of files that are looked for
	maxMissing = 3  // names of what a finding says is missing
	maxLooked  = 99 // lines with one of them, among which its definition is looked for
	citedLines = 60 // of one
	around     = 6  // lines before and after it
)

// places matches path:12 and path:12-18 in a finding's text, line 12 and lines 12-18 of its own file, and the numbers
// that follow, as in `path:12-18`, `30`.
var (
	places = pattern.Lazy("(?:([\\w./@+-]*\\w\\.\\w+):|\\blines? )" +
		"(\\d{1,7}(?:[-–]\\d{1,7})?(?:`?(?:,| and| or) `?\\d{1,7}\\b(?:[-–]\\d{1,7})?)*)")
	ranges = pattern.Lazy(`(\d+)(?:[-–](\d+))?`)
)

// missing matches a claim that something is not there; coded and identifiers match the names that it has in backticks.
var (
	missing = pattern.Lazy(`(?i)\b(?:un(?:defined|declared|imported|resolved|used|known)|missing|` +
		`no (?:import|definition)|(?:not|never|nowhere)\b[\w ]{0,20}\b` +
		`(?:import|defin|declar|exist|us|call|assign|set|referenc)\w*)\b`)
	coded       = pattern.Lazy("`[^`\n]+`")
	identifiers = pattern.Lazy(`[\p{L}_$][\p{L}\p{N}_$]+`)
)

// citations collects what findings name and neither the diff nor the pack shows.
type citations struct {
	*task
	in     prompt.Input
	hunks  []diff.Hunk
	read   map[string]namedFile
	pieces []prompt.Piece
}

// cited returns the pieces of the new tree that decide about findings, so that they are there when these are verified:
// the places that a finding names and, of a name that it says is missing or not used, where its file has it.
func (t *task) cited(ctx context.Context, in prompt.Input, claims []finding.Finding) []prompt.Piece {
	hunks, _ := diff.Hunks(in.Patch)
	c := citations{task: t, in: in, hunks: hunks, read: map[string]namedFile{}}
	for _, claim := range claims {
		for _, m := range places().FindAllStringSubmatch(claim.Body, -1) {
			f := c.file(ctx, cmp.Or(strings.TrimPrefix(m[1], "./"), in.Path))
			for _, r := range ranges().FindAllStringSubmatch(m[2], -1) {
				first, _ := strconv.Atoi(r[1])
				last, _ := strconv.Atoi(cmp.Or(r[2], r[1]))
				c.add(f, first, last)
			}
		}
		text := claim.Title + "\n" + claim.Body
		if len(c.pieces) == maxCited || !missing().MatchString(text) {
			continue
		}
		names := order.Distinct(identifiers().FindAllString(strings.Join(coded().FindAllString(text, -1), "\n"), -1))
		for _, name := range names[:min(len(names), maxMissing)] {
			f := c.file(ctx, in.Path)
			at := c.lineWith(f, name)
			c.add(f, at, at)
		}
	}
	return c.pieces
}

// lineWith returns the first line of a file that defines a name and is not shown or, if there is none, that has it as
// an import does; 0 without one.
func (c *citations) lineWith(f namedFile, name string) (at int) {
	defines, looked := lang.Of(f.path).Defines(name), 0
	for i, line := range f.lines {
		if lang.WordAt(line, name) < 0 || c.shown(f.path, i+1) {
			continue
		}
		if defines(line) {
			return i + 1
		}
		at = cmp.Or(at, i+1)
		if looked++; looked == maxLooked {
			break
		}
	}
	return at
}

// add adds lines of a file and some around them, unless they are shown.
func (c *citations) add(f namedFile, first, last int) {
	if len(c.pieces) == maxCited || first < 1 || last < first || len(f.lines) < last ||
		c.shown(f.path, first) && c.shown(f.path, last) {
		return
	}
	from, to := max(1, first-around), min(last+around, first+citedLines, len(f.lines))
	c.pieces = append(c.pieces, prompt.Piece{Path: f.path, StartLine: from, Why: "cited",
		Text: strings.Join(f.lines[from-1:to], "")})
}

// shown reports whether the diff, the pack or an added piece has a line.
func (c *citations) shown(file string, line int) bool {
	return file == c.in.Path && slices.ContainsFunc(c.hunks, func(h diff.Hunk) bool {
		return h.NewStart <= line && line < h.NewStart+h.NewLines
	}) || slices.ContainsFunc(slices.Concat(c.in.Pack, c.pieces), func(p prompt.Piece) bool {
		return p.Path == file && p.StartLine <= line && line <= p.EndLine()
	})
}

// file returns the file that a finding means by a name, and reads it once.
func (c *citations) file(ctx context.Context, name string) namedFile {
	f, ok := c.read[name]
	if !ok && len(c.read) < maxNamed && ctx.Err() == nil {
		f = c.named(ctx, c.in, name)
		c.read[name] = f
	}
	return f
}

// namedFile is a file that a finding names; without lines if there is none.
type namedFile struct {
	path  string
	lines []string
}

// named reads the file of the new tree that a finding means by a name: that path or, as models write it, the end of the
// path of a file that they were shown or read, or the name of one next to theirs.
func (t *task) named(ctx context.Context, in prompt.Input, name string) namedFile {
	known := []string{name, in.Path}
	for _, p := range in.Pack {
		known = append(known, p.Path)
	}
	for _, c := range t.out.Calls {
		for _, made := range c.Tools {
			var read struct {
				Path string `json:"path"`
			}
			_ = json.Unmarshal([]byte(made.Arguments), &read) // a model's words: there may be no path
			known = append(known, read.Path)
		}
	}
	for _, file := range append(known, path.Join(path.Dir(in.Path), name)) {
		if t.Head == nil || !strings.HasSuffix("/"+file, "/"+name) {
			continue
		}
		if text, err := t.Head(ctx, file); err == nil {
			clean := t.Redact.Redact(string(text)) // of the whole file: a key's middle looks like text
			return namedFile{file, strings.SplitAfter(clean, "\n")}
		}
	}
	return namedFile{}
}
