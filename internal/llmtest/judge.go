package llmtest

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Verdict answers a judge's question with yes or no, in the form it asks for.
func Verdict(r Request, yes bool) Answer {
	text, _ := json.Marshal(map[string]any{"reason": "A script says so.", r.Judge: yes}) // plain values: it cannot fail
	return Answer{Text: string(text)}
}

// HonestJudge compares words: with the known issue those of the finding, and
// where there is none, with the finding's title those of the hunk. Yes from a
// third of the longer words on. Orders in the data do not move it.
func HonestJudge(r Request) Answer {
	data := Data(r.User)
	if r.Judge == "same_defect" {
		return Verdict(r, overlap(data["issue"], data["title"]+data["body"]))
	}
	return Verdict(r, overlap(data["title"], data["hunk"]))
}

// overlap reports whether at least a third of the words of a stand in b. Words
// of fewer than four letters do not count.
func overlap(a, b string) bool {
	known := map[string]bool{}
	for _, word := range words(b) {
		known[word] = true
	}
	all, shared := words(a), 0
	for _, word := range all {
		if known[word] {
			shared++
		}
	}
	return len(all) > 0 && 3*shared >= len(all)
}

func words(text string) []string {
	var long []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) >= 4 {
			long = append(long, word)
		}
	}
	return long
}
