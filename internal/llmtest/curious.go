package llmtest

import "slices"

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
