package secret

import (
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// maxKey is the maximum length of a key in bytes.
const maxKey = 20_000

// What may come between the lines of a key in code, diffs, comments and strings, including
// the header of an encrypted key; and a key's last line.
const (
	between = `(?:\\+[nrt]|[\s"'` + "`" + `,;#*|>()\\+-]|//[ \t]|` +
		`(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\"]{0,100})*`
	ending = `-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`
)

var (
	keyBegin = lazy(`-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
	keyBody  = lazy(`^` + between + `[A-Za-z0-9+/=]{32,}(?:` + between + `[A-Za-z0-9+/=]{16,})*` + `(?:` + between +
		`[A-Za-z0-9+/=]{1,15})?` + between + ending +
		`|^` + between + `[A-Za-z0-9+/=]{32,}(?:` + between + `[A-Za-z0-9+/]{24,}={0,2})*(?:` + between +
		`[A-Za-z0-9+/]{1,23}={1,2})?`)
	keyEnd      = lazy(ending)
	keyMaterial = pattern.Lazy(`^[+-]?[\s"'` + "`" + `,;#*|>+-]*[A-Za-z0-9+/=]{32,}(?:\\+[nr])*[\s"'` + "`" +
		`,;+)]*$`)
	keyLine = lazy(`[A-Za-z0-9+/=]{32,}`)
)

// findKeys finds private keys with their material; a marker alone is not a leak.
func (s *scan) findKeys() {
	if !strings.Contains(s.text, "PRIVATE KEY") {
		return
	}
	taken := 0
	begins := keyBegin().FindAllStringIndex(s.text, -1)
	for i, at := range begins {
		end := min(len(s.text), at[1]+maxKey)
		if i+1 < len(begins) {
			end = min(end, begins[i+1][0])
		}
		body := keyBody().FindString(s.text[at[1]:end])
		if body != "" && at[0] >= taken {
			taken = at[1] + len(strings.TrimRight(body, " \t\r\n"))
			s.addKey(at[0], taken)
		}
	}
	for _, at := range keyEnd().FindAllStringIndex(s.text, -1) {
		if start := s.materialAbove(at[0]); start < at[0] && at[0] >= taken {
			s.addKey(start, at[1])
		}
	}
}

// materialAbove returns the start of the key lines that end above an offset: a patch may show only the end of a key.
func (s *scan) materialAbove(at int) int {
	start, short := at, true
	for line := s.lineAt(at) - 1; line >= 0 && at-s.starts[line] < maxKey; line-- {
		text := s.text[s.starts[line]:s.lineEnd(line)]
		last := short && len(strings.TrimSpace(text)) < 64 && !strings.Contains(strings.TrimSpace(text), " ")
		if !keyMaterial().MatchString(text) && !last {
			break
		}
		short = false
		if keyMaterial().MatchString(text) {
			start = s.starts[line]
		}
	}
	return start
}

func (s *scan) addKey(start, end int) {
	s.leaks = append(s.leaks, Leak{Kind: keyKind, Grade: Issued, Start: start, End: end})
	for _, at := range keyLine().FindAllStringIndex(s.text[start:end], -1) {
		s.raw = append(s.raw, Leak{Kind: keyKind, Grade: Issued, Start: start + at[0], End: start + at[1]})
	}
}
