package decision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

func record(t *testing.T) Record {
	t.Helper()
	r := Record{
		Thread: "org/payments#42:1a2b3c4", Digest: fmt.Sprintf("%064x", 7), Code: fmt.Sprintf("%016x", 0),
		By: "rita-reviewer", At: time.Date(2026, 11, 21, 14, 10, 3, 99, time.UTC), Via: ByApproval,
	}
	return r.With(parsed(t, "fine\n/approve\n/drop F1: known\n/edit F2: new\n/edit O1: It adds.\n"+
		"/summary F3\n/severity F4 nit"))
}

func TestRecordKeepsToItsSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("record.schema.json")
	require.NoError(t, err)
	approved := record(t)
	approved.Review = 7
	longest := strings.Repeat("é", MaxFeedback/2)
	for _, r := range []Record{
		record(t), record(t).With(Decision{Verdict: Abort}), record(t).Withdraws("58d1e0c2a9b7f346"),
		record(t).Withdraws(""),
		record(t).With(parsed(t, "why\n"+ReviseCommand("be kinder,\r\nand \u202e shorter"))),
		record(t).With(parsed(t, "/revise "+longest)), withDraft(record(t)), approved,
	} {
		encoded, err := r.Encode()
		require.NoError(t, err)
		value := holds(t, string(encoded))
		require.NoError(t, schema.Validate(value), string(encoded))
		back, err := DecodeRecord(encoded)
		require.NoError(t, err)
		again, err := back.Encode()
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(again))

		value["extra"] = 1
		require.Error(t, schema.Validate(value))
	}
}

// withDraft is a record that tells of its draft, as those of earlier versions do not.
func withDraft(r Record) Record {
	r.Findings = []Shown{{ID: "F1", Path: "a.go", Severity: Nit, Category: "style", Source: "linter", Rule: "errcheck",
		Linter: "golangci-lint"}, {ID: "F2", Severity: Blocker, Source: "model", Model: "gpt-5"}}
	r.Drafting = &Effort{Cost: 1200, Calls: 3, Unpriced: 1, Seconds: 8.4}
	return r
}

func holds(t *testing.T, text string) map[string]any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return value.(map[string]any)
}

func TestSchemaAndDecoderRefuseTheSameRecords(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("record.schema.json")
	require.NoError(t, err)
	for name, change := range map[string]func(*Record){
		"feedback without a revision": func(r *Record) { r.Feedback = "x" },
		"a revision without feedback": func(r *Record) { r.Decision = Revise },
		"too much feedback": func(r *Record) {
			r.Decision, r.Feedback = Revise, strings.Repeat("a", MaxFeedback+1)
		},
		"another verdict": func(r *Record) { r.Decision = "merge" },
		"another way":     func(r *Record) { r.Via = "comment" },
		"no digest":       func(r *Record) { r.Digest = "" },
		"nobody":          func(r *Record) { r.By = "" },
		"no review's id":  func(r *Record) { r.Review = -1 },
		"a review of an abort": func(r *Record) {
			r.Decision, r.Review = Abort, 7
		},
		"no thread": func(r *Record) { r.Thread = "" },
	} {
		r := record(t)
		change(&r)
		encoded, err := r.Encode()
		require.NoError(t, err)
		_, err = DecodeRecord(encoded)
		require.Error(t, err, name)
		require.Error(t, schema.Validate(holds(t, string(encoded))), name)
	}
}

func TestT21_DecodingARecordIsStrict(t *testing.T) {
	t.Parallel()
	good, err := record(t).Encode()
	require.NoError(t, err)
	whole := string(good)
	open := whole[:len(whole)-2]
	swap := func(old, new string) string {
		require.Contains(t, whole, old)
		return strings.Replace(whole, old, new, 1)
	}
	for name, text := range map[string]string{
		"unknown member":            open + `,"x":1}`,
		"another case":              open + `,"DECISION":"abort"}`,
		"another case alone":        swap(`"decision"`, `"Decision"`),
		"repeated":                  open + `,"decision":"abort"}`,
		"repeated, escaped":         open + `,"\u0064ecision":"abort"}`,
		"repeated further down":     swap(`"id": "F1"`, `"id":"F1","id":"F2"`),
		"another case further down": swap(`"id": "F1"`, `"ID":"F1"`),
		"bad UTF-8":                 swap("rita", "rit\xff"),
		"a lone surrogate":          swap("rita", `rit\ud800`),
		"two documents":             whole + "{}",
		"a second word":             whole + "null",
		"cut short":                 whole[:len(whole)-3],
		"an array":                  "[" + whole + "]",
		"null":                      "null",
		"nothing":                   "",
		"not JSON":                  "approve",
		"no decision":               `{"thread":"a","digest":"b"}`,
		"at no time":                swap("2026-11-21T14:10:03", "0001-01-01T00:00:00"),
		"no thread":                 swap("org/payments#42:1a2b3c4", ""),
		"by nobody":                 swap("rita-reviewer", ""),
		"another verdict":           swap(`"approve"`, `"Approve"`),
		"another way":               swap(`"approval"`, `"mail"`),
		"a short digest":            swap(`"digest": "00`, `"digest": "`),
		"a digest in capitals":      swap(`07"`, `0A"`),
		"another code":              swap(`"code": "0`, `"code": "1`),
		"an approving redraft":      swap(`"approval"`, `"redraft"`),
		"a number for a text":       swap(`"rita-reviewer"`, "7"),
	} {
		_, err := DecodeRecord([]byte(text))
		require.ErrorContains(t, err, "reading decision record", name)
	}
}

func TestP5_TheSameDecisionIsTheSameWhoeverGivesIt(t *testing.T) {
	t.Parallel()
	r := record(t)
	again := r
	again.By, again.At, again.Via, again.Note = "eve", r.At.Add(time.Hour), ByDispatch, "other words"
	again = withDraft(again)
	require.True(t, r.Same(again))
	for name, change := range map[string]func(*Record){
		"digest":   func(r *Record) { r.Digest = "x" },
		"verdict":  func(r *Record) { r.Decision = Abort },
		"redraft":  func(r *Record) { r.Via = ByRedraft },
		"dropped":  func(r *Record) { r.Dropped = nil },
		"edited":   func(r *Record) { r.Edited = []Edit{{"F2", "newer"}} },
		"moved":    func(r *Record) { r.Moved = append([]Move{{ID: "F9"}}, r.Moved...) },
		"severity": func(r *Record) { r.Severity = []Regrade{{"F4", Minor}} },
		"feedback": func(r *Record) { r.Feedback = "x" },
	} {
		other := r
		change(&other)
		require.False(t, r.Same(other), name)
	}
	encoded, err := Record{Thread: "t", Digest: r.Digest, Code: r.Code, Decision: Approve, By: "rita", At: r.At,
		Via: ByDispatch}.Encode()
	require.NoError(t, err)
	back, err := DecodeRecord(encoded)
	require.NoError(t, err)
	require.True(t, back.Same(Record{Digest: r.Digest, Decision: Approve, Dropped: []Drop{}}), "none is none")
	one := r.With(parsed(t,
		"/drop F2 F1\n/summary F3 F4\n/edit F5: x\n/edit F6: y\n/severity F7 nit\n/severity F8 nit"))
	two := r.With(parsed(t,
		"/severity F8 nit\n/severity F7 nit\n/edit F6: y\n/edit F5: x\n/summary F4 F3\n/drop F1 F2"))
	two.Dropped[0].How = ByRange
	require.True(t, one.Same(two), "in any order, and whatever named them")
	require.Equal(t, Drop{"F2", "", ByID}, one.Dropped[0], "as it was written")
	r.By = "\xff"
	_, err = r.Encode()
	require.Error(t, err, "a record that nothing could read")
}

func TestARedraftAbortsAndNamesTheNewerDraft(t *testing.T) {
	t.Parallel()
	r := record(t).Withdraws("58d1e0c2a9b7f346")
	require.True(t, r.Withdrawn())
	require.Equal(t, Abort, r.Decision)
	require.Equal(t, "58d1e0c2a9b7f346", r.Replaced)
	require.Empty(t, r.Dropped)
	require.False(t, record(t).Withdrawn())
}
