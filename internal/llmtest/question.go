package llmtest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// The questions that the product asks a model.
const (
	Review   = "review"
	Verify   = "verify"
	Classify = "classify"
	Judge    = "judge"
)

// Claim is a finding to verify, as the prompt shows it.
type Claim struct {
	ID    string `json:"id"`
	Side  string `json:"side"`
	Line  int    `json:"line"`
	Quote string `json:"quote"`
	Title string `json:"title"`
}

// question infers the question from the keys of the answer's schema or, without one, from the blocks and words.
func question(r Request, parts map[string]string) string {
	keys := keysOf(r.Schema)
	has := func(key string) bool { return slices.Contains(keys, key) }
	_, findings := parts["findings"]
	whole := wholeQuestion(r, parts, has)
	at := slices.IndexFunc(keys, func(key string) bool { return implementQuestions[key] != "" })
	switch {
	case r.Judge != "":
		return Judge
	case at >= 0:
		return implementQuestions[keys[at]]
	case whole != "":
		return whole
	case has("verdicts"), findings:
		return Verify
	case has("depth"), len(keys) == 0 && strings.Contains(r.System, "`depth`"):
		return Classify
	}
	return Review
}

// keysOf returns the top-level keys of the answer that a schema requires.
func keysOf(schema json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // empty without a schema
	return s.Required
}

// Claims returns the findings of a verification question, one JSON object a line.
func Claims(r Request) []Claim {
	var all []Claim
	for line := range strings.Lines(Data(r.User)["findings"]) {
		var c Claim
		if json.Unmarshal([]byte(strings.Trim(line, "[], \t\n")), &c) == nil && c.ID != "" {
			all = append(all, c)
		}
	}
	return all
}

// Verdicts answers a verification question with the result of holds for each claim.
func Verdicts(r Request, holds func(Claim) bool) Answer {
	verdicts := []any{}
	for _, c := range Claims(r) {
		verdicts = append(verdicts, object{"id": c.ID, "holds": holds(c), "reason": "A script says so.",
			"suggestion_mends": true})
	}
	return jsonAnswer(object{"verdicts": verdicts})
}

// Marker begins the text in an added line that Honest reports. The rest of the line is the finding's title.
const Marker = "DEFECT:"

func hasMarker(lines []Line, c Claim) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		return l.Op == '+' && l.New == c.Line && c.Side != "LEFT" && strings.Contains(l.Text, Marker)
	})
}

// Label answers the question of how to read a file.
func Label(kind, depth string) Answer {
	return jsonAnswer(object{"kind": kind, "depth": depth})
}

// The questions by which a ticket becomes a change.
const (
	ImplementClassify = "implement_classify"
	ImplementModules  = "implement_modules"
	ImplementCode     = "implement_code"
	ImplementTests    = "implement_tests"
)

// implementQuestions has these by a key that only their answers have.
var implementQuestions = map[string]string{"confirmed_type": ImplementClassify, "affected_modules": ImplementModules,
	"changes": ImplementCode, "tests": ImplementTests}

// The questions about a change as a whole. Server.Whole answers them: other scripts need not know of them.
const (
	Overview = "overview"
	Criteria = "criteria"
	Recheck  = "recheck" // which findings on the whole change hold
)

// wholeQuestion infers which question about a whole change is asked; "" for one about a file.
func wholeQuestion(r Request, parts map[string]string, keys func(string) bool) string {
	_, listed := parts["files"]
	switch {
	case listed && (keys("verdicts") || parts["findings"] != ""):
		return Recheck
	case keys("overview"), len(r.Schema) == 0 && strings.Contains(r.System, "`overview` says"):
		return Overview
	case keys("criteria"), len(r.Schema) == 0 && strings.Contains(r.System, "no word of your own is kept"):
		return Criteria
	}
	return ""
}

// Whole reports whether a question is about a whole change.
func (r Request) Whole() bool {
	return r.Question == Overview || r.Question == Criteria || r.Question == Recheck
}

// judgeKey infers from a user turn, as a model would, which key of a judge's answer is a boolean.
func judgeKey(user string) string {
	outside := Outside(user)
	for _, key := range []string{"same_defect", "valid"} {
		if strings.Contains(outside, "`"+key+"`") {
			return key
		}
	}
	return ""
}

// WholeFile is a file of a question about the whole change, as far as it is shown.
type WholeFile struct {
	Path  string
	Lines []Line
}

// WholeFiles returns the files of a question about the whole change.
func WholeFiles(r Request) (all []WholeFile) {
	for label, line := range blocks(r.User) {
		l, numbered := readLine(strings.TrimSuffix(line, "\n"))
		switch {
		case label == "path" && line != "":
			all = append(all, WholeFile{Path: strings.TrimSuffix(line, "\n")})
		case label == "diff" && numbered:
			file := &all[len(all)-1]
			file.Lines = append(file.Lines, l)
		}
	}
	return all
}

// WholeFinding is a finding on a whole change.
type WholeFinding struct {
	Path string `json:"path"`
	Finding
}

// Seen answers a question about the whole change, in the format that the question asks for.
func Seen(r Request, text string, found []WholeFinding, criteria []finding.Criterion,
	unasked []finding.Unasked) Answer {
	answer, keys := object{}, keysOf(r.Schema)
	criteria = append([]finding.Criterion{}, criteria...)
	for i := range criteria {
		criteria[i].Evidence = append([]finding.Lines{}, criteria[i].Evidence...)
	}
	for key, value := range map[string]any{"overview": text, "findings": append([]WholeFinding{}, found...),
		"criteria": criteria, "unasked": append([]finding.Unasked{}, unasked...)} {
		if len(keys) == 0 || slices.Contains(keys, key) {
			answer[key] = value
		}
	}
	return jsonAnswer(answer)
}

// Nothing is the script that says that a whole change changes something, and that every finding holds.
func Nothing(r Request) Answer {
	if r.Question == Recheck {
		return Verdicts(r, func(Claim) bool { return true })
	}
	return Seen(r, "The change changes something.", nil, nil, nil)
}
