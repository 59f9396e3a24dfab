package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/review"
)

type wireCase struct {
	Case
	DiffFile string `json:"diff_file"`
	TreeFile string `json:"tree_file"`
}

// decode reads one line strictly: exact keys, none twice, valid UTF-8. It gives
// the case and its id, "-" where none can be read, and all that is wrong.
func decode(row []byte, folder fs.FS) (c Case, id string, reasons []string) {
	var w wireCase
	err := json.Unmarshal(row, &w, json.RejectUnknownMembers(true))
	if errors.Is(err, json.ErrUnknownName) { // what else is wrong is to be said as well
		reasons = append(reasons, wording(err))
		w = wireCase{}
		err = json.Unmarshal(row, &w)
	}
	if err != nil {
		return Case{}, idOf(row), append(reasons, wording(err))
	}
	if reason := w.load(folder); reason != "" {
		reasons = append(reasons, reason)
	}
	return normal(w.Case), shown(w.ID), append(reasons, check(w.Case)...)
}

// load gives the case the diff and the tree of their files, or says why it has none.
func (w *wireCase) load(folder fs.FS) (reason string) {
	switch {
	case w.Diff == "" && w.DiffFile == "":
		return "neither diff nor diff_file is given"
	case w.Diff != "" && w.DiffFile != "":
		return "both diff and diff_file are given; give one"
	case w.Tree != nil && w.TreeFile != "":
		return "both tree and tree_file are given; give one"
	case w.DiffFile != "":
		w.Diff, reason = textOf(folder, "diff_file", w.DiffFile, MaxDiff)
	}
	if reason == "" && w.TreeFile != "" {
		var text string
		text, reason = textOf(folder, "tree_file", w.TreeFile, 2*MaxTreeBytes)
		w.Tree, reason = unpacked(text, reason)
	}
	return reason
}

// unpacked reads a tree_file: a txtar archive, in which no path appears twice.
func unpacked(text, reason string) (map[string]string, string) {
	files := map[string]string{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		if _, twice := files[f.Name]; twice {
			return nil, fmt.Sprintf("tree_file: %.200q is in it twice", f.Name)
		}
		files[f.Name] = string(f.Data)
	}
	if len(files) == 0 && reason == "" {
		reason = "tree_file: it contains no file"
	}
	return files, reason
}

// idOf reads the id of a line that is wrong. What stands before the error counts.
func idOf(row []byte) string {
	var w struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(row, &w) // the error is that of decode
	return shown(w.ID)
}

// shown is an id as messages give it.
func shown(id string) string {
	if !nameable(id) {
		return "-"
	}
	return id
}

// normal gives a case as the product holds it: its severities, and empty lists as nil.
func normal(c Case) Case {
	c.Golden = renamed(c.Golden, critical, finding.Blocker)
	for i := range c.Golden {
		if len(c.Golden[i].Also) == 0 {
			c.Golden[i].Also = nil
		}
	}
	if len(c.Golden) == 0 {
		c.Golden = nil
	}
	return c
}

// wording says what is wrong with a JSON text. The library's own words change
// from run to run.
func wording(err error) string {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		key := strings.TrimPrefix(string(e.JSONPointer), "/")
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return fmt.Sprintf("unknown key %.100q", key)
		case key == "":
			return "the line is not a JSON object"
		}
		return fmt.Sprintf("%.100q has a value of the wrong type", key)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Sprintf("key %.100q appears twice in one object", strings.TrimPrefix(string(e.JSONPointer), "/"))
		}
		return fmt.Sprintf("no valid JSON from byte %d of the line on", e.ByteOffset+1)
	}
	return "no valid JSON"
}

// critical is the format's name of a blocker.
const critical finding.Severity = "critical"

// Encode writes a case a line, with its diff in it, as Read reads them. Text that
// is not UTF-8 is an error.
func Encode(w io.Writer, cases []Case) error {
	out := jsontext.NewEncoder(w)
	for _, c := range cases {
		c.Golden = renamed(c.Golden, finding.Blocker, critical)
		if err := json.MarshalEncode(out, c, json.Deterministic(true)); err != nil {
			return fmt.Errorf("writing case %s: %w", c.ID, err)
		}
	}
	return nil
}

func renamed(golden []Golden, from, to finding.Severity) []Golden {
	golden = slices.Clone(golden)
	for i := range golden {
		if golden[i].Severity == from {
			golden[i].Severity = to
		}
	}
	return golden
}

// Fingerprint is the SHA-256, in hex, over what is reviewed and scored of the
// cases, in their order. Where a case comes from is not in it: repository,
// commits, date, licence, and the commit that fixed the defect.
func Fingerprint(cases []Case) string {
	var texts []string
	hash := func(more ...string) { texts = append(texts, more...) }
	for _, c := range cases {
		hash(c.ID, c.Language, string(c.Kind), c.Title, c.Description, c.Diff, strconv.FormatBool(c.Injection),
			strconv.Itoa(len(c.Golden)))
		for _, g := range c.Golden {
			hash(string(g.Severity), string(g.Visibility), g.Category, g.Issue, strconv.Itoa(len(g.Also)))
			for _, p := range g.Places() {
				hash(p.Path, strconv.Itoa(p.LineStart), strconv.Itoa(p.LineEnd))
			}
			for _, p := range g.Evidence {
				hash("evidence", p.Path, strconv.Itoa(p.LineStart), strconv.Itoa(p.LineEnd))
			}
		}
		hash(c.Ticket.texts()...)
		for _, path := range slices.Sorted(maps.Keys(c.Tree)) {
			hash("tree", path, c.Tree[path])
		}
	}
	return review.Hash(texts...)
}
