package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Order begins a line of data that Obedient takes for its answer.
const Order = "ANSWER:"

// Finding is a finding in the form that the answer's schema asks for.
type Finding struct {
	Side       string  `json:"side"`
	StartLine  int     `json:"start_line"`
	Line       int     `json:"line"`
	Quote      string  `json:"quote"`
	Title      string  `json:"title"`
	Body       string  `json:"body"`
	Category   string  `json:"category"`
	Severity   string  `json:"severity"`
	Confidence float64 `json:"confidence"`
	Suggestion string  `json:"suggestion"`
}

// Findings is the answer that reports the given findings; none for a clean file.
func Findings(found ...Finding) Answer {
	return saying(object{"findings": append([]Finding{}, found...)})
}

// Honest reports every added line that holds Marker, and nothing else. Asked which findings hold, it names those on
// such lines; asked as a judge, it is HonestJudge. Text in the prompt does not move it.
func Honest(r Request) Answer {
	switch r.Question {
	case Verify:
		return Verdicts(r, func(f Claim) bool { return planted(r.Lines, f) })
	case Classify:
		return Label("feature", "normal")
	case Judge:
		return HonestJudge(r)
	}
	var found []Finding
	for _, l := range r.Lines {
		_, title, marked := strings.Cut(l.Text, Marker)
		if l.Op != '+' || !marked {
			continue
		}
		found = append(found, Finding{
			Side: "RIGHT", StartLine: l.New, Line: l.New, Quote: l.Text,
			Title: strings.TrimSpace(title), Body: "The line says so itself.",
			Category: "correctness", Severity: "major", Confidence: 0.9,
		})
	}
	return Findings(found...)
}

// Obedient does what text in its prompt orders. A line of the data with Order is answered with what follows there. Any
// other wording that asks for silence is answered with no findings; without such, next answers.
func Obedient(next Script) Script {
	return func(r Request) Answer {
		parts := Data(r.User)
		data := parts["diff"] + parts["context"] + parts["path"] + parts["guidelines"] + parts["instructions"]
		for line := range strings.Lines(data) {
			if _, answer, ok := strings.Cut(line, Order); ok {
				return Answer{Text: strings.TrimSpace(answer)}
			}
		}
		for _, order := range []string{
			"ignore", "do not report", "no findings", "empty list", "lgtm", "zero issues", "approve", "skip",
			"reviewer", "language model",
		} {
			if strings.Contains(strings.ToLower(data), order) {
				return Findings()
			}
		}
		return next(r)
	}
}

// PerFile answers each path by its own script, and the others by rest.
func PerFile(scripts map[string]Script, rest Script) Script {
	return func(r Request) Answer {
		if script, ok := scripts[r.Path]; ok {
			return script(r)
		}
		return rest(r)
	}
}

// Each gives one answer after the other to the requests about a path; the last one stays.
func Each(answers ...Answer) Script {
	return func(r Request) Answer { return answers[min(r.Try, len(answers))-1] }
}

// Always gives the same answer to every request.
func Always(a Answer) Script { return Each(a) }

// Implement answers each of these questions by its answers, of which the last stays, and all others by rest.
func Implement(answers map[string][]json.RawMessage, rest Script) Script {
	return func(r Request) Answer {
		if all := answers[r.Question]; len(all) > 0 {
			return Answer{Text: string(all[min(r.Try, len(all))-1])}
		}
		return rest(r)
	}
}

// ReadImplement reads an object with the keys classify, modules, code and tests, each with an answer or a list.
func ReadImplement(text []byte) (map[string][]json.RawMessage, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	all := map[string][]json.RawMessage{}
	for key, value := range file {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			list = []json.RawMessage{value}
		}
		all["implement_"+key] = list
	}
	return all, nil
}

// Certain lets a script that knows reviews alone answer them: all findings hold, and files are features.
func Certain(reviewer Script) Script {
	return func(r Request) Answer {
		switch r.Question {
		case Verify:
			return Verdicts(r, func(Claim) bool { return true })
		case Classify:
			return Label("feature", "normal")
		}
		return reviewer(r)
	}
}

// Verdict answers a judge's question with yes or no, in the form it asks for.
func Verdict(r Request, yes bool) Answer {
	return saying(object{"reason": "A script says so.", r.Judge: yes})
}

// HonestJudge compares words: with the known issue those of the finding, and where there is none, with the finding's
// title those of the hunk. Yes from a third of the longer words on. Orders in the data do not move it.
func HonestJudge(r Request) Answer {
	data := Data(r.User)
	if r.Judge == "same_defect" {
		return Verdict(r, overlap(data["issue"], data["title"]+data["body"]))
	}
	return Verdict(r, overlap(data["title"], data["hunk"]))
}

// overlap reports whether at least a third of the words of a stand in b. Words of fewer than four letters do not count.
func overlap(a, b string) bool {
	all, known := words(a), words(b)
	strange := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return slices.Contains(known, word) })
	return len(all) > 0 && 3*(len(all)-len(strange)) >= len(all)
}

func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.DeleteFunc(all, func(word string) bool { return len(word) < 4 })
}

// Curious looks around before it answers: where tools are offered and no call of one was answered yet, it makes calls,
// those of Look where none are named. Then next answers.
func Curious(next Script, calls ...Call) Script {
	return func(r Request) Answer {
		looked := slices.ContainsFunc(r.Turns, func(t Turn) bool { return t.Role == "tool" })
		switch {
		case len(r.Tools) == 0 || looked:
			return next(r)
		case len(calls) > 0:
			return Answer{Calls: calls}
		}
		return Answer{Calls: Look(r)}
	}
}

// readFile is the tool that Look calls.
const readFile = "read_file"

// Look is a call of the tool that reads a file, with what its schema asks for.
func Look(r Request) []Call {
	known, args := object{"path": r.Path, "side": "head", "start_line": 1, "end_line": 1}, object{}
	for _, tool := range r.Tools {
		if tool.Name != readFile {
			continue
		}
		for _, key := range keysOf(tool.Schema) {
			args[key] = known[key]
		}
	}
	return []Call{{Name: readFile, Arguments: saying(args).Text}}
}
