package secret

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/diff"
)

// PatchLeak is a credential that a patch adds.
type PatchLeak struct {
	Line  int // in the new file, 1-based: the first added line that it is on
	Kind  string
	Grade Grade  // Named or Issued
	Name  string // see Leak
	Text  string // the line, redacted
}

// Patch redacts every line of one file's patch, in diff.Hunks' form, and returns the leaks on added lines, in
// order and once for each line and kind. Guesses are redacted but not returned. Lines, their operators and
// the numbers in hunk headers stay. A text that is not a patch is redacted as text, without leaks.
func Patch(patch string) (clean string, leaks []PatchLeak) {
	hunks, err := diff.Hunks(patch)
	if err != nil {
		return Redact(patch), nil
	}
	rows := rowsOf(patch, hunks)
	contents := make([]string, len(rows))
	for i, r := range rows {
		contents[i] = r.content
	}
	text := strings.Join(contents, "\n")
	found := Find(text)
	if len(found) == 0 {
		return patch, nil
	}
	redacted := strings.Split(redact(text, nil), "\n")
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.mark + redacted[i]
	}
	return strings.Join(lines, "\n"), addedLeaks(newScan(text), found, rows, redacted)
}

// row is one line of a patch: its marker, which stays, and its content.
type row struct {
	mark, content string
	added         int  // line number in the new file; 0 if it is not added
	removed       bool // a line only in the old file
}

// rowsOf splits a patch into rows, along its hunks. The text after a header's second @@ is code, too.
func rowsOf(patch string, hunks []diff.Hunk) []row {
	lines := strings.Split(patch, "\n")
	rows := make([]row, 0, len(lines))
	next := func() string { line := lines[len(rows)]; return line }
	for _, h := range hunks {
		header := next()
		mark := strings.Index(header[2:], "@@") + 4
		rows = append(rows, row{mark: header[:mark], content: header[mark:]})
		for _, l := range h.Lines {
			for strings.HasPrefix(next(), `\`) {
				rows = append(rows, row{mark: next()})
			}
			rows = append(rows, rowOf(next(), l))
		}
		for len(rows) < len(lines) && strings.HasPrefix(next(), `\ `) {
			rows = append(rows, row{mark: next()})
		}
	}
	for len(rows) < len(lines) {
		rows = append(rows, row{mark: next()})
	}
	return rows
}

func rowOf(line string, l diff.Line) row {
	r := row{mark: strings.TrimSuffix(line, l.Text), content: l.Text, removed: l.Op == diff.Delete}
	if l.Op == diff.Add {
		r.added = l.New
	}
	return r
}

// addedLeaks returns the leaks on added rows; one that spans several is reported at its first. A
// value that a removed row also contains is not new: its line was moved or reworded.
func addedLeaks(s *scan, found []Leak, rows []row, redacted []string) []PatchLeak {
	var out []PatchLeak
	type place struct {
		line int
		kind string
	}
	seen := map[place]bool{}
	for _, l := range found {
		first, last := s.lineAt(l.Start), s.lineAt(l.End-1)
		at := slices.IndexFunc(rows[first:last+1], func(r row) bool { return r.added > 0 })
		value := s.text[l.Start:l.End]
		if strings.Contains(value, "k_test_") {
			l.Grade = Named // from Stripe's test mode
		}
		moved := slices.ContainsFunc(rows, func(r row) bool { return r.removed && strings.Contains(r.content, value) })
		if at < 0 || moved || l.Grade == Guess || l.Grade == Named && (isHarmless(l, value) ||
			allComments(rows[first:last+1])) ||
			l.Grade == Issued && l.Kind != keyKind && hasTokenPattern(rows[max(0, first-2):min(len(rows), first+3)]) ||
			l.Kind == keyKind && allComments(rows[first+1:last+1]) ||
			isPublic(l, value, rows[max(0, first-keyContext):min(len(rows), first+keyContext+1)]) {
			continue
		}
		line := rows[first+at].added
		if !seen[place{line, l.Kind}] {
			seen[place{line, l.Kind}] = true
			out = append(out, PatchLeak{Line: line, Kind: l.Kind, Grade: l.Grade, Name: l.Name,
				Text: redacted[first+at]})
		}
	}
	return out
}

var (
	hexDigest = lazy(`\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b`)
	elsewhere = lazy(`^[a-z_]+(?::[\w,]+)?(?:\|[a-z_]+(?::[\w,]+)?)+$|^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$` +
		`|(?i:^(?:credentialsjson|vault|secrets?manager|ssm|kms|op|keyvault|sops|env|arn)[:/])`)
	derived = lazy(`(?i)(?:early|derived|handshake|traffic)_?secret$`)
	uuid    = lazy(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	letters = lazy(`^[A-Za-z]{6,}\s*$`)
	digest  = lazy(`^(?:\{CRYPT\})?\$(?:argon2|pbkdf2|scrypt|(?:[156]|2[abxy]?)\$)`)
	comment = lazy(`^\s*(?:#|//|\*|;|--)\s`)
	ownForm = lazy(`(?:\[[^\]\s]*\w-\w[^\]\s]*\]|\\w)(?:\{\d|[+*])`)
)

// hasTokenPattern reports whether lines contain a token's regular expression, so that a token
// next to it is a value to try it on.
func hasTokenPattern(around []row) bool {
	return slices.ContainsFunc(around, func(r row) bool { return ownForm().MatchString(r.content) })
}

// allComments reports whether all lines are comments: a sample of how a credential is written.
func allComments(body []row) bool {
	return len(body) > 0 && !slices.ContainsFunc(body, func(r row) bool { return !comment().MatchString(r.content) })
}

// isHarmless reports whether a value shows that it is not a credential in spite of its name: a
// search key for browsers, an identifier or a location in a store, a counting sample,
// base64 of words, a value that a protocol derives, a request's ID, and a password's hash.
func isHarmless(l Leak, value string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return l.Kind == "algolia-api-key" || strings.Contains(value, "0123456789") || !isASCII(value) ||
		digest().MatchString(value) || elsewhere().MatchString(value) || derived().MatchString(l.Name) ||
		err == nil && letters().Match(plain) ||
		strings.Contains(strings.ToLower(l.Name), "token") && uuid().MatchString(value)
}

// keyContext is the number of lines around a key that are searched for its purpose.
const keyContext = 6

var (
	forPages = lazy(`(?i)bugsnag|rollbar|raygun|exceptron|algolia|docsearch|indexName|\bappId\b|authDomain` +
		`|firebaseapp|google-services|mobilesdk|maps\.google`)
	secretly  = lazy(`(?i)secret|token|passw|salt`)
	searchKey = lazy(`^[0-9a-f]{32}$`)
)

// isPublic reports whether a value is one of several checksums, or a key meant for browsers and
// apps, such as those of search boxes, maps and Firebase: its owner has limited what it may do.
func isPublic(l Leak, value string, around []row) bool {
	digests := 0
	for _, r := range around {
		if hexDigest().MatchString(r.content) && !secretly().MatchString(r.content) {
			digests++
		}
	}
	if digests > 2 && hexDigest().MatchString(value) && !secretly().MatchString(l.Name) {
		return true // one of a table's checksums
	}
	if l.Kind != "gcp-api-key" && !(strings.HasSuffix(strings.ToLower(l.Name), "key") &&
		searchKey().MatchString(value)) {
		return false
	}
	return slices.ContainsFunc(around, func(r row) bool { return forPages().MatchString(r.content) })
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
