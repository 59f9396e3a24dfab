package secret

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// maxDepth is the number of nested encodings that are decoded.
const maxDepth = 2

// The bytes around a keyword in which its form is searched, within its own line and the next one.
const (
	before = 100
	behind = 700
)

// scan collects the leaks in one text.
type scan struct {
	text       string
	starts     []int // of lines
	depth      int   // how many encodings were decoded to get the text
	leaks      []Leak
	raw        []Leak // leaks that the text contains unencoded
	reversedTo int    // end of the text already read backwards
}

func newScan(text string) *scan {
	s, at := &scan{text: text}, 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		s.starts = append(s.starts, at)
		at += len(line)
	}
	return s
}

// lineAt returns the index of the line at an offset.
func (s *scan) lineAt(at int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at }) - 1
}

// lineEnd returns the offset after a line's text, or the end of the text for a line beyond the last.
func (s *scan) lineEnd(line int) int {
	if line+1 < len(s.starts) {
		return s.starts[line+1] - 1
	}
	return len(s.text)
}

// window is a stretch of the text.
type window struct{ start, end int }

// findForms searches for every form around its keywords.
func (s *scan) findForms() {
	c := forms()
	var windows [][]window // by form; most texts have no keyword
	c.trie.Walk(lower(s.text), func(end, n, number int64) bool {
		at := int(end - n + 1)
		if windows == nil {
			windows = make([][]window, len(c.forms))
		}
		for _, o := range c.owners[number] {
			if o.backward {
				s.searchBackward(at, int(n))
				continue
			}
			windows[o.form] = s.widen(windows[o.form], at, cmp.Or(c.forms[o.form].longest, behind))
		}
		return true
	})
	for i := range windows {
		for _, w := range windows[i] {
			s.search(c.forms[i], w)
		}
	}
}

// widen adds a keyword's surroundings to a form's windows.
func (s *scan) widen(all []window, at, behind int) []window {
	line := s.lineAt(at)
	w := window{max(s.starts[line], at-before), min(s.lineEnd(line+1), at+behind)}
	if last := len(all) - 1; last >= 0 && w.start <= all[last].end {
		all[last].end = max(all[last].end, w.end)
		all[last].start = min(all[last].start, w.start)
		return all
	}
	return append(all, w)
}

func (s *scan) search(f form, w window) {
	if s.depth > 0 && f.grade == Guess {
		return
	}
	if f.mayMatch != nil && !f.mayMatch(s.text[w.start:w.end]) {
		return
	}
	for _, at := range f.re().FindAllStringSubmatchIndex(s.text[w.start:w.end], -1) {
		m := match{text: s.text, whole: s.text[w.start+at[0] : w.start+at[1]]}
		from, to := secretOf(at, f.group)
		m.start, m.end = w.start+from, w.start+to
		if f.name > 0 && at[2*f.name] >= 0 {
			m.name = s.text[w.start+at[2*f.name] : w.start+at[2*f.name+1]]
		}
		if f.admits(m) {
			s.addLeak(f, m)
		}
	}
}

// secretOf returns the group that holds the credential: if group is 0, the longest one, or
// the whole match if that is too short to be a credential.
func secretOf(at []int, group int) (from, to int) {
	if group > 0 {
		return at[2*group], at[2*group+1]
	}
	for i := 2; i < len(at); i += 2 {
		if at[i+1]-at[i] > to-from {
			from, to = at[i], at[i+1]
		}
	}
	if to-from < minKnown {
		return at[0], at[1]
	}
	return from, to
}

func (f form) admits(m match) bool {
	if m.start < 0 || m.start >= m.end || f.entropy > 0 && entropy(m.secret()) <= f.entropy {
		return false
	}
	if f.grade == Guess && !strings.ContainsAny(m.secret(), "0123456789") {
		return false
	}
	if f.falsePositive != nil && f.falsePositive(m) {
		return false
	}
	return !slices.ContainsFunc(f.allow, func(a allowance) bool { return a.holds(m) })
}

// addLeak records a match. A token that is longer than its form is taken whole.
func (s *scan) addLeak(f form, m match) {
	end := m.end
	if f.grade == Issued {
		for end < len(s.text) && isToken(s.text[end]) && isToken(s.text[m.end-1]) {
			end++
		}
	}
	l := Leak{Kind: f.kind, Grade: f.grade, Name: m.name, Start: m.start, End: end}
	if f.kind == urlPassword && isNameInURL(m) {
		l.Grade = Guess
	}
	s.leaks = append(s.leaks, l)
	if f.kind != urlPassword || !isPlainPassword(m) {
		s.raw = append(s.raw, l)
	}
}

// spelling is one encoding of a value. If spread is set, a base64 run around the match goes
// with it: the characters at its ends are shared with the value.
type spelling struct {
	text, kind string
	spread     bool
}
