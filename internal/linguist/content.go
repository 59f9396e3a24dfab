package linguist

import (
	"bytes"
	"iter"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

// findHeaders reports whether a patch shows a generator's header among the first lines of the new file
// (head), and of the old one (base). A header that the change removes does not count for the new file.
func findHeaders(f diff.File) (head, base bool) {
	if templateName().MatchString(f.Path) {
		return false, false // the header is for the template's output
	}
	hunks, err := f.Hunks()
	if err != nil {
		return false, false // the file's review reports an unreadable patch
	}
	for _, h := range hunks {
		for _, l := range h.Lines {
			atHead, atBase := l.Op != diff.Delete && l.New <= headerLines, l.Op != diff.Add && l.Old <= headerLines
			if (atHead || atBase) && isHeader(f.Path, l.Text) {
				head, base = head || atHead, base || atBase
			}
		}
	}
	return head, base
}

// hidesHeader reports whether a file exists at the base and its patch shows nothing of its
// beginning, where a generator's header would be.
func hidesHeader(f diff.File) bool {
	if templateName().MatchString(f.Path) {
		return false
	}
	hunks, err := f.Hunks()
	if err != nil || len(hunks) == 0 || hunks[0].OldStart <= 1 {
		return false
	}
	head, base := findHeaders(f)
	return !head && !base
}

// Bears reports whether a file's text at the base confirms the claim.
func Bears(file string, text []byte, reason finding.Reason) bool {
	switch reason {
	case finding.Generated:
		first := bytes.SplitN(text, []byte("\n"), headerLines+1)
		isHeader := func(line []byte) bool { return isHeader(file, string(line)) }
		return slices.ContainsFunc(first[:min(len(first), headerLines)], isHeader)
	case finding.Minified:
		return hasPackedLines(strings.Lines(string(text)))
	case finding.Binary:
		return bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0
	}
	return false
}

// IsMedia reports whether bytes begin like a picture, sound, film or font, which no
// reviewer reads. Archives and documents may contain code, so they do not count.
func IsMedia(content []byte) bool {
	kind, _, _ := strings.Cut(http.DetectContentType(content), "/")
	return kind == "image" || kind == "audio" || kind == "video" || kind == "font"
}

// binaryHead is the number of bytes in which Git looks for a zero byte, which makes a file binary.
const binaryHead = 8000

const (
	longLine     = 1000 // bytes in a line that no person writes
	minifiedMean = 400  // bytes per added line, on average, of a file without line breaks
)

// isMinified reports whether the added lines are too long to be written by hand: on average,
// and at least one by far. In Markdown people write such lines: a paragraph, or a row of a table.
func isMinified(f diff.File) bool {
	return lang.Of(f.Path).Name != "markdown" && hasPackedLines(func(yield func(string) bool) {
		for line := range strings.Lines(f.Patch) {
			if strings.HasPrefix(line, "+") && !yield(line) {
				return
			}
		}
	})
}

func hasPackedLines(all iter.Seq[string]) bool {
	lines, size, longest := 0, 0, 0
	for line := range all {
		lines, size, longest = lines+1, size+len(line), max(longest, len(line))
	}
	return longest >= longLine && size/lines >= minifiedMean
}

// headerLines is the number of lines of a file that are searched for a generator's header.
const headerLines = 20

// generatedMark matches the headers by which programs mark their output, at the beginning of a line or
// a comment. If a header does not ask to leave the file alone, the program's name decides: people
// continue to edit what "gradle init" created. The first form is Go's (https://go.dev/s/generatedcode).
var generatedMark = pattern.Lazy(`(?i)^\x{feff}?[\s/#*;%.\\"'<!\[{(=-]*(?:` + strings.Join([]string{
	`code generated .* do not edit`,
	`auto-?generated\s*/?>`,
	`(?:(?:this|the) file is )?@generated\b`,
	`(?:(?:this|the) )?file (?:is |was )?(?:auto-?)?generated from (?:our|the|an) openapi\b`,
	`(?:this is )?an? (?:auto(?:matically)?[- ]?|machine[- ])?generated file\b`,
	`(?:(?:this|the) )?(?:\w+ )?(?:file|code|class|parser|module|page)\b.{0,20}\b(?:auto|machine)?[- ]?generated\b` +
		`.*(?:do not|don't) (?:edit|modify|change)`,
	`(?:auto(?:matically)?[- ]?|machine[- ])?generated\b.*(?:do not|don't) (?:edit|modify|change)`,
	`(?:this|the) (?:file|code|class|module) (?:is|was|has been) (?:an )?` +
		`(?:auto(?:matically)?|machine)[- ]?generated\b`,
	`(?:do not|don't) (?:edit|modify|change)\b.{0,60}\b(?:generated|in-place)\b`,
	`(?:(?:this|the)(?: following)? (?:file|code|class|module) (?:is|was|has been) )?` +
		`(?:auto(?:matically)?[- ]?|machine[- ])?(?:generated|created|made)(?: automatically)? ` +
		`(?:by|with|from|using) (?:the )?(?:` + generators + `)\b`,
	`[\w.-]+ (?:-- )?(?:generated|created) by (?:` + generators + `)\b`,
	`generated from .{1,80} by (?:` + generators + `)\b`,
	`a (?:bison parser|lexical scanner generated by flex)\b`,
	`title>(?:lcov -|code coverage report for)`,
	`meta name="?generator"? content="?(?:` + generators + `|org mode|j?latex2html|groff|texi2html)\b`,
	`var __defprop = object\.defineproperty;`, // esbuild
	`meta name="?generator"? content="?(?:mkdocs|docusaurus|hugo|jekyll|hexo|vuepress|vitepress)[ -]v?\d`,
	`link rel="stylesheet"(?: type="text/css")? href="[\w./-]*\bjazzy\.css"`,
	`(?:t )?generator: (?:docbook|asciidoctor)`,
}, "|") + `)|^/\*{6}/ `)

// headerWords lists parts of what generatedMark matches, one for each of its forms.
var headerWords = []string{"generat", "in-place", "created", "made", "on par", "title>", "jazzy", "/******/",
	"__defprop"}

// isHeader reports whether a line is a generator's header. Most lines contain none of the
// words, and searching for these takes a tenth of the time.
func isHeader(file, line string) bool {
	lower := strings.ToLower(line)
	reader := readers[path.Ext(file)]
	return slices.ContainsFunc(headerWords, func(w string) bool { return strings.Contains(lower, w) }) &&
		generatedMark().MatchString(line) &&
		(reader == "" || !strings.Contains(lower, reader) || strings.Contains(lower, "edit"))
}

// readers are programs by the files that they read: one named in such a file, which people write, is
// how its output is made, unless the line asks not to edit the file.
var readers = map[string]string{".proto": "protoc", ".thrift": "thrift", ".g4": "antlr", ".y": "bison", ".l": "flex"}

// generators lists programs whose output people keep and do not edit.
const generators = `javadoc|doxygen|sphinx|docutils|pkgdown|roxygen2|help2man|pod::man|pandoc|ronn|docbook|` +
	`asciidoctor|makeinfo|cython|swig|(?:gnu )?bison|flex|re2c|jflex|antlr|javacc|peg(?:\.js|gy)|jison|racc|ragel|` +
	`haxe|coffeescript|devel::ppport|stainless|tapioca|rustdoc|typedoc|dartdoc|pdoc|docfx|thrift|protoc|` +
	`protocol buffer compiler|grpc|openapi|swagger|jooq|django|(?:gnu )?autoconf|` +
	`(?:gnu )?automake|aclocal|pip-compile|pip-tools|uv|webpack|rollup|esbuild|browserify|javah|wsdl2java|xjc|` +
	`mockery|mockgen|build_runner|sqlc|bindgen|cbindgen|gimp`
