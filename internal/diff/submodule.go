package diff

import (
	"fmt"
	"regexp"
	"strings"
)

// submoduleLine begins what git writes of a submodule with --submodule=log or diff; below
// stand the names of commits, or diffs of the files within.
var submoduleLine = regexp.MustCompile(
	`^Submodule (.+) (?:([0-9a-f]{7,64})\.\.\.?([0-9a-f]{7,64})(?: \((.+)\))?:?|contains (?:untracked|modified)` +
		` content)\r?$`)

// submodule reads such a line as the file that --submodule=short makes of it, with
// commits as they are abbreviated there. What a work tree holds of one is no change.
func (p *parser) submodule() (File, error) {
	m := submoduleLine.FindStringSubmatch(p.header())
	p.next()
	for line, ok := p.peek(); ok && (strings.HasPrefix(line, "  > ") || strings.HasPrefix(line, "  < ")); {
		p.next()
		line, ok = p.peek()
	}
	f := File{Path: m[1], Status: Modified}
	before, after := "-Subproject commit "+m[2], "+Subproject commit "+m[3]
	switch {
	case m[2] == "" || strings.Trim(m[2]+m[3], "0") == "":
		return f, nil
	case strings.Trim(m[2], "0") == "":
		f.Status, f.Additions, f.Patch = Added, 1, "@@ -0,0 +1 @@\n"+after
	case strings.Trim(m[3], "0") == "":
		f.Status, f.Deletions, f.Patch = Removed, 1, "@@ -1 +0,0 @@\n"+before
	default:
		f.Additions, f.Deletions, f.Patch = 1, 1, fmt.Sprintf("@@ -1 +1 @@\n%s\n%s", before, after)
	}
	return f, nil
}

var (
	coloredHeader = regexp.MustCompile(`(?m)^\x1b\[[0-9;]*mdiff --git `)
	color         = regexp.MustCompile(`\x1b\[[0-9;]*[mK]`)
)

// uncolored takes git's colours out of a diff that was written for a terminal: one
// whose headers have some. Elsewhere such a sequence is part of a file.
func uncolored(text string) string {
	if !coloredHeader.MatchString(text) {
		return text
	}
	return color.ReplaceAllString(text, "")
}
