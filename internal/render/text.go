package render

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Count is a number with its noun: "1 file", "2,000 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

// amount is a number with what it counts: a noun has its plural, anything else none,
// as in "2 lockfiles" and "2 binary".
func amount(n int, what string) string {
	switch what {
	case "lockfile", "asset", "submodule", "duplicate":
		return Count(n, what)
	}
	return Thousands(int64(n)) + " " + what
}

// Thousands is a number with commas: "2,000".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func minute(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// duration is "12.4 s" or "2 min 5 s".
func duration(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	s := int(d.Seconds())
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

// costParts says what the model cost, in parts to be joined; none without calls.
func costParts(u cost.Usage, limit cost.MicroUSD) []string {
	if u.Calls == 0 {
		return nil
	}
	parts := calls(u)
	switch {
	case u.Unpriced > 0:
		return append(parts, price(u))
	case limit > 0:
		return append(parts, u.Cost.String()+" of "+limit.String())
	case u.Cost > 0: // an endpoint that names no price did not work for nothing
		return append(parts, u.Cost.String())
	}
	return parts
}

// Used is a line on what a review has used in all; empty where no model was asked.
func Used(u cost.Usage) string {
	if u.Calls == 0 {
		return ""
	}
	return "used: " + strings.Join(costParts(u, 0), ", ") + "\n"
}

// price is what a usage cost, as far as that is known.
func price(u cost.Usage) string {
	switch {
	case u.Unpriced == 0:
		return u.Cost.String()
	case u.Cost > 0:
		return u.Cost.String() + " and calls whose price is not known"
	}
	return "price not known"
}

// calls says how often a model was asked, in parts to be joined; none where it was not.
func calls(u cost.Usage) []string {
	if u.Calls == 0 {
		return nil
	}
	return []string{Count(int(u.Calls), "model call"), Thousands(u.Tokens()) + " tokens"}
}

// upperFirst starts a sentence of ours.
func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// list joins words: "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// sentences puts sentences behind each other; empty ones are left out.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// grouped brings together what has the same key, in the order in which the keys
// first appear.
func grouped[T any, K comparable](all []T, key func(T) K) [][]T {
	var groups [][]T
	index := map[K]int{}
	for _, one := range all {
		i, ok := index[key(one)]
		if !ok {
			i = len(groups)
			index[key(one)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// clip cuts text at limit runes and says how much was left out.
func clip(s string, limit int) (kept string, left int) {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, 0
	}
	return string([]rune(s)[:limit]), n - limit
}

// firstTime is the earlier of two times, of which the second may be unknown.
func firstTime(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// ANSI colours of a terminal, by what they mean here.
const (
	Bold  = "1"
	Dim   = "2"
	green = "32"
	red   = "31"
	cyan  = "36"
)

// SeverityColor is the colour of a severity's name; empty for none that is known.
func SeverityColor(s finding.Severity) string {
	return map[finding.Severity]string{finding.Blocker: "1;31", finding.Major: "33", finding.Minor: "36",
		finding.Nit: Dim}[s]
}

// Paint puts text in a colour where colours are on.
func Paint(on bool, color, s string) string {
	if !on || s == "" || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// paragraphs joins blocks with one empty line between; empty ones are left out.
func paragraphs(blocks ...string) string {
	var kept []string
	for _, b := range blocks {
		if b = strings.Trim(b, "\n"); b != "" {
			kept = append(kept, b)
		}
	}
	return strings.Join(kept, "\n\n")
}

// details is a folded block. The summary is HTML, the text Markdown.
func details(summary, text string) string {
	return "<details><summary>" + summary + "</summary>\n\n" + strings.Trim(text, "\n") + "\n</details>"
}

// coded is what stands as code in a folded block's summary: code spans, and what
// GitHub makes live in any text outside of code, Markdown or not: mentions,
// references, addresses, emoji names and commit hashes.
var coded = pattern.Lazy("`[^`]+`" + `|\S*[@#/]\S*|\S*:\S+:\S*|(?i)gh-[0-9]+|www\.\S+|[0-9a-f]{7,40}`)

// inlineHTML is untrusted text as one line of HTML, for a summary, where
// Markdown is not read but GitHub's own filters still are.
func inlineHTML(s string, limit int) string {
	s = guard.Line(s, limit)
	var b strings.Builder
	last := 0
	for _, at := range coded().FindAllStringIndex(s, -1) {
		b.WriteString(html.EscapeString(s[last:at[0]]))
		b.WriteString(codeHTML(strings.Trim(s[at[0]:at[1]], "`")))
		last = at[1]
	}
	return b.String() + html.EscapeString(s[last:])
}

func codeHTML(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + html.EscapeString(s) + "</code>"
}
