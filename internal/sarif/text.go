package sarif

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	titleRunes = 200
	bodyRunes  = 2_000 // what is longer is cut, with a count
)

// placeholder is what a reader of SARIF replaces by an argument. It is doubled, as the standard says; other braces
// stay as they are written, since most readers replace nothing but this, and findings quote code.
var placeholder = regexp.MustCompile(`\{[0-9]+\}`)

// message is a finding's title as a sentence, then its text. Links of the
// standard's own kind, [text](target), are inert as those of Markdown are.
func message(f finding.Finding) string {
	title := strings.TrimSuffix(guard.Inline(f.Title, titleRunes), ".")
	if title != "" {
		title += "."
	}
	text := cmp.Or(wording.Joined("\n\n", title, body(f.Body), body(f.AlsoSaid())), "A finding without words.")
	return placeholder.ReplaceAllString(text, "{$0}")
}

func body(s string) string {
	s, left := wording.Clip(strings.TrimSpace(s), bodyRunes)
	if s = guard.Markdown(s); left > 0 {
		s += fmt.Sprintf("\n\nCut here: %d more characters.", left)
	}
	return s
}

// nowhere stands for a path where a finding is about no file: without an address
// code scanning refuses the whole upload.
const nowhere = "pull-request"

// place is where a finding stands. Lines of the old file, and those of no file,
// have no region: the commit that results are shown at does not have them.
func place(f finding.Finding) physical {
	p := physical{Artifact: artifact{address(f.Path)}}
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

// address is a path as a relative reference (RFC 3986): everything but letters,
// digits, "-._~" and inner slashes is percent-encoded.
func address(path string) string {
	if path == "" {
		return nowhere
	}
	escaped := strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
	if rest, absolute := strings.CutPrefix(escaped, "/"); absolute {
		return "%2F" + rest
	}
	return escaped
}
