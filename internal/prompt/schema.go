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
// which a model should think: the place, the quote, the claim, then its weight. What they mean is in the system turns.
type key struct{ name, schema string }

func value(name, kind string) key { return key{name, fmt.Sprintf(`{"type":%q}`, kind)} }

func oneOf(name string, values ...string) key {
	return key{name, fmt.Sprintf(`{"type":"string","enum":["%s"]}`, strings.Join(values, `","`))}
}

func list(name string, keys ...key) key {
	return key{name, fmt.Sprintf(`{"type":"array","items":%s}`, object(keys...))}
}

func object(keys ...key) json.RawMessage {
	names, properties := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		names[i], properties[i] = fmt.Sprintf("%q", k.name), fmt.Sprintf("%q:%s", k.name, k.schema)
	}
	return fmt.Appendf(nil, `{"type":"object","additionalProperties":false,"required":[%s],"properties":{%s}}`,
		strings.Join(names, ","), strings.Join(properties, ","))
}

// Categories lists the categories that a model's finding may have. The last two, that tests are missing and style, are
// only offered where they are asked for.
func Categories() []string { return categories(true, true) }

func categories(tests, style bool) []string {
	all := []string{"correctness", "security", "concurrency", "error-handling", "resource", "data", "compatibility",
		"performance", "design", "maintainability", "requirement", "test", "other"}
	if tests {
		all = append(all, "tests")
	}
	if style {
		all = append(all, "style")
	}
	return all
}

func findingKeys(tests, style bool) []key {
	return []key{
		oneOf("side", "RIGHT", "LEFT"), value("start_line", "integer"), value("line", "integer"),
		value("quote", "string"), value("title", "string"), value("body", "string"),
		oneOf("category", categories(tests, style)...), oneOf("severity", "blocker", "major", "minor", "nit"),
		value("confidence", "number"), value("suggestion", "string"),
	}
}

// verdictSchema returns the schema of the answer to a verification. The reason comes before the
// verdict, so that it leads to the verdict and does not justify it.
func verdictSchema() json.RawMessage {
	return object(list("verdicts", value("id", "string"), value("reason", "string"), value("holds", "boolean"),
		value("suggestion_mends", "boolean")))
}

// Kinds lists the kinds of changes that a label may name.
func Kinds() []string {
	return []string{"security", "refactoring", "feature", "tests", "docs", "other"}
}

// overviewSchema returns the schema of the answer about a whole change, with verdicts on what was
// asked if it judges.
func overviewSchema(w Whole) json.RawMessage {
	keys := []key{value("overview", "string"), list("findings", append([]key{value("path", "string")},
		findingKeys(w.Tests, w.Style)...)...)}
	if w.Judges {
		keys = append(keys, criteria(), list("unasked", append(lines(), value("text", "string"))...))
	}
	return object(keys...)
}

func criteria() key {
	return list("criteria", value("n", "integer"), oneOf("verdict", "met", "not_met", "unknown"),
		list("evidence", lines()...))
}

func lines() []key {
	return []key{value("path", "string"), value("start_line", "integer"), value("end_line", "integer")}
}
