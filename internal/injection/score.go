package injection

import (
	"slices"
	"strings"
)

// judgement is the score of a sentence.
type judgement struct {
	address               float64 // how clearly a model is addressed
	effect, plain, spoken float64 // what is wanted
	doubt                 float64 // negative: what speaks against it
	named                 bool    // a model is addressed by name
	defence               bool    // the text is about attacks
	code                  bool    // signs rather than spaces separate its words
	forged                bool    // it has forged turns or ends of data
	kind                  string  // kind of the highest-scoring effect
	at                    int     // index of that effect's first token
}

const (
	threshold       = 2.6
	packedThreshold = 3.6 // threshold in a bundle's line, where words meet by chance
	longLine        = 1000
	packedLine      = 5000 // longest line in which a hit need not name a model
	defended        = 0.4  // factor for a text about attacks
	unaddressed     = 0.5  // factor for effects without an addressee
	maxUnaddressed  = 1.8
	disguise        = 1.8 // encoded prose usually means harm
)

// instructions judges every sentence of a text, and what its lines contain in other encodings.
func instructions(lines []string) []Hit {
	hits := judgeLines(lines, 0)
	d := decoder{left: minDecoded}
	for _, line := range lines {
		d.left += 4 * len(line)
	}
	for i, line := range lines {
		if len(hits) < 4*maxHits && d.disguised(stripHidden(line), maxDepth) {
			hits = append(hits, Hit{Line: i + 1, Kind: encoded, Excerpt: excerpt(line, 0)})
		}
	}
	return hits
}

// decoder limits how much is decoded for one text.
type decoder struct{ left int } // bytes left

const minDecoded = 64 << 10

// disguised reports whether a line contains encoded instructions, in up to depth nested encodings.
func (d *decoder) disguised(line string, depth int) bool {
	for _, text := range decoded(line) {
		if d.left -= len(text); d.left < 0 {
			return false
		}
		if len(judgeLines(strings.Split(text, "\n"), disguise)) > 0 || depth > 1 && d.disguised(text, depth-1) {
			return true
		}
	}
	return false
}

// judgeLines returns a hit for each sentence that reaches the threshold. bonus is added to every score.
func judgeLines(lines []string, bonus float64) []Hit {
	var hits []Hit
	all, before := parse(lines), judgement{}
	models := aboutModels(all)
	for _, s := range all {
		j := judge(s.tokens)
		if s.starts && !before.forged {
			before = judgement{defence: before.defence}
		}
		t := s.tokens[j.at]
		need := threshold
		length := len(lines[t.line])
		if models || length > longLine {
			need = packedThreshold
		}
		if j.effect+j.plain+j.spoken >= 0.8 && j.total(before)+bonus >= need && len(hits) < 4*maxHits &&
			(length <= packedLine || j.named && surroundedByWords(lines[t.line], t.at)) {
			hits = append(hits, Hit{Line: t.line + 1, Kind: j.kind, Excerpt: excerpt(lines[t.line], t.at)})
		}
		before = carryOver(before, j)
	}
	return hits
}

// surroundedByWords reports whether a place in a bundle's line is surrounded by words rather than code.
func surroundedByWords(line string, at int) bool {
	around := line[max(0, at-100):min(len(line), at+200)]
	signs := strings.Count(around, "(") + strings.Count(around, "{") +
		strings.Count(around, "=") + strings.Count(around, ";")
	return signs < 6
}

// minIdleMentions is the number of sentences that must name a model without an order, for a text to be about models.
const minIdleMentions = 5

// aboutModels reports whether a text comes from a project that works with models. There a
// mention of a model does not mean that it is addressed.
func aboutModels(all []sentence) bool {
	n := 0
	for _, s := range all {
		if slices.ContainsFunc(s.tokens, func(t token) bool { return t.means&setOf(machine, agent) != 0 }) {
			if j := judge(s.tokens); j.effect+j.plain+j.spoken < 0.8 {
				n++
			}
		}
	}
	return n >= minIdleMentions
}

// parse splits a text into sentences of labelled tokens.
func parse(lines []string) []sentence {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	tokens := make([]token, 0, size/8+8) // code has a word in eight bytes or more
	shapes, folded := make([]shape, len(lines)), make([]string, len(lines))
	for i, line := range lines {
		folded[i] = fold(line)
		shapes[i] = shapeOf(folded[i])
	}
	paired := pairedTags(folded)
	for i, line := range lines {
		if hasNoWords(line) {
			continue
		}
		start := len(tokens)
		tokens = tokenise(tokens, folded[i], i)
		mark(tokens[start:], folded[i], i, paired)
	}
	words().label(tokens)
	return sentences(tokens, shapes)
}

// total returns the score of a sentence, with what the one before it carries over.
func (j judgement) total(before judgement) float64 {
	address := max(j.address, before.address)
	points := j.plain + before.effect/2
	switch {
	case address < 1:
		points += -before.effect/4 + min(j.effect*unaddressed, maxUnaddressed) + j.doubt
	case (j.named || before.named) && !j.code:
		return address + points + j.effect + j.spoken
	default:
		points += j.effect + j.doubt
	}
	switch {
	case j.defence || before.defence:
		return (address + points) * defended
	case j.code:
		return address + points - 1.3
	}
	return address + points
}

// carryOver returns what a sentence carries over to the next one.
func carryOver(before, j judgement) judgement {
	return judgement{
		address: max(j.address, before.address) - 0.45, effect: max(0, j.effect+j.plain+j.doubt),
		named: j.named || before.named && before.address > 1.5, defence: j.defence,
		forged: j.forged || before.forged && before.address > 0.6,
	}
}

// judge scores one sentence.
func judge(s []token) judgement {
	var present set
	for i := range s {
		present |= s[i].means
	}
	if present == 0 {
		return judgement{}
	}
	j := judgement{forged: present.has(turn) || present.has(fence), defence: present.has(defence), code: isCode(s)}
	j.address, j.named = addressScore(s, present)
	best := 0.0
	add := func(to *float64, rules []rule) {
		for _, r := range rules {
			at, ok := r.holds(s, present)
			if !ok {
				continue
			}
			*to += r.points
			if r.points > best {
				best, j.kind, j.at = r.points, r.kind, at
			}
		}
	}
	add(&j.effect, effects)
	add(&j.plain, plain)
	add(&j.spoken, spoken)
	add(&j.doubt, tempering)
	return j
}

// isCode reports whether more words are separated by signs than by spaces. A number, as in a version, counts as a sign.
func isCode(s []token) bool {
	signs := 0
	for _, t := range s {
		if strings.IndexByte(",\":(", t.sep) >= 0 || '0' <= t.text[0] && t.text[0] <= '9' {
			signs++
		}
	}
	return signs*5 > len(s)*3
}
