package llmtest

import "encoding/json"

// The questions by which a ticket becomes a change.
const (
	ImplementClassify = "implement_classify"
	ImplementModules  = "implement_modules"
	ImplementCode     = "implement_code"
	ImplementTests    = "implement_tests"
)

// implementing tells which of these is asked, by the keys of the answer; "" for none.
func implementing(has func(string) bool) string {
	switch {
	case has("confirmed_type"):
		return ImplementClassify
	case has("affected_modules"):
		return ImplementModules
	case has("changes"):
		return ImplementCode
	case has("tests"):
		return ImplementTests
	}
	return ""
}

// Implement answers each of these questions by its answers, one after the other, the last
// of which stays, and all other questions by rest.
func Implement(answers map[string][]json.RawMessage, rest Script) Script {
	return func(r Request) Answer {
		if all := answers[r.Question]; len(all) > 0 {
			return Answer{Text: string(all[min(r.Try, len(all))-1])}
		}
		return rest(r)
	}
}

// ReadImplement reads a file's answers: an object with the keys classify, modules, code and
// tests, each with an answer or a list of them.
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
