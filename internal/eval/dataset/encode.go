package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
)

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

// renamed copies golden findings with one severity under another name.
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
	h := sha256.New()
	for _, c := range cases {
		hash(h, c.ID, c.Language, string(c.Kind), c.Title, c.Description, c.Diff, strconv.FormatBool(c.Injection),
			strconv.Itoa(len(c.Golden)))
		for _, g := range c.Golden {
			hash(h, string(g.Severity), string(g.Visibility), g.Category, g.Issue, strconv.Itoa(len(g.Also)))
			for _, p := range g.Places() {
				hash(h, p.Path, strconv.Itoa(p.LineStart), strconv.Itoa(p.LineEnd))
			}
			for _, p := range g.Evidence {
				hash(h, "evidence", p.Path, strconv.Itoa(p.LineStart), strconv.Itoa(p.LineEnd))
			}
		}
		hash(h, c.Ticket.texts()...)
		for _, path := range slices.Sorted(maps.Keys(c.Tree)) {
			hash(h, "tree", path, c.Tree[path])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hash writes texts so that none can pass into the next. The error of a hash is
// always nil.
func hash(w io.Writer, texts ...string) {
	for _, s := range texts {
		fmt.Fprintf(w, "%d:%s,", len(s), s)
	}
}
