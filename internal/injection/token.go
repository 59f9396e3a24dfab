package injection

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, or an entry found in a run without spaces.
type token struct {
	text  string
	line  int  // index of its line
	at    int  // byte in the folded line
	pos   int  // position in the text; some separators add to the distance
	sep   byte // the strongest separator before it: one of " ,:.\"(-" and newline
	means set
}

// strength lists the separators between words, weakest first.
const strength = " -,\"(:\n."

func stronger(a, b byte) byte {
	if b == ' ' || strings.IndexByte(strength, a) >= strings.IndexByte(strength, b) {
		return a
	}
	return b
}

func separator(r rune) byte {
	switch r {
	case ':', '：':
		return ':'
	case ',', '，', '、', '،':
		return ','
	case '"', '\'', '`', '“', '”', '„', '«', '»', '「', '」', '‘', '’':
		return '"'
	case '(', ')', '[', ']', '{', '}', '<', '>', '|', '@', '=', '（', '）': // model=x addresses no one
		return '('
	case '-', '–', '—', '/', '*', '+', ';':
		return '-'
	}
	return ' '
}

// tokenise appends the tokens of a folded line.
func tokenise(to []token, line string, number int) []token {
	sep := byte('\n')
	for at := 0; at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		if !wordly(r) {
			if terminal(line, at, r, n) {
				sep = '.'
			}
			sep = stronger(sep, separator(r))
			at += n
			continue
		}
		if isUnspaced(r) {
			to, at = appendUnspaced(to, token{text: line, line: number, at: at, sep: sep})
			sep = ' '
			continue
		}
		size := wordEnd(line[at:], false)
		to = append(to, token{text: line[at : at+size], line: number, at: at, sep: sep})
		if at, sep = at+size, ' '; strings.HasPrefix(line[at:], "://") && len(line) < longLine { // a URL is one word
			at += max(0, strings.IndexAny(line[at:]+" ", " \t\"'`<>()[]{}|"))
		}
	}
	return to
}

func wordly(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r)) && r != '_' || r == '$'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '$'
}

// terminal reports whether a character ends a sentence: a full stop must be followed by a space.
func terminal(line string, at int, r rune, n int) bool {
	switch r {
	case '。', '！', '？', '؟', '।', '۔':
		return true
	case '.', '!', '?':
		next, _ := utf8.DecodeRuneInString(line[at+n:])
		return at+n >= len(line) || !wordly(next) && next != '.' && next != '/'
	}
	return false
}

func wordEnd(s string, dense bool) int {
	for i, r := range s {
		if !wordly(r) || isUnspaced(r) != dense && !unicode.IsMark(r) {
			return i
		}
	}
	return len(s)
}

// appendUnspaced appends the entries found in a run of a script without spaces or with prefixes,
// the longest at each place. It returns where it stopped.
func appendUnspaced(to []token, run token) ([]token, int) {
	d, line, sep := words(), run.text, run.sep
	end := run.at + wordEnd(line[run.at:], true)
	start, at := len(to), run.at
	for seen := 0; at < end; seen++ {
		r, n := utf8.DecodeRuneInString(line[at:])
		size, means := d.longest(line[at:], r)
		if part := at > run.at || at+size < end; size == 0 || inWord(r) && part &&
			(seen > 2 || utf8.RuneCountInString(line[at:at+size]) < 3) {
			at += n
			continue
		}
		to = append(to, token{text: line[at : at+size], line: run.line, at: at, sep: sep, means: means})
		at, sep = at+size, ' '
	}
	if len(to) == start { // an unknown word still counts for distances
		to = append(to, token{text: line[run.at:end], line: run.line, at: run.at, sep: sep})
	}
	return to, at
}

func (d dictionary) longest(text string, r rune) (size int, means set) {
	for _, p := range d.unspaced[r] {
		word := p.words[0]
		switch {
		case size > 0 && len(word) < size:
			return size, means
		case strings.HasPrefix(text, word):
			size, means = len(word), means|p.means
		}
	}
	return size, means
}

// label sets what each token means, alone and in phrases, and its position.
func (d dictionary) label(tokens []token) {
	for i := range tokens {
		for _, p := range d.spaced[key(tokens[i].text)] {
			if !p.matches(tokens[i:]) || p.isProgress(tokens, i) {
				continue
			}
			for j := range p.words {
				tokens[i+j].means |= p.means
			}
		}
	}
	for i := range tokens {
		if tokens[i].means != 0 {
			tokens[i].means &^= lostMeanings(tokens, i)
		}
		tokens[i].pos = i + 1
		if i > 0 {
			tokens[i].pos = tokens[i-1].pos + distance(tokens[i].sep)
		}
	}
}

// distance returns how far a word is from the one before it.
func distance(sep byte) int {
	if strings.IndexByte("\":(", sep) >= 0 {
		return 2
	}
	return 1
}

// lostMeanings returns the concepts that a word loses in its context: after an article a verb
// is a noun, and what is negated is not asserted.
func lostMeanings(tokens []token, i int) (lost set) {
	if i > 0 && slices.Contains(articles, tokens[i-1].text) {
		lost |= setOf(report, skip, say, call, send)
	}
	if i > 0 && slices.Contains(prefixes, tokens[i-1].text) {
		lost |= setOf(agent, machine, reviewer)
	}
	if tokens[i].text == "ai" && (tokens[i].sep == ',' || i > 0 && tokens[i-1].text == "return") { // a variable
		lost |= setOf(machine)
	}
	if i+2 < len(tokens) && tokens[i+1].text == "api" && tokens[i+1].sep == ' ' && // GEMINI_API_KEY
		slices.Contains([]string{"key", "keys", "token", "url", "endpoint", "base"}, tokens[i+2].text) {
		lost |= setOf(machine, agent)
	}
	if tokens[i].text == "model" && tokens[i].sep == '"' && i+1 < len(tokens) && tokens[i+1].sep == ':' { // a key
		lost |= setOf(agent)
	}
	for k := max(0, i-2); k < i; k++ {
		if tokens[k].means.has(not) && !tokens[i].means.has(not) && tokens[i].sep == ' ' {
			lost |= setOf(clean)
		}
	}
	return lost
}

// isProgress reports whether an entry such as "you are now" or "you have finished" at word i describes the
// progress of a manual's reader rather than a role: "now that you have finished", "you are now ready".
func (p phrase) isProgress(tokens []token, i int) bool {
	if !p.means.has(role) {
		return false
	}
	after := i + len(p.words)
	return i > 0 && tokens[i-1].text == "that" || after < len(tokens) && slices.Contains(stages, tokens[after].text)
}

// stages lists what a manual's reader has become by then.
var stages = []string{"ready", "able", "done", "set", "logged", "signed", "connected", "familiar"}

var articles = []string{"the", "a", "an", "this", "that", "each", "its"}

func (p phrase) matches(tokens []token) bool {
	if len(p.words) > len(tokens) {
		return false
	}
	for i, word := range p.words {
		text := tokens[i].text
		if text != word && !(p.open[i] && strings.HasPrefix(text, word)) {
			return false
		}
	}
	return true
}

// prefixes come before words that only look like an addressee: an HTTP header, the scope of
// a commit, the attribute of a template.
var prefixes = []string{"v", "x", "ng", "user", "feat", "fix", "chore", "docs", "refactor", "test", "perf", "ci",
	"build"}
