// Package sarif writes what a decision kept as a SARIF 2.1.0 file, the form in which code scanning takes results.
//
// It is a pure function of findings: equal runs give equal bytes. Text of a model or a pull request passes through
// package guard, so that it is inert also where a viewer reads messages as Markdown. Start reading at Encode.
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

// Limits of GitHub's code scanning: an upload with more results, or of more than 10 MB compressed, is refused, and of
// the results only so many are shown. Source: docs.github.com, "SARIF support for code scanning".
const (
	MaxResults = 25_000
	MaxShown   = 5_000
	maxBytes   = 4 << 20 // of messages and paths, which compress by an unknown factor
)

// Run is one decided review.
type Run struct {
	Version  string            // of the tool; empty is not written
	Page     string            // address of the tool; empty is not written
	Instance string            // slug of a second reviewer; uploads of two do not replace each other
	Head     string            // the reviewed commit; empty for local input
	Findings []finding.Finding // those that the decision kept
}

// Encode gives the run as one JSON document that ends in a newline. Where there are more findings than code scanning
// takes, the gravest are written and left is the number of the others.
func Encode(r Run) (text []byte, left int, err error) {
	found := slices.Clone(r.Findings)
	order.Stable(found, func(a, b finding.Finding) int {
		return cmp.Compare(b.Severity.Rank(), a.Severity.Rank())
	})
	results := results(found)
	decided := run{
		Tool:       tool{driver{Name: "pr-review", Version: r.Version, Page: r.Page, Rules: rules(results, r.Page)}},
		Automation: automation{wording.Joined("/", "pr-review", r.Instance) + "/" + r.Head},
		Results:    results,
	}
	text, err = json.Marshal(log{Schema: schema, Version: "2.1.0", Runs: []run{decided}}, jsontext.WithIndent("  "),
		json.FormatNilSliceAsNull(false))
	if err != nil {
		return nil, 0, fmt.Errorf("writing SARIF: %w", err)
	}
	return append(text, '\n'), len(r.Findings) - len(results), nil
}

// results takes findings from the front as long as code scanning takes them.
func results(found []finding.Finding) []result {
	list, times, bytes := make([]result, 0, min(len(found), MaxResults)), map[string]int{}, 0
	for _, f := range found {
		r := newResult(f)
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

func newResult(f finding.Finding) result {
	return result{
		Rule: ruleID(f.Category), Level: levelOf(f.Severity), Message: text{message(f)},
		Locations:    []location{{place(f)}},
		Fingerprints: fingerprints{Own: f.Fingerprint},
		Properties:   properties{f.Severity, share(f.Confidence), f.Source},
	}
}

// rules are the categories of results, by id; each result is told the place of
// its own. The results come gravest first.
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
		"who decided it."}, Default: level{"warning"}}
	if page != "" {
		r.Page = page + categories
	}
	if id == "security" || id == "secret" || id == "hidden-text" {
		r.Properties = &ruleProperties{Tags: []string{"security"}, Severity: scores[gravest]}
	}
	return r
}

// categories is the section of the tool's pages that says what a category is.
const categories = "/blob/v1/.github/DECIDING.md#categories"

// scores are the values that code scanning shows as critical, high, medium and low.
var scores = map[finding.Severity]string{finding.Blocker: "9.5", finding.Major: "8.0", finding.Minor: "5.0",
	finding.Nit: "2.0"}

// ruleID is a category, which is untrusted text, in small letters, digits and hyphens, 60 of them at most.
func ruleID(category string) string {
	words := strings.FieldsFunc(strings.ToLower(category), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	id := strings.Join(words, "-")
	return cmp.Or(strings.Trim(id[:min(len(id), 60)], "-"), "other")
}

func levelOf(s finding.Severity) string {
	switch s {
	case finding.Blocker, finding.Major:
		return "error"
	case finding.Minor:
		return "warning"
	}
	return "note"
}

// share is a number from 0 to 1, 0 for one that is none.
func share(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// schema names the schema by which readers may check the file. Nothing fetches it.
const schema = "https://json.schemastore.org/sarif-2.1.0.json"

// The types below are the part of the standard's object model that is written, under the standard's names.

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool       tool       `json:"tool"`
	Automation automation `json:"automationDetails"`
	Results    []result   `json:"results"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Page    string `json:"informationUri,omitempty"`
	Rules   []rule `json:"rules"`
}

// automation has the category of an upload, up to the last slash, and behind it the run's own name.
type automation struct {
	ID string `json:"id"`
}

type rule struct {
	ID         string          `json:"id"`
	Short      text            `json:"shortDescription"`
	Full       text            `json:"fullDescription"`
	Help       text            `json:"help"`
	Page       string          `json:"helpUri,omitempty"`
	Default    level           `json:"defaultConfiguration"`
	Properties *ruleProperties `json:"properties,omitempty"`
}

type ruleProperties struct {
	Tags     []string `json:"tags"`
	Severity string   `json:"security-severity,omitempty"`
}

type text struct {
	Text string `json:"text"`
}

type level struct {
	Level string `json:"level"`
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
	Artifact artifact `json:"artifactLocation"`
	Region   *region  `json:"region,omitempty"`
}

type artifact struct {
	URI string `json:"uri"`
}

type region struct {
	Start   int   `json:"startLine"`
	End     int   `json:"endLine"`
	Snippet *text `json:"snippet,omitempty"` // the line, where the region is one
}

// fingerprints are the finding's own, and the one that code scanning reads, which
// must tell apart what has the same one.
type fingerprints struct {
	Own  string `json:"prReview/v1"`
	Line string `json:"primaryLocationLineHash"`
}

type properties struct {
	Severity   finding.Severity `json:"severity"`
	Confidence float64          `json:"confidence"`
	Source     finding.Source   `json:"source"`
}
