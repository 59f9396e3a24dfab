package sarif

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	titleRunes = 200
	bodyRunes  = 2_000 // longer texts are cut, with a count
)

// placeholder matches what a SARIF reader replaces by an argument. It is doubled, as the standard demands;
// other braces stay as written, since most readers replace nothing else, and findings quote code.
var placeholder = pattern.Lazy(`\{[0-9]+\}`)

// message returns a finding's title as a sentence, then its text. The standard's own links,
// [text](target), are made inert like those of Markdown.
func message(f finding.Finding) string {
	title := strings.TrimSuffix(guard.Inline(f.Title, titleRunes), ".")
	if title != "" {
		title += "."
	}
	text := cmp.Or(wording.Joined("\n\n", title, body(f.Body), body(f.AlsoSaid())), "A finding without words.")
	return placeholder().ReplaceAllString(text, "{$0}")
}

func body(s string) string {
	s, left := wording.Clip(strings.TrimSpace(s), bodyRunes)
	if s = guard.Markdown(s); left > 0 {
		s += fmt.Sprintf("\n\nCut here: %d more characters.", left)
	}
	return s
}

// noPath replaces the path of a finding that is not about a file: without an address code
// scanning refuses the whole upload.
const noPath = "pull-request"

// place returns where a finding is. Lines of the old file, and findings without a line, get
// no region: the commit at which results are shown does not have them.
func place(f finding.Finding) (p physical) {
	p.Artifact.URI = address(f.Path)
	if f.Path != "" && f.Side != finding.Left && f.Line > 0 {
		p.Region = &region{Start: f.Line, End: f.Line}
		if f.StartLine > 0 && f.StartLine < f.Line {
			p.Region.Start = f.StartLine
		} else if f.Quote != "" {
			p.Region.Snippet = &text{guard.Line(strings.TrimSpace(f.Quote), titleRunes)}
		}
	}
	return p
}

// address returns a path as a relative reference (RFC 3986): everything but letters,
// digits, "-._~" and inner slashes is percent-encoded.
func address(path string) string {
	if path == "" {
		return noPath
	}
	escaped := strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
	if rest, absolute := strings.CutPrefix(escaped, "/"); absolute {
		return "%2F" + rest
	}
	return escaped
}
