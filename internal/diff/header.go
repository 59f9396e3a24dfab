package diff

import (
	"fmt"
	"strconv"
	"strings"
)

const devNull = "/dev/null"

func (p *parser) readGitHeader() (File, error) {
	names := strings.TrimPrefix(p.header(), "diff --git ")
	f := File{Status: Modified}
	f.Path = gitName(names)
	modes, oldName, newName := false, "", ""
	p.next()
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		key, value, known := cutHeaderKey(strings.TrimSuffix(line, "\r"))
		if !known {
			break
		}
		var err error
		switch key {
		case "new file mode ":
			f.Status = Added
		case "deleted file mode ":
			f.Status = Removed
		case "old mode ", "new mode ":
			modes = true
		case "rename from ", "rename to ", "copy from ", "copy to ":
			err = p.setMovedName(&f, key, value)
		case "--- ":
			oldName, err = p.readName(value)
		case "+++ ":
			newName, err = p.readName(value)
		case "Binary files ":
			f.Binary = true
		case "GIT binary patch":
			f.Binary = true
			p.skipBinary()
			continue
		}
		if err != nil {
			return File{}, err
		}
		p.next()
	}
	if f.Path == "" && oldName != "" && newName != "" {
		_, f.Path = stripPrefixes(oldName, newName)
	}
	if f.Path == "" {
		return File{}, p.errorf("no name can be read from diff --git %.200s", names)
	}
	if !namesAgree(oldName, f.OldPath, f.Path) || !namesAgree(newName, f.Path, "") {
		return File{}, p.errorf("the header of %s names two different files", quote(f.Path))
	}
	if line, _ := p.peek(); modes && f.Status == Modified && !f.Binary && !isHunkHeader(line) {
		f.Status = Changed
	}
	return f, nil
}

// namesAgree reports whether a --- or +++ name agrees with path, or with or if path is empty.
func namesAgree(name, path, or string) bool {
	if path == "" {
		path = or
	}
	return name == "" || name == devNull || name == path || strings.HasSuffix(name, "/"+path)
}

// cutHeaderKey splits a line of git's extended header into its key and the rest.
func cutHeaderKey(line string) (key, value string, ok bool) {
	for _, key := range []string{
		"index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode ",
		"similarity index ", "dissimilarity index ", "rename from ", "rename to ", "copy from ", "copy to ",
		"Binary files ", "GIT binary patch",
	} {
		if value, ok := strings.CutPrefix(line, key); ok {
			return key, value, true
		}
	}
	return "", "", false
}

func (p *parser) setMovedName(f *File, key, value string) error {
	name, err := p.readName(value)
	if err != nil {
		return err
	}
	f.Status = Renamed
	if strings.HasPrefix(key, "copy ") {
		f.Status = Copied
	}
	if strings.HasSuffix(key, " from ") {
		f.OldPath = name
	} else {
		f.Path = name
	}
	return nil
}

// skipBinary skips a binary patch. Its lines contain no space, except the two headings "literal N"
// and "delta N".
func (p *parser) skipBinary() {
	p.next()
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		if strings.Contains(line, " ") && !strings.HasPrefix(line, "literal ") && !strings.HasPrefix(line, "delta ") {
			return
		}
		p.next()
	}
}

// atPlainHeader reports whether the scanner is at the two name lines of a diff without git's
// header. A hunk must follow, because prose may contain such lines.
func (p *parser) atPlainHeader() bool {
	ahead := *p.scanner
	for _, prefix := range []string{"--- ", "+++ ", "@@ -"} {
		line, _ := ahead.peek()
		if !strings.HasPrefix(line, prefix) {
			return false
		}
		ahead.next()
	}
	return true
}

func (p *parser) readPlainHeader() (File, error) {
	old, err := p.readName(strings.TrimPrefix(p.header(), "--- "))
	if err != nil {
		return File{}, err
	}
	p.next()
	new, err := p.readName(strings.TrimPrefix(p.header(), "+++ "))
	if err != nil {
		return File{}, err
	}
	p.next()
	return plainFile(old, new, p.header()), nil
}

// plainFile determines a file's path and status. For a missing file GNU diff -N does not write
// /dev/null; the hunk's empty side tells the same.
func plainFile(old, new, hunk string) File {
	f := File{Status: Modified}
	old, f.Path = stripPrefixes(old, new)
	switch {
	case old == devNull || strings.HasPrefix(hunk, "@@ -0,0 "):
		f.Status = Added
	case new == devNull || strings.Contains(hunk, " +0,0 @@"):
		f.Status = Removed
	}
	return f
}

func (p *parser) readPlainBinary() (File, error) {
	line := strings.TrimSuffix(strings.TrimPrefix(p.header(), "Binary files "), " differ")
	old, new, ok := strings.Cut(line, " and ")
	if !ok {
		return File{}, p.errorf("no names can be read from %.200q", p.header())
	}
	f := plainFile(old, new, "")
	f.Binary = true
	p.next()
	return f, nil
}

// readName reads one name: quoted as git does, or plain up to a tab, which may precede a timestamp.
func (p *parser) readName(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		name, _, _ := strings.Cut(s, "\t")
		return name, nil
	}
	name, _, ok := unquote(s)
	if !ok {
		return "", p.errorf("the quoted name %.200s is damaged", s)
	}
	return name, nil
}

// unquote reads a quoted name at the beginning of s. Git's escapes, including octal bytes, are a
// subset of Go's.
func unquote(s string) (name, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil || quoted[0] != '"' {
		return "", "", false
	}
	name, err = strconv.Unquote(quoted)
	return name, s[len(quoted):], err == nil
}

// gitName returns the name that both halves of a "diff --git" line share. It is empty if they
// differ, as in a rename; further header lines then give the names.
func gitName(names string) string {
	old, new := splitNames(names)
	if old == "" || new == "" {
		return ""
	}
	if o, n := stripPrefixes(old, new); o == n {
		return n
	}
	return ""
}

// splitNames splits a "diff --git" line's two names, either of which may be quoted. Plain names may
// contain spaces; names of equal length are split in the middle.
func splitNames(names string) (old, new string) {
	if strings.HasPrefix(names, `"`) {
		old, rest, _ := unquote(names)
		new := strings.TrimPrefix(rest, " ")
		if strings.HasPrefix(new, `"`) {
			new, _, _ = unquote(new)
		}
		return old, new
	}
	if plain, _, ok := strings.Cut(names, ` "`); ok {
		new, _, _ := unquote(names[len(plain)+1:])
		return plain, new
	}
	mid := len(names) / 2
	for off := range 2 * maxUneven { // the middle first, then outwards
		at := mid + (off+1)/2*(1-off%2*2)
		if splitsAt(names, at) {
			return names[:at], names[at+1:]
		}
	}
	return "", ""
}

// maxUneven is the distance from the middle within which splitNames looks for the split: half of the difference in
// length between the two prefixes.
const maxUneven = 32

func splitsAt(names string, at int) bool {
	if at < 0 || at >= len(names) || names[at] != ' ' {
		return false
	}
	o, n := stripPrefixes(names[:at], names[at+1:])
	return o == n
}

// stripPrefixes removes a/ and b/, or whatever first folder takes their place, from two names that
// are otherwise equal. Names that are equal as written have no prefixes. If new is /dev/null, both
// results are the old path.
func stripPrefixes(old, new string) (string, string) {
	_, o, cutOld := strings.Cut(old, "/")
	_, n, cutNew := strings.Cut(new, "/")
	switch {
	case old == new:
		return old, new
	case old == devNull:
		return old, stripSide(new)
	case new == devNull:
		return stripSide(old), stripSide(old)
	case cutOld && cutNew && o == n:
		return o, n
	}
	return old, new
}

// stripSide removes a prefix of one letter, which is all that can be recognized without the other
// side.
func stripSide(name string) string {
	if len(name) > 2 && name[1] == '/' && strings.IndexByte("abiwco12", name[0]) >= 0 {
		return name[2:]
	}
	return name
}

// parser is positioned between files, or in the prose that may precede one: a commit message, the
// headers of a mail.
type parser struct {
	*scanner
	files     []File
	seen      map[string]int // path to index in files
	prose     bool
	offending int // number of the first line of prose, or 0
}

func quote(path string) string { return fmt.Sprintf("%.200q", path) }
