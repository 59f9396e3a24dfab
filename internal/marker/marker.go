// Package marker writes and reads the HTML comments that identify a posted review and its inline
// comments.
//
// Anybody can write a marker, so the caller must check who posted it. Start reading at Review.
package marker

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// Review identifies a posted review, and remembers what was decided. It is an HTML comment in the
// last line. The lists contain fingerprints of 16 hex digits, the most important ones first.
type Review struct {
	Thread   string   // owner/repo#42:<head>, with @instance after the number
	Digest   string   // of the checkpoint, hex
	Approved string   // digest of what was approved, hex
	Diff     string   // digest of the diff, hex; empty if unknown
	Posted   []string // findings that reviews of the pull request report
	Named    []Named  // details of each of Posted, in its order; nil if unknown
	Dropped  []string // findings that approvers dropped
	Resolved []string // findings that were announced as resolved
	MAC      string   // of everything before it, hex, as it was read; empty if there is none
	Key      []byte   // for the MAC that String writes; nil for none
}

const maxPrints = 400 // limit of each list, for writing and reading

var (
	markerLine = pattern.Lazy(`^<!-- pr-review:v1` +
		` thread=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+#[0-9]+(?:@[a-z0-9-]+)?:[0-9a-f]+) digest=([0-9a-f]+)` +
		` approved=([0-9a-f]+)` +
		`(?: posted=([0-9a-f,]+))?(?: dropped=([0-9a-f,]+))?(?: resolved=([0-9a-f,]+))?` +
		`(?: ids=([0-9bMmn?+,]+))?(?: diff=([0-9a-f]{64}))?(?: mac=([0-9a-f]{64}))? -->$`)
	fingerprint        = pattern.Lazy(`^[0-9a-f]{16}$`)
	commentMark        = pattern.Lazy(`^<!-- pr-review:f=([0-9a-f]{16}) -->$`)
	gradedLine         = pattern.Lazy(`^\*\*([A-Z][a-z]+)(?:: (.+))?\*\*$`)
	escapedPunctuation = pattern.Lazy(`\\([!-/:-@\[-` + "`" + `{-~])`)
)

// String returns the marker's line, with at most 400 fingerprints of each list. It returns "" if a
// field is malformed, so that nothing from outside can get into the comment.
func (m Review) String() string {
	line := m.format()
	if _, ok := Parse(line); !ok {
		return ""
	}
	return line
}

func (m Review) format() string {
	line := fmt.Sprintf("<!-- pr-review:v1 thread=%s digest=%s approved=%s", m.Thread, m.Digest, m.Approved)
	for _, list := range []struct {
		name   string
		prints []string
	}{{"posted", m.Posted}, {"dropped", m.Dropped}, {"resolved", m.Resolved}} {
		if len(list.prints) > 0 {
			line += " " + list.name + "=" + strings.Join(list.prints[:min(len(list.prints), maxPrints)], ",")
		}
	}
	if n := min(len(m.Posted), maxPrints); n > 0 && len(m.Named) >= n {
		var ids []string
		for _, of := range m.Named[:n] {
			ids = append(ids, of.String())
		}
		line += " ids=" + strings.Join(ids, ",")
	}
	if m.Diff != "" {
		line += " diff=" + m.Diff
	}
	if m.Key != nil {
		h := hmac.New(sha256.New, m.Key)
		h.Write([]byte(line))
		line += fmt.Sprintf(" mac=%x", h.Sum(nil))
	}
	return line + " -->"
}

// Sealed reports whether a marker that was read has the key's MAC: thread, digest, approved set
// and every list are as they were posted.
func (m Review) Sealed(key []byte) bool {
	m.Key = key
	read, ok := Parse(m.format())
	return key != nil && ok && hmac.Equal([]byte(read.MAC), []byte(m.MAC))
}

// Within returns the marker with its longest list shortened, from the end, until its line has at
// most size bytes.
func (m Review) Within(size int) Review {
	lists := []*[]string{&m.Posted, &m.Dropped, &m.Resolved}
	for _, list := range lists {
		*list = (*list)[:min(len(*list), maxPrints)]
	}
	for len(m.format()) > size {
		longest := slices.MaxFunc(lists, func(a, b *[]string) int { return cmp.Compare(len(*a), len(*b)) })
		if len(*longest) == 0 {
			break
		}
		*longest = (*longest)[:len(*longest)-1]
	}
	return m
}

// Same reports whether two markers identify the same approved review. The lists do not count.
func (m Review) Same(other Review) bool {
	return m.Thread == other.Thread && m.Digest == other.Digest && m.Approved == other.Approved
}

// MayBeOf reports whether the review may be of a diff: it is, or one of the two is unknown.
func (m Review) MayBeOf(diff string) bool { return m.Diff == "" || diff == "" || m.Diff == diff }

// Parse reads the marker of a posted review's body: only the last line, in exactly the form that
// String writes. The caller must check who posted the review.
func Parse(body string) (Review, bool) {
	found := markerLine().FindStringSubmatch(lastLine(body))
	if found == nil {
		return Review{}, false
	}
	m := Review{Thread: found[1], Digest: found[2], Approved: found[3], Diff: found[8], MAC: found[9]}
	for i, list := range []*[]string{&m.Posted, &m.Dropped, &m.Resolved} {
		if found[4+i] == "" {
			continue
		}
		*list = strings.Split(found[4+i], ",")
		wrong := func(print string) bool { return !fingerprint().MatchString(print) }
		if len(*list) > maxPrints || slices.ContainsFunc(*list, wrong) {
			return Review{}, false
		}
	}
	if found[7] == "" {
		return m, true
	}
	for _, text := range strings.Split(found[7], ",") {
		of, ok := parseNamed(text)
		if m.Named = append(m.Named, of); !ok {
			return Review{}, false
		}
	}
	return m, len(m.Named) == len(m.Posted)
}

func lastLine(body string) string {
	body = strings.TrimRight(body, " \t\r\n")
	return body[strings.LastIndexByte(body, '\n')+1:]
}

// Comment returns the marker of a posted inline comment: an HTML comment for its last line. It
// returns "" if print is not a fingerprint.
func Comment(print string) string {
	if !fingerprint().MatchString(print) {
		return ""
	}
	return "<!-- pr-review:f=" + print + " -->"
}

// ParseComment reads an inline comment of ours: the fingerprint from the marker in its last line,
// severity and title from its first line as render writes it. Both are empty if the comment was
// edited so that they cannot be read. The title is untrusted text, without the escaping
// backslashes. The caller must check who posted the comment.
func ParseComment(body string) (print, severity, title string, ok bool) {
	mark := commentMark().FindStringSubmatch(lastLine(body))
	if mark == nil {
		return "", "", "", false
	}
	first, _, _ := strings.Cut(body, "\n")
	head := gradedLine().FindStringSubmatch(strings.TrimSpace(first))
	if head == nil {
		return mark[1], "", "", true
	}
	s, err := finding.ParseSeverity(strings.ToLower(head[1]))
	if err != nil {
		return mark[1], "", "", true
	}
	return mark[1], string(s), escapedPunctuation().ReplaceAllString(head[2], "$1"), true
}

// Named is what a review's marker says about a posted finding besides its fingerprint.
type Named struct {
	ID       string           // such as F1; empty if unknown
	Severity finding.Severity // as it was posted; empty if unknown
	Listed   bool             // the finding with this id lists its line
}

var namedForm = pattern.Lazy(`^(0|[1-9][0-9]{0,5})([bMmn?])(\+?)$`)

// severityLetters are the severities' letters, weakest first: M is major, m minor.
const severityLetters = "nmMb"

// String returns "7b" for the blocker F7, and "7b+" for a line that it lists; 0 and ? mean
// unknown.
func (n Named) String() string {
	text := "?"
	if rank := n.Severity.Rank(); rank >= 0 {
		text = severityLetters[rank : rank+1]
	}
	if n.Listed {
		text += "+"
	}
	if number := strings.TrimPrefix(n.ID, "F"); namedForm().MatchString(number + text) {
		return number + text
	}
	return "0" + text
}

func parseNamed(text string) (n Named, ok bool) {
	found := namedForm().FindStringSubmatch(text)
	if found == nil {
		return n, false
	}
	if found[1] != "0" {
		n.ID = "F" + found[1]
	}
	if rank := strings.Index(severityLetters, found[2]); rank >= 0 {
		n.Severity = finding.Severities()[rank]
	}
	n.Listed = found[3] != ""
	return n, true
}
