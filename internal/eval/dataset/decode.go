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

// decode parses one line strictly: exact keys, no duplicates, valid UTF-8. It returns
// the case, its id, or "-" if that cannot be read, and all that is wrong.
func decode(row []byte, folder fs.FS) (c Case, id string, reasons []string) {
	var w wireCase
	err := json.Unmarshal(row, &w, json.RejectUnknownMembers(true))
	if errors.Is(err, json.ErrUnknownName) { // continue, to report what else is wrong
		reasons = append(reasons, jsonReason(err))
		w = wireCase{}
		err = json.Unmarshal(row, &w)
	}
	if err != nil {
		var named struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(row, &named) // the id, if it precedes the error
		return Case{}, displayID(named.ID), append(reasons, jsonReason(err))
	}
	if reason := w.load(folder); reason != "" {
		reasons = append(reasons, reason)
	}
	return normalize(w.Case), displayID(w.ID), append(reasons, check(w.Case)...)
}

// load reads the diff and the tree from the files that the case names. It returns a reason
// if it cannot.
func (w *wireCase) load(folder fs.FS) (reason string) {
	switch {
	case w.Diff == "" && w.DiffFile == "":
		return "neither diff nor diff_file is given"
	case w.Diff != "" && w.DiffFile != "":
		return "both diff and diff_file are given; give one"
	case w.Tree != nil && w.TreeFile != "":
		return "both tree and tree_file are given; give one"
	case w.DiffFile != "":
		w.Diff, reason = textOf(folder, "diff_file", w.DiffFile)
	}
	if reason == "" && w.TreeFile != "" {
		var text string
		text, reason = textOf(folder, "tree_file", w.TreeFile)
		w.Tree, reason = unpackTree(text, reason)
	}
	return reason
}

// unpackTree parses a tree_file: a txtar archive in which no path may appear twice.
func unpackTree(text, reason string) (map[string]string, string) {
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

// displayID returns an id for messages, or "-" for an invalid one.
func displayID(id string) string {
	if !validID(id) {
		return "-"
	}
	return id
}

// normalize converts a case to the product's form: its severities, and nil for empty lists.
func normalize(c Case) Case {
	c.Golden = renameSeverity(c.Golden, critical, finding.Blocker)
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

// jsonReason describes what is wrong with a JSON text. The library's own messages vary
// from run to run.
func jsonReason(err error) string {
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
		return fmt.Sprintf("no valid JSON from byte %d of the line on", e.ByteOffset+1)
	}
	return "no valid JSON"
}

// critical is the format's name for a blocker.
const critical finding.Severity = "critical"

// Encode writes one case per line, with its diff inline, as Read reads them. Text
// that is not UTF-8 is an error.
func Encode(w io.Writer, cases []Case) error {
	out := jsontext.NewEncoder(w)
	for _, c := range cases {
		c.Golden = renameSeverity(c.Golden, finding.Blocker, critical)
		if err := json.MarshalEncode(out, c, json.Deterministic(true)); err != nil {
			return fmt.Errorf("writing case %s: %w", c.ID, err)
		}
	}
	return nil
}

func renameSeverity(golden []Golden, from, to finding.Severity) []Golden {
	golden = slices.Clone(golden)
	for i := range golden {
		if golden[i].Severity == from {
			golden[i].Severity = to
		}
	}
	return golden
}

// Fingerprint returns the SHA-256, in hex, of all that is reviewed and scored in the
// cases, in their order. It leaves out where a case comes from: repository, commits,
// date, licence, and the commit that fixed the defect.
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
