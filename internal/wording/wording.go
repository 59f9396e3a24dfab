// Package wording formats numbers, money, times and lists in the words that every screen
// uses, and wraps text. It knows neither Markdown nor what is reviewed.
package wording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
)

// Count returns a number with its noun: "1 file", "2,000 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

// Amount returns a number with what it counts. Nouns get a plural, other words do not, as
// in "2 lockfiles" and "2 binary".
func Amount(n int, what string) string {
	switch what {
	case "lockfile", "asset", "submodule", "duplicate":
		return Count(n, what)
	}
	return Thousands(int64(n)) + " " + what
}

// Any is like Amount, but returns "" for 0.
func Any(n int, what string) string {
	if n == 0 {
		return ""
	}
	return Amount(n, what)
}

// Thousands returns a number with commas: "2,000".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Minute returns a time to the minute: "5 December 2026, 14:10 UTC".
func Minute(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// Duration returns a duration as "12.4 s" or "2 min 5 s".
func Duration(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	s := int(d.Seconds())
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

// Span returns a duration without zero parts, as settings take it: 10m, 1h30m.
func Span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Costs returns what the model cost, in parts to be joined, or nil without calls. A limit
// of 0 means none.
func Costs(u cost.Usage, limit cost.MicroUSD) []string {
	parts := Calls(u)
	if u.Calls > 0 && (u.Cost > 0 || u.Unpriced > 0 || limit > 0) { // a model without a price did not work for free
		parts = append(parts, Price(u, limit))
	}
	return parts
}

// Price returns what a usage cost, of a limit if there is one, as far as that is known.
func Price(u cost.Usage, limit cost.MicroUSD) string {
	switch {
	case u.Unpriced > 0 && u.Cost > 0:
		return u.Cost.String() + " and calls whose price is not known"
	case u.Unpriced > 0:
		return "price not known"
	case limit > 0:
		return u.Cost.String() + " of " + limit.String()
	}
	return u.Cost.String()
}

// Calls returns how often a model was called and its tokens if the server counts them, in parts to be joined, or nil
// without calls.
func Calls(u cost.Usage) []string {
	switch calls := Count(int(u.Calls), "model call"); {
	case u.Calls == 0:
		return nil
	case u.Tokens() == 0:
		return []string{calls}
	default:
		return []string{calls, Thousands(u.Tokens()) + " tokens"}
	}
}

// UpperFirst returns s with its first letter in upper case, to begin a sentence.
func UpperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// List joins words: "a", "a and b", "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Joined joins the texts that are not empty.
func Joined(with string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), with)
}

// Clip cuts text to limit runes and returns how many were left out.
func Clip(s string, limit int) (kept string, left int) {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, 0
	}
	return string([]rune(s)[:limit]), n - limit
}

// Paragraphs leaves one blank line where a text from outside has several, and two in a code block, where Python has
// them: a long gap would push what is below it out of the reader's sight.
func Paragraphs(s string) string {
	var kept []string
	code, blank := false, 0
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if blank++; strings.TrimSpace(line) != "" {
			blank = 0
		}
		mark := strings.TrimLeft(line, " ")
		code = code != (strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~"))
		if blank < 2 || blank == 2 && code {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// Wrapped wraps a text and guards each row: a row may begin, within the text, with what
// acts at the start of a line.
func Wrapped(s string, width int) []string {
	rows := column.Wrap(s, width-1)
	for i, row := range rows {
		rows[i] = guard.Text(row)
	}
	return rows
}

// Words returns one of our names in words: "over budget" for over_budget. Text that has spaces stays as it is.
func Words(s string) string {
	if strings.Contains(s, " ") {
		return s
	}
	return strings.ReplaceAll(s, "_", " ")
}
