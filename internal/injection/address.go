package injection

import (
	"slices"
	"strings"
)

// addressScore scores how clearly a sentence addresses a model, or speaks as one. named means it calls the model.
func addressScore(s []token, present set) (best float64, named bool) {
	if present.has(you) {
		best = 0.5
	}
	for i := 0; i < len(s); i++ {
		points := addresseeScore(s[i].means)
		if points == 0 {
			continue
		}
		first := i
		for i+1 < len(s) && s[i+1].sep == ' ' && addresseeScore(s[i+1].means) > 0 {
			i++
			points = max(points, addresseeScore(s[i].means))
		}
		if !s[i].means.has(turn) {
			called := callScore(s, first, i)
			named = named || points+called >= 2
			points += max(called, dutyScore(s, i))
		}
		best = max(best, points)
	}
	return best, named
}

// addresseeScore scores a word as the name of a reader.
func addresseeScore(means set) float64 {
	switch {
	case means.has(turn) || means.has(machine):
		return 1.5
	case means.has(fence), means.has(answer) && means.has(you):
		return 1.2
	case means.has(agent):
		return 0.8
	case means.has(reviewer):
		return 0.5
	}
	return 0
}

// onlyReviewers reports whether no word names a machine or an agent, only a reviewer, who may be a person.
func onlyReviewers(words []token) bool {
	return !slices.ContainsFunc(words, func(t token) bool { return t.means&setOf(machine, agent) != 0 })
}

// callScore scores how the words first..last are called: by a colon or comma after them, or by
// "note to" or "if you are" before them.
func callScore(s []token, first, last int) float64 {
	points := 0.0
	if last+1 < len(s) && strings.IndexByte(":,", s[last+1].sep) >= 0 {
		points = 0.7
		if first == 0 || s[first].sep != ' ' {
			points = 1.3
		}
	}
	for k := max(0, first-4); k < first; k++ {
		switch {
		case s[k].means.has(dear) && (k == first-1 || (s[first-1].means | s[k+1].means).has(toward)),
			s[k].means.has(cond) && s[k+1].means.has(you):
			points = max(points, 1.2)
		case s[k].means.has(toward) && !onlyReviewers(s[first:last+1]): // "a lot of tools" addresses no one
			points = max(points, 0.5)
		}
	}
	return points
}

// dutyScore scores a duty that the words after the last one impose.
func dutyScore(s []token, last int) float64 {
	for k := last + 1; k < min(len(s), last+4); k++ {
		if s[k].means.has(modal) {
			return 0.7
		}
	}
	return 0
}
