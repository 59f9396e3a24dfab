package decision

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Via says how a decision was given.
type Via string

// The ways to decide: an environment's approval, a dispatched workflow, and
// the command line.
const (
	ByApproval    Via = "approval"
	ByDispatch    Via = "dispatch"
	ByCommandLine Via = "command line"
)

// Record is the lasting account of a decision; record.schema.json describes
// its JSON form. Reasons, bodies and the note are untrusted text.
type Record struct {
	Thread   string    `json:"thread"`
	Digest   string    `json:"digest"` // of the checkpoint, 64 hex digits
	Code     string    `json:"code"`   // its first 16
	Decision Verdict   `json:"decision"`
	By       string    `json:"by"` // a login; on the command line the user's name
	At       time.Time `json:"at"` // UTC, whole seconds
	Via      Via       `json:"via"`
	Dropped  []Drop    `json:"dropped"`
	Edited   []Edit    `json:"edited"`
	Moved    []Move    `json:"moved"`
	Severity []Regrade `json:"severity"`
	Note     string    `json:"note,omitempty"`
}

// With returns the record with verdict, changes and note of d.
func (r Record) With(d Decision) Record {
	r.Decision, r.Note = d.Verdict, d.Note
	r.Dropped, r.Edited, r.Moved, r.Severity = d.Drop, d.Edit, d.Move, d.Severity
	return r
}

// Encode gives the record as one JSON object, ended by a newline.
func (r Record) Encode() ([]byte, error) {
	r.At = r.At.UTC().Truncate(time.Second)
	text, err := json.Marshal(r, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// DecodeRecord reads a record strictly: exact names, no unknown or repeated
// members, one document.
func DecodeRecord(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, fmt.Errorf("reading decision record: %w", err)
	}
	if r.Thread == "" || r.Digest == "" || verdictOf(string(r.Decision)) == "" {
		return Record{}, fmt.Errorf("reading decision record: thread, digest or decision is missing")
	}
	return r, nil
}
