package decision

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/org/pr-review-action/internal/pattern"
)

// pick is a selector of a command that is not an ID. Check finds the items that it matches.
type pick struct {
	how      How
	text     string // as written; empty for a range
	from, to int    // bounds of a range
	severity Severity
}

// fold normalizes text for comparison: lower case, NFKC, no invisible characters, and one
// form of each quotation mark and of white space.
func fold(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("‘’´`ʼ", r):
			return '\''
		case strings.ContainsRune("“”„«»", r):
			return '"'
		case isInvisible(r) && !strings.ContainsRune(" \t\u00a0\u3000\u202f", r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
}

// foldWord folds a word and cuts punctuation that ends a sentence.
func foldWord(text string) string { return strings.TrimRight(fold(text), ".,;!。、") }

var (
	anyRange    = pattern.Lazy(`^(F[1-9][0-9]{0,5})(?:[-‐‑–—−~〜]|\.\.+)F?([1-9][0-9]{0,5})$`)
	spacedRange = pattern.Lazy(`(F[0-9]+) ?([-‐‑–—−~〜]|\.\.+) ?(F[0-9]+)`)
)

// selector returns a word as the ID, range or severity that it stands for. Any other word
// stays as it is, without code marks and trailing punctuation.
func selector(text string) string {
	plain := strings.Trim(foldWord(text), `'"`)
	if id := strings.ToUpper(plain); idPattern().MatchString(id) || anyRange().MatchString(id) {
		return id
	}
	if severity := Severity(strings.TrimSuffix(plain, "s")); severity.Rank() >= 0 {
		return string(severity)
	}
	return strings.Trim(strings.TrimRight(text, ".,;"), "`")
}

// splitReason splits what a command names from the reason after it. A reason follows a colon or
// "because", or is in brackets.
func splitReason(rest string) (words []string, reason string) {
	for rest = strings.TrimSpace(rest); rest != ""; {
		first, after := cutWord(rest)
		open, last := strings.IndexAny(first, "(（[") == 0, strings.TrimRight(rest, ".,;! ")
		end, _ := utf8.DecodeLastRuneInString(last)
		switch before, _, colon := cutColon(first); {
		case open && strings.ContainsRune(")）]", end):
			return joinRanges(words), strings.TrimSpace(strings.Trim(last, "()（）[]"))
		case foldWord(first) == "because":
			return joinRanges(words), after
		case colon:
			_, reason, _ = cutColon(rest)
			return joinRanges(append(words, selector(before))), reason
		}
		for _, one := range strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(",，、", r) }) {
			words = append(words, selector(one))
		}
		rest = after
	}
	return joinRanges(words), ""
}

// joinRanges joins ranges written with spaces, and drops words that only connect others.
func joinRanges(words []string) []string {
	all := strings.Fields(spacedRange().ReplaceAllString(strings.Join(words, " "), "$1-$3"))
	return slices.DeleteFunc(all, func(w string) bool {
		return slices.Contains([]string{"and", "&", "+"}, foldWord(w))
	})
}

// parseSelection parses what /drop, /keep and /summary name, with an optional reason.
func (d *Decision) parseSelection(c *Command, rest string) error {
	words, reason := splitReason(rest)
	if len(words) == 0 {
		return errors.New("no finding is named")
	}
	c.reason = reason
	for _, w := range words {
		if !idPattern().MatchString(w) {
			p, err := parsePick(c.Name, w)
			if err != nil {
				return err
			}
			c.picks = append(c.picks, p)
			continue
		}
		c.IDs = append(c.IDs, w)
		switch c.Name {
		case "/drop":
			d.Drop = append(d.Drop, Drop{w, reason, ByID})
		case "/summary":
			d.Move = append(d.Move, Move{ID: w, Reason: reason})
		}
	}
	return nil
}

const ownID = "a blocker can only be dropped by its own id"

func parsePick(command, w string) (pick, error) {
	if ends := anyRange().FindStringSubmatch(w); ends != nil {
		from, to := findingNumber(ends[1]), findingNumber("F"+ends[2])
		return pick{how: ByRange, from: min(from, to), to: max(from, to)}, nil
	}
	if likeID().MatchString(w) || gluedIDs().MatchString(strings.ToUpper(w)) || command != "/drop" {
		return pick{}, errors.New("names something that is not a finding's id; a reason goes after a colon")
	}
	switch severity := Severity(w); {
	case severity == Blocker:
		return pick{}, errors.New(ownID)
	case severity.Rank() >= 0:
		return pick{how: BySeverity, text: w, severity: severity}, nil
	case !doublestar.ValidatePattern(w):
		return pick{}, errors.New("names a path that cannot be read: * matches part of a name, ** matches folders")
	}
	return pick{how: ByGlob, text: w}, nil
}

// isVague reports whether a command names something that may be a path or just a word of a
// sentence.
func (c Command) isVague() bool {
	return slices.ContainsFunc(c.picks, func(p pick) bool {
		return p.how == ByGlob && !strings.ContainsAny(p.text, "/.*?")
	})
}

func findingNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "F")) // 0 is not a finding's number
	return n
}

// matches reports whether a pick selects an item.
func (p pick) matches(f Item) bool {
	switch p.how {
	case ByRange:
		n := findingNumber(f.ID)
		return p.from <= n && n <= p.to
	case BySeverity:
		return f.Severity.Rank() <= p.severity.Rank()
	}
	glob := strings.TrimPrefix(strings.TrimPrefix(p.text, "./"), "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	whole, _ := doublestar.Match(glob, f.Path) // parsePick refused invalid patterns
	base, _ := doublestar.Match(glob, path.Base(f.Path))
	return whole || base
}
