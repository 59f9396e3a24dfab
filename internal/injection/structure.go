package injection

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/pattern"
)

// marks lists signs that are not words. Each adds a concept to the word at its place.
var marks = []struct {
	means   concept
	trigger string   // every line that can match contains one of these bytes
	words   []string // and one of these words
	sign    func() *regexp.Regexp
}{
	{turn, "<[", []string{"im_", "<end", "<|", "</", "eot_id", "header_id", "<sys", "<user", "<assi", "inst]"},
		pattern.Lazy(`<\|?/?(im_start|im_end|end|eot_id|start_header_id|endofprompt)\|?>|</?(system|user` +
			`|assistant)>|\[/?inst\]|<</?sys>>`)},
	{turn, ":", []string{"system", "assistant", "human", "developer"},
		pattern.Lazy(`(^|["'\x60*#/|>\[({])\s*(system|assistant|human|developer)\]?\s*:\s*[a-z]`)},
	{turn, "#[", []string{"###", "[system]"}, pattern.Lazy(`###\s*(instructions?|system|human|assistant` +
		`|user)\s*(:|$)|###\s*new (instruction|task)|\[system\]`)},
	{turn, "<", []string{"<tool", "<func", "<inv", "<instr", "<imp", "<sys"},
		pattern.Lazy(`<(tool_call|function_calls?|invoke|instructions|system)[ >]|<important>`)},
	{fence, "<", []string{"</", "<<<"}, pattern.Lazy(`</(diff|file|files|document|tool_output|tool_result` +
		`|result|context|ticket_context|untrusted|data|input|user_input|instructions)>|<<<(end|data)`)},
	{fence, " ", []string{"end ", "begin ", "start "},
		pattern.Lazy(`\b(end|begin|start)( of)?( the)? (untrusted|trusted|diff|system|file under|review` +
			`|context)\b|[-=#*]{3} ?(end|begin) (of |the )*(file|data|input|prompt|task|additional|instructions)\b`)},
	{empty, "[", []string{"["}, pattern.Lazy(`\[\s*\]`)},
	{addr, ":", []string{"://"}, pattern.Lazy(`https?://`)},
	{tool, "_", toolWords, pattern.Lazy(`\b(read|write|run|fetch|http|git|search|create|delete|merge|approve` +
		`|post|enable|list|jira|call|add|update|close|get|send|exec)_[a-z_]+|\btools?\b`)},
}

// toolWords occur in every line with a tool's name; the word "tool" counts only next to an underscore.
var toolWords = strings.Fields("tool read_ write_ run_ fetch_ http_ git_ search_ create_ delete_ merge_ approve_ " +
	"post_ enable_ list_ jira_ call_ add_ update_ close_ get_ send_ exec_")

// tag matches tags that ordinary markup also has, and whether they close.
var tag = pattern.Lazy(`<(/?)(system|user|assistant|instructions|important|diff|files?|document|result|context` +
	`|data|input)[ >]`)

// pairedTags returns the places of tags, by line and byte, that are the text's own markup,
// because their counterpart is also there, or that are type arguments.
func pairedTags(lines []string) map[[2]int]bool {
	all, open := map[[2]int]bool{}, map[string][2]int{}
	for i, line := range lines {
		if !strings.Contains(line, "<") {
			continue
		}
		for _, t := range tag().FindAllStringSubmatchIndex(line, 64) {
			at, name := [2]int{i, t[0]}, line[t[4]:t[5]]
			if start, opened := open[name]; t[2] < t[3] {
				all[start], all[at] = opened, opened
				continue
			}
			behind, _ := utf8.DecodeLastRuneInString(line[:t[0]])
			open[name], all[at] = at, wordly(behind)
		}
	}
	return all
}

// mark adds the meanings of a line's signs to its words.
func mark(tokens []token, line string, number int, paired map[[2]int]bool) {
	if len(tokens) == 0 {
		return
	}
	for _, m := range marks {
		if !anyOf(line, m.trigger) || !slices.ContainsFunc(m.words, func(w string) bool {
			return strings.Contains(line, w)
		}) {
			continue
		}
		for _, place := range m.sign().FindAllStringIndex(line, 8) {
			linked := m.means == addr && strings.HasSuffix(line[:place[0]], "](")
			quoted := isQuoted(line, place[0], place[1]) && m.means != empty
			if !quoted && !paired[[2]int{number, place[0]}] && !linked {
				tokens[wordAt(tokens, place[0])].means |= setOf(m.means)
			}
		}
	}
}

// wordAt returns the index of the word at or after a byte, or of the last word.
func wordAt(tokens []token, at int) int {
	for i, t := range tokens {
		if t.at+len(t.text) > at {
			return i
		}
	}
	return len(tokens) - 1
}

// isQuoted reports whether a sign is directly enclosed in quotes, as in code that talks about it.
func isQuoted(line string, from, to int) bool {
	return from > 0 && to < len(line) && strings.IndexByte("\"'`", line[from-1]) >= 0 &&
		strings.IndexByte("\"'`", line[to]) >= 0
}
