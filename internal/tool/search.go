package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/tree"
)

// Limits of a search.
const (
	maxQuery   = 500      // bytes
	maxNamed   = 3        // paths that are named
	maxSteps   = 1000     // instructions of a compiled expression
	maxMatched = 16 << 10 // bytes of a line that an expression is matched against
)

type searchArgs struct {
	Query string `json:"query" description:"A text; an RE2 expression where regex is true; or a question in words."`
	Path  string `json:"path" description:"A folder, a file, or a glob such as internal/**/*.go; empty for all."`
	Regex bool   `json:"regex" description:"Whether query is a regular expression."`
}

// SearchCode returns the tool search_code: lines that contain a text or match an expression, by
// path, and, if the query is words or no line contains it, the ten pieces of code that answer it best. Vendored code,
// lockfiles and minified files are searched only if the path names them. open returns the engine
// that ranks; nil for no ranking.
func SearchCode(head Files, open Open) Tool {
	return New("search_code", "Finds lines in the text files of the repository, with the change applied, and shows "+
		"them as path:line: text, without indentation. Upper and lower case differ. For a query in words that asks "+
		"what code does, such as: where is the retry limit checked, it shows the best matching pieces of code. "+
		"Vendored code and lockfiles are searched only if path names them, dependencies outside the repository never.",
		func(ctx context.Context, a searchArgs) (string, error) {
			if open != nil && !a.Regex && len(strings.Fields(a.Query)) > 1 {
				return a.rankedPage(ctx, head, open)
			}
			found, err := a.lines(ctx, head)
			if err != nil {
				return "", err
			}
			return found.page(found.uses.format("hit")), nil
		})
}

// lines returns the lines that contain the text or match the expression.
func (a searchArgs) lines(ctx context.Context, head Files) (*found, error) {
	f, err := a.finder()
	if err != nil {
		return nil, err
	}
	where := a.place()
	if err := where.check(); err != nil {
		return nil, err
	}
	return f.search(ctx, head, where)
}

func (a searchArgs) place() place { return place(strings.Trim(strings.TrimPrefix(a.Path, "./"), "/")) }

func (a searchArgs) finder() (finder, error) {
	switch {
	case strings.TrimSpace(a.Query) == "":
		return finder{}, errors.New("query is empty")
	case len(a.Query) > maxQuery:
		return finder{}, fmt.Errorf("query is longer than %d bytes", maxQuery)
	case strings.Contains(a.Query, "\n"):
		return finder{}, errors.New("query contains a line break; lines are searched one by one")
	case !a.Regex:
		return finder{must: a.Query, match: func(line string) int { return strings.Index(line, a.Query) }}, nil
	}
	return expression(a.Query)
}

// expression matches in time linear in the line, and bounds the factor.
func expression(query string) (finder, error) {
	parsed, err := syntax.Parse(query, syntax.Perl)
	if err != nil {
		return finder{}, fmt.Errorf("query is not an RE2 expression (%w); look-around and back-references are not "+
			"supported", err)
	}
	steps, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(steps.Inst) > maxSteps {
		return finder{}, errors.New("query repeats too much; use smaller counts, or * and +")
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return finder{}, fmt.Errorf("query is not an RE2 expression: %w", err)
	}
	must, _ := re.LiteralPrefix()
	return finder{must: must, match: func(line string) int {
		if at := re.FindStringIndex(line[:min(len(line), maxMatched)]); at != nil {
			return at[0]
		}
		return -1
	}}, nil
}

// place is a path or glob to search; empty means everywhere.
type place string

func (w place) check() error {
	switch flaw := pattern.Flaw(string(w)); {
	case w.globs() == nil:
		return nil
	case strings.Count(string(w), "{") > 1: // matching several takes unbounded time
		return errors.New("path has more than one pair of braces")
	case flaw != "":
		return errors.New("path is not a glob: " + flaw)
	}
	return nil
}

// globs returns the place as pattern.Matches and an index take it; none for everywhere.
func (w place) globs() []string {
	if w == "" || w == "." {
		return nil
	}
	return []string{string(w), string(w) + "/**"}
}

func (w place) has(file string) bool {
	globs, at := w.globs(), string(w) // a file's own name may have brackets
	return globs == nil || file == at || strings.HasPrefix(file, at+"/") || pattern.Matches(globs, file)
}

// unknown returns an error that no file is there. It names where a file or folder of that name is instead, or else one
// of the name of the next folder above.
func (w place) unknown(files []tree.File) error {
	var near []string
	for n, at := 0, string(w); near == nil && n <= maxNamed && at != "."; n, at = n+1, path.Dir(at) {
		for _, file := range files {
			if before, _, ok := strings.Cut("/"+file.Path+"/", "/"+path.Base(at)+"/"); ok && len(near) < maxNamed {
				near = slices.Compact(append(near, strings.Trim(before+"/"+path.Base(at), "/")))
			}
		}
	}
	if near == nil {
		return errors.New("path matches no file")
	}
	return fmt.Errorf("path matches no file; near it: %q", near)
}

// skips reports whether a file is skipped because it is third-party or generated and the path
// does not ask for such files.
func (w place) skips(file string) bool {
	asked := linguist.Unread(string(w)) || linguist.Unread(string(w)+"/file")
	return linguist.Unread(file) && !asked
}

// isMinified reports whether lines are too long on average to be read.
func isMinified(content []byte) bool {
	const mean = 400
	return len(content) > 10*mean && len(content)/(bytes.Count(content, []byte("\n"))+1) >= mean
}
