package render

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

var (
	pullName   = pattern.Lazy(`^#[0-9]+$`)
	commitName = pattern.Lazy(`^[0-9a-f]{7,64}$`)
	webAddress = pattern.Lazy(`^https?://[A-Za-z0-9.:_-]+(/[A-Za-z0-9._-]+){2}$`)
)

// Label returns the name of what is reviewed as inert Markdown: "#42" as it is, anything else as
// code.
func (r Review) Label() string {
	if pullName().MatchString(r.Name) {
		return r.Name
	}
	return guard.Code(r.Name)
}

// linkable reports whether links into the repository can be made.
func (r Review) linkable() bool {
	return webAddress().MatchString(r.Web) && commitName().MatchString(r.Head)
}

// ActionsPage returns the address of a page of the repository's Actions; "" if none can be made.
func (r Review) ActionsPage(path string) string {
	if !webAddress().MatchString(r.Web) {
		return ""
	}
	return r.Web + "/actions/" + escapePath(path)
}

// Commit returns the reviewed commit's short name, linked if there is a page.
func (r Review) Commit() string {
	short := guard.Code(r.Head[:min(len(r.Head), 7)])
	if !r.linkable() {
		return short
	}
	return fmt.Sprintf("[%s](%s/commit/%s)", short, r.Web, r.Head)
}

// link returns text, which is inert already, as a link to the finding's lines. Lines of the old
// file have no page at the reviewed commit.
func (r Review) link(text string, f finding.Finding) string {
	if !r.linkable() || f.Path == "" || f.Side == finding.Left {
		return text
	}
	url := r.Web + "/blob/" + r.Head + "/" + escapePath(f.Path)
	if strings.EqualFold(path.Ext(f.Path), ".md") {
		url += "?plain=1" // else GitHub shows the page rendered, without lines
	}
	return fmt.Sprintf("[%s](%s%s)", text, url, lineAnchor(f))
}

func lineAnchor(f finding.Finding) string {
	switch {
	case f.Line <= 0:
		return ""
	case f.StartLine > 0 && f.StartLine < f.Line:
		return fmt.Sprintf("#L%d-L%d", f.StartLine, f.Line)
	}
	return fmt.Sprintf("#L%d", f.Line)
}

func escapePath(p string) string {
	var b strings.Builder
	for _, c := range []byte(p) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/.-", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// shortPath returns a path that fits on a phone: the last folders of a long one. The list of
// files has the whole path.
func shortPath(p string) string { return lastFolders(p, 32) }

// lastFolders shortens a path of more than most runes to as many of its last folders as fit, and
// always keeps the name of the file.
func lastFolders(p string, most int) string {
	if utf8.RuneCountInString(p) <= most {
		return p
	}
	for rest := p; ; {
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return "…/" + rest
		}
		if rest = after; utf8.RuneCountInString(rest) <= most {
			return "…/" + rest
		}
	}
}

// lines returns the position of a finding in its file: "line 88", "lines 41–44", "old line 12";
// "" for the file as a whole.
func lines(f finding.Finding) string {
	if f.Line <= 0 {
		return ""
	}
	before := ""
	if f.Side == finding.Left {
		before = "old "
	}
	if f.StartLine > 0 && f.StartLine < f.Line {
		return fmt.Sprintf("%slines %d–%d", before, f.StartLine, f.Line)
	}
	return fmt.Sprintf("%sline %d", before, f.Line)
}

// oldSuffix returns the suffix for the position of a line of the old file.
func oldSuffix(f finding.Finding) string {
	if f.Side == finding.Left && f.Line > 0 {
		return " (old)"
	}
	return ""
}

// Place returns the position of a finding on one line for a terminal: path:line, followed by
// "(old)" for a line of the old file.
func Place(f finding.Finding) string {
	if f.Path == "" {
		return "the pull request"
	}
	return guard.Line(position(f), 1000) + oldSuffix(f)
}

// position returns path:line, the short form for lists and the terminal; unescaped.
func position(f finding.Finding) string {
	if f.Line <= 0 {
		return f.Path
	}
	line := f.Line
	if f.StartLine > 0 {
		line = min(f.StartLine, f.Line)
	}
	return fmt.Sprintf("%s:%d", f.Path, line)
}

// ownPage reports whether an address is that of one of the repository's pull requests, or of a
// place on its page.
func (r Review) ownPage(url string) bool {
	rest, ok := strings.CutPrefix(url, r.Web+"/pull/")
	return ok && r.linkable() && strings.Trim(rest, "0123456789#_abcdefghijklmnopqrstuvwxyz-") == ""
}

// ReviewLink returns a link to the review, if the address is one of the repository's own.
func (r Review) ReviewLink(url string) string {
	if !r.ownPage(url) {
		return guard.Inline(url, TitleRunes)
	}
	return "[The review](" + url + ")"
}
