package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Label says what kind a file's change is and how closely to read it.
type Label struct {
	Kind  string `json:"kind"`
	Depth string `json:"depth"`
}

// key is a key of an answer with the schema of its value. Schemas stay in the strict subset that
// servers accept: no references, every key required, no others allowed. Keys are in the order in
// which a model should think: the place, the quote, the claim, then its weight.
type key struct{ name, schema string }

func value(name, kind, description string) key {
	return key{name, fmt.Sprintf(`{"type":%q,"description":%q}`, kind, description)}
}

func plain(name, kind string) key { return key{name, fmt.Sprintf(`{"type":%q}`, kind)} }

func oneOf(name string, values ...string) key {
	return key{name, fmt.Sprintf(`{"type":"string","enum":["%s"]}`, strings.Join(values, `","`))}
}

func list(name, description string, keys ...key) key {
	return key{name, fmt.Sprintf(`{"type":"array","description":%q,"items":%s}`, description, object(keys...))}
}

func object(keys ...key) json.RawMessage {
	names, properties := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		names[i], properties[i] = fmt.Sprintf("%q", k.name), fmt.Sprintf("%q:%s", k.name, k.schema)
	}
	return fmt.Appendf(nil, `{"type":"object","additionalProperties":false,"required":[%s],"properties":{%s}}`,
		strings.Join(names, ","), strings.Join(properties, ","))
}

// Categories lists the categories that a model's finding may have.
func Categories() []string {
	return []string{"correctness", "security", "concurrency", "error-handling", "resource", "data", "compatibility",
		"performance", "design", "maintainability", "requirement", "test", "tests", "style", "other"}
}

// findingKeys returns the keys of a finding; about describes its body.
func findingKeys(about string) []key {
	return []key{
		oneOf("side", "RIGHT", "LEFT"),
		value("start_line", "integer", "First line of the place, as numbered on that side."),
		value("line", "integer", "Last line of the place; equal to start_line for a single line."),
		value("quote", "string", "The text of that line, copied exactly."),
		value("title", "string", "One sentence that states the defect as a fact."),
		value("body", "string", about),
		oneOf("category", Categories()...),
		oneOf("severity", "blocker", "major", "minor", "nit"),
		value("confidence", "number", "From 0 to 1."),
		value("suggestion", "string", "Replaces exactly the lines start_line to line, or is empty."),
	}
}

func reviewSchema() json.RawMessage {
	return object(list("findings", "The defects that the change brings in; empty where there are none.",
		findingKeys("What happens, when, and why.")...))
}

// verdictSchema returns the schema of the answer to a verification. The reason comes before the
// verdict, so that it leads to the verdict and does not justify it.
func verdictSchema() json.RawMessage {
	return object(list("verdicts", "One for every finding, in their order.",
		value("id", "string", "The id of the finding."),
		value("reason", "string", "The step that decided it, in one or two sentences."),
		plain("holds", "boolean")))
}

// Kinds lists the kinds of changes that a label may name.
func Kinds() []string {
	return []string{"security", "refactoring", "feature", "tests", "docs", "other"}
}

// overviewSchema returns the schema of the answer about a whole change, with verdicts on what was
// asked if it judges.
func overviewSchema(judges bool) json.RawMessage {
	keys := []key{
		value("overview", "string", "What the change does, in two or three sentences."),
		list("findings", "Defects that concern files together; empty where there are none.",
			append([]key{value("path", "string", "The file of the place, copied exactly.")},
				findingKeys("What happens, when, and why; names the other file.")...)...),
	}
	if judges {
		keys = append(keys, criteria(), unasked(plain("path", "string"), plain("start_line", "integer"),
			plain("end_line", "integer"), value("text", "string", "What this part does, in at most ten words.")))
	}
	return object(keys...)
}

func criteria() key {
	return list("criteria", "One for every criterion, by its number.",
		value("n", "integer", "The criterion's number."),
		oneOf("verdict", "met", "not_met", "unknown"),
		list("evidence", "Lines of the diff that show it; empty where there are none.", lines()...))
}

func unasked(keys ...key) key {
	return list("unasked", "Parts of the change that no ticket asks for.", keys...)
}

func lines() []key {
	return []key{plain("path", "string"), value("start_line", "integer", "As numbered in the new file."),
		plain("end_line", "integer")}
}
