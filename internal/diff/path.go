package diff

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// maxPath is the length in bytes from which a path is refused; Linux has the
// same limit.
const maxPath = 4096

// CheckPath refuses a path of a diff that could leave the tree or name another
// file than it seems to: empty, absolute, unclean, with "..", a backslash, a
// NUL, a drive letter, or not UTF-8.
func CheckPath(p string) error {
	reason := ""
	switch {
	case p == "" || p == ".":
		reason = "names no file"
	case len(p) >= maxPath:
		reason = fmt.Sprintf("is longer than %d bytes", maxPath-1)
	case !utf8.ValidString(p):
		reason = "is not UTF-8"
	case strings.ContainsAny(p, "\x00\\"):
		reason = "holds a NUL or a backslash"
	case strings.HasPrefix(p, "/") || len(p) > 2 && p[1:3] == ":/":
		reason = "is absolute"
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		reason = "leaves the tree"
	case path.Clean(p) != p:
		reason = "is not clean"
	default:
		return nil
	}
	return fmt.Errorf("path %.200q %s", p, reason)
}
