package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Order begins a line of data that Obedient takes as its answer.
const Order = "ANSWER:"

// Finding is a finding in the format of the answer's schema.
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

// Findings returns the answer that reports the given findings; none for a clean file.
func Findings(found ...Finding) Answer {
	return jsonAnswer(object{"findings": append([]Finding{}, found...)})
}

// Honest reports every added line that contains Marker, and nothing else. It verifies the findings on such lines; as
// a judge, it is HonestJudge. Text in the prompt does not sway it.
func Honest(r Request) Answer {
	switch r.Question {
	case Verify:
		return Verdicts(r, func(f Claim) bool { return hasMarker(r.Lines, f) })
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

// Obedient obeys text in its prompt. To a line of the data with Order it answers with the rest of the line, to other
// wording that asks for silence with no findings; otherwise next answers.
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

// Each returns one answer after the other to the requests about a path, and repeats the last.
func Each(answers ...Answer) Script {
	return func(r Request) Answer { return answers[min(r.Try, len(answers))-1] }
}

// Always returns the same answer to every request.
func Always(a Answer) Script { return Each(a) }

// Implement answers each question from its list of answers, repeating the last, and all others by rest.
func Implement(answers map[string][]json.RawMessage, rest Script) Script {
	return func(r Request) Answer {
		if all := answers[r.Question]; len(all) > 0 {
			return Answer{Text: string(all[min(r.Try, len(all))-1])}
		}
		return rest(r)
	}
}

// ReadImplement parses an object with the keys classify, modules, code and tests, each with an answer or a list.
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

// Certain makes a script that only knows reviews complete: all findings hold, and files are features.
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

// Verdict answers a judge's question with yes or no, in the format it asks for.
func Verdict(r Request, yes bool) Answer {
	return jsonAnswer(object{"reason": "A script says so.", r.Judge: yes})
}

// HonestJudge compares words: the known issue's with the finding's or, without one, the finding title's with the
// hunk's. A third of the longer words means yes. Orders in the data do not sway it.
func HonestJudge(r Request) Answer {
	data := Data(r.User)
	if r.Judge == "same_defect" {
		return Verdict(r, overlap(data["issue"], data["title"]+data["body"]))
	}
	return Verdict(r, overlap(data["title"], data["hunk"]))
}

// overlap reports whether b contains at least a third of the words of a. Shorter words than four letters do not count.
func overlap(a, b string) bool {
	all, known := words(a), words(b)
	strange := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return slices.Contains(known, word) })
	return len(all) > 0 && 3*(len(all)-len(strange)) >= len(all)
}

func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.DeleteFunc(all, func(word string) bool { return len(word) < 4 })
}

// Curious looks around before it answers: if tools are offered and no call was answered yet, it makes calls, by
// default those of Look. Then next answers.
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

// Look returns a call of the tool that reads a file, with the arguments that its schema requires.
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
	return []Call{{Name: readFile, Arguments: jsonAnswer(args).Text}}
}
