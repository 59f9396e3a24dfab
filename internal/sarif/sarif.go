// Package sarif writes what a decision kept as a SARIF 2.1.0 file, the format that code scanning accepts.
//
// It is a pure function of findings: equal runs give equal bytes. Text from a model or a pull request passes
// through package guard, so that it is inert even if a viewer reads messages as Markdown. Start reading at Encode.
package sarif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/wording"
)

// Limits of GitHub's code scanning, which refuses an upload with more results, or of more than 10 MB compressed.
// Source: docs.github.com, "SARIF support for code scanning".
const (
	MaxResults = 25_000
	maxBytes   = 4 << 20 // of messages and paths, which compress by an unknown factor
)

// Run is one decided review.
type Run struct {
	Version  string            // of the tool; omitted if empty
	Page     string            // address of the tool; omitted if empty
	Instance string            // slug of a second reviewer, so that uploads of two do not replace each other
	Head     string            // the reviewed commit; empty for local input
	Findings []finding.Finding // findings that the decision kept
}

// Encode returns the run as one JSON document that ends in a newline. If there are more findings than
// code scanning accepts, it writes the most severe ones, and left is the number of the others.
func Encode(r Run) (text []byte, left int, err error) {
	found := slices.Clone(r.Findings)
	order.Stable(found, func(a, b finding.Finding) int {
		return cmp.Compare(b.Severity.Rank(), a.Severity.Rank())
	})
	results := results(found)
	decided := run{Results: results}
	decided.Tool.Driver = driver{Name: "pr-review", Version: r.Version, Page: r.Page, Rules: rules(results, r.Page)}
	decided.Automation.ID = wording.Joined("/", "pr-review", r.Instance) + "/" + r.Head
	text, err = json.Marshal(log{Schema: schema, Version: "2.1.0", Runs: []run{decided}}, jsontext.WithIndent("  "),
		json.FormatNilSliceAsNull(false))
	if err != nil {
		return nil, 0, fmt.Errorf("writing SARIF: %w", err)
	}
	return append(text, '\n'), len(r.Findings) - len(results), nil
}

// results converts findings from the front, as many as code scanning accepts.
func results(found []finding.Finding) []result {
	list, times, bytes := make([]result, 0, min(len(found), MaxResults)), map[string]int{}, 0
	for _, f := range found {
		r := result{
			Rule: ruleID(f.Category), Level: cmp.Or(levels[f.Severity], "note"), Message: text{message(f)},
			Locations:    []location{{place(f)}},
			Fingerprints: fingerprints{Own: f.Fingerprint},
			Properties:   properties{f.Severity, clampShare(f.Confidence), f.Source},
		}
		bytes += len(r.Message.Text) + len(r.Locations[0].Physical.Artifact.URI)
		if len(list) == MaxResults || bytes > maxBytes {
			break
		}
		times[f.Fingerprint]++
		r.Fingerprints.Line = fmt.Sprintf("%s:%d", f.Fingerprint, times[f.Fingerprint])
		list = append(list, r)
	}
	return list
}

// rules returns the results' categories as rules, by ID, and sets each result's index into
// them. The results must be ordered most severe first.
func rules(results []result, page string) (all []rule) {
	seen := map[string]bool{}
	for _, r := range results {
		if !seen[r.Rule] {
			seen[r.Rule] = true
			all = append(all, newRule(r.Rule, r.Properties.Severity, page))
		}
	}
	order.Stable(all, func(a, b rule) int { return cmp.Compare(a.ID, b.ID) })
	for i := range results {
		results[i].Index, _ = slices.BinarySearchFunc(all, results[i].Rule, func(r rule, id string) int {
			return cmp.Compare(r.ID, id)
		})
	}
	return all
}

func newRule(id string, gravest finding.Severity, page string) rule {
	about := text{"Findings of the category " + id + "."}
	r := rule{ID: id, Short: about, Full: about, Help: text{"Found in a review of a change, and kept by the person " +
		"who decided it."}}
	r.Default.Level = "warning"
	if page != "" {
		r.Page = page + categories
	}
	if id == "security" || id == finding.Secret || id == finding.HiddenText {
		r.Properties = &ruleProperties{Tags: []string{"security"}, Severity: scores[gravest]}
	}
	return r
}

// categories is the section of the tool's pages that explains the categories.
const categories = "/blob/v1/.github/DECIDING.md#categories"

// levels has the level of each severity that is more than a note.
var levels = map[finding.Severity]string{finding.Blocker: "error", finding.Major: "error", finding.Minor: "warning"}

// scores maps severities to scores that code scanning shows as critical, high, medium and low.
var scores = map[finding.Severity]string{finding.Blocker: "9.5", finding.Major: "8.0", finding.Minor: "5.0",
	finding.Nit: "2.0"}

// ruleID reduces a category, which is untrusted text, to at most 60 lower-case letters, digits and hyphens.
func ruleID(category string) string {
	words := strings.FieldsFunc(strings.ToLower(category), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	id := strings.Join(words, "-")
	return cmp.Or(strings.Trim(id[:min(len(id), 60)], "-"), "other")
}

// clampShare clamps a number to the range 0 to 1; NaN becomes 0.
func clampShare(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// schema is the address of a schema to check the file with. Nothing fetches it.
const schema = "https://json.schemastore.org/sarif-2.1.0.json"

// The types below are the part of the standard's object model that is written, under the standard's names.

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool struct {
		Driver driver `json:"driver"`
	} `json:"tool"`
	Automation struct { // identifies an upload: its category up to the last slash, then the run's own name
		ID string `json:"id"`
	} `json:"automationDetails"`
	Results []result `json:"results"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Page    string `json:"informationUri,omitempty"`
	Rules   []rule `json:"rules"`
}

type rule struct {
	ID      string `json:"id"`
	Short   text   `json:"shortDescription"`
	Full    text   `json:"fullDescription"`
	Help    text   `json:"help"`
	Page    string `json:"helpUri,omitempty"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties *ruleProperties `json:"properties,omitempty"`
}

type ruleProperties struct {
	Tags     []string `json:"tags"`
	Severity string   `json:"security-severity,omitempty"`
}

type text struct {
	Text string `json:"text"`
}

type result struct {
	Rule         string       `json:"ruleId"`
	Index        int          `json:"ruleIndex"`
	Level        string       `json:"level"`
	Message      text         `json:"message"`
	Locations    []location   `json:"locations"`
	Fingerprints fingerprints `json:"partialFingerprints"`
	Properties   properties   `json:"properties"`
}

type location struct {
	Physical physical `json:"physicalLocation"`
}

type physical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *region `json:"region,omitempty"`
}

type region struct {
	Start   int   `json:"startLine"`
	End     int   `json:"endLine"`
	Snippet *text `json:"snippet,omitempty"` // the line, if the region is a single one
}

// fingerprints holds the finding's own fingerprint, and the one that code scanning reads,
// which must differ between findings with the same one.
type fingerprints struct {
	Own  string `json:"prReview/v1"`
	Line string `json:"primaryLocationLineHash"`
}

type properties struct {
	Severity   finding.Severity `json:"severity"`
	Confidence float64          `json:"confidence"`
	Source     finding.Source   `json:"source"`
}
