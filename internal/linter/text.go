package linter

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/wording"
)

// Limits of a result's texts, in characters.
const (
	maxName    = 120
	maxHelp    = 300
	maxMessage = 2000
	maxTitle   = 160
)

// clean bounds and redacts a result's texts. What a credential scanner found is a
// credential, which some scanners repeat in their message.
func (r *Result) clean() {
	if seen := strings.TrimSpace(r.Snippet); len(seen) >= 8 && !strings.ContainsFunc(seen, unicode.IsSpace) &&
		strings.Contains(r.Message, seen) && scanner().MatchString(r.Tool+" "+r.Rule) {
		r.Message = strings.ReplaceAll(r.Message, seen, "<redacted>")
	}
	r.Tool, r.Rule = cleanWord(r.Tool), cleanWord(r.Rule)
	r.Message = strings.TrimSpace(guard.Cut(secret.Redact(plain(r.Message)), maxMessage))
	r.Message = strings.TrimSuffix(r.Message, " ("+r.Rule+")")
	if u, err := url.Parse(r.Help); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil ||
		len(r.Help) > maxHelp || secret.Redact(r.Help) != r.Help || guard.Visible(r.Help) != r.Help {
		r.Help = ""
	}
}

// scanner matches tools and rules that search for credentials.
var scanner = pattern.Lazy(`(?i)leak|secret|credential|truffle|password|token|api-?key|private-?key`)

// cleanWord returns a name bounded, redacted and on one line.
func cleanWord(s string) string {
	return strings.Join(strings.Fields(guard.Cut(secret.Redact(plain(s)), maxName)), " ")
}

// plain removes control characters from a text and makes other invisible ones visible.
func plain(s string) string {
	s = guard.Cut(strings.ToValidUTF8(s, "\ufffd"), 4*maxMessage)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", " ")
	return guard.Visible(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, s))
}

// link matches SARIF's links to places in a message; only their text is kept.
var link = pattern.Lazy(`\[([^\[\]]{1,200})\]\([0-9]{1,4}\)`)

var sentenceEnd = pattern.Lazy(`[.!?](?:\s|$)`)

// splitTitle splits a message into its first sentence, as a title, and the rest.
func splitTitle(message string) (title, rest string) {
	message = link().ReplaceAllString(message, "$1")
	title, rest, _ = strings.Cut(message, "\n")
	if at := sentenceEnd().FindStringIndex(title); at != nil && at[0] >= 12 {
		title, rest = title[:at[0]], title[at[1]:]+"\n"+rest
	}
	if utf8.RuneCountInString(title) > maxTitle {
		return guard.Cut(title, maxTitle), wording.Paragraphs(message)
	}
	return title, wording.Paragraphs(rest)
}
