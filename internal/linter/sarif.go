package linter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
)

// The types below are the part of SARIF 2.1.0 that this package reads
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).

type sarifRun struct {
	Tool struct {
		Driver     sarifTool            `json:"driver"`
		Extensions shortList[sarifTool] `json:"extensions"`
	} `json:"tool"`
	Bases   map[string]sarifURI `json:"originalUriBaseIds"`
	Results []jsontext.Value    `json:"results"`
}

type sarifTool struct {
	Name  string               `json:"name"`
	Rules shortList[sarifRule] `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Help    string    `json:"helpUri"`
	Short   sarifText `json:"shortDescription"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties struct {
		Severity jsontext.Value `json:"security-severity"` // a number, mostly in quotes
	} `json:"properties"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string `json:"ruleId"`
	RuleIndex *int   `json:"ruleIndex"`
	Rule      struct {
		ID        string `json:"id"`
		Index     *int   `json:"index"`
		Component struct {
			Index *int `json:"index"`
		} `json:"toolComponent"`
	} `json:"rule"`
	Kind         string                      `json:"kind"`
	Level        string                      `json:"level"`
	Baseline     string                      `json:"baselineState"`
	Message      sarifText                   `json:"message"`
	Locations    shortList[sarifLocation]    `json:"locations"`
	Suppressions shortList[sarifSuppression] `json:"suppressions"`
}

type sarifLocation struct {
	Physical struct {
		Artifact sarifURI `json:"artifactLocation"`
		Region   struct {
			Start   int       `json:"startLine"`
			End     int       `json:"endLine"`
			Snippet sarifText `json:"snippet"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

type sarifSuppression struct {
	Status string `json:"status"`
}

// sarifURI is an address and the name of its base.
type sarifURI struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

// resolve returns an address after the bases that it is relative to, as far as the path is not too long.
func (run sarifRun) resolve(u sarifURI) string {
	path := u.URI
	for range 5 {
		base, known := run.Bases[u.Base]
		if !known || len(base.URI)+len(path) > maxPath || strings.Contains(path, "://") {
			break
		}
		path, u = strings.TrimSuffix(base.URI, "/")+"/"+path, base
	}
	return path
}

// shortList is a JSON list of which the first entries are kept, without malformed ones: small entries could otherwise
// take many times the file's size in memory.
type shortList[T any] []T

const maxEntries = 5000

// UnmarshalJSONFrom reads a list, as shortList describes.
func (s *shortList[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var all []jsontext.Value
	if err := json.UnmarshalDecode(dec, &all); err != nil {
		return err
	}
	for _, v := range all[:min(len(all), maxEntries)] {
		var one T
		if json.Unmarshal(v, &one, lenient) == nil {
			*s = append(*s, one)
		}
	}
	return nil
}

func (r *Reader) sarif(runs []jsontext.Value) {
	for _, v := range runs {
		var run sarifRun
		if json.Unmarshal(v, &run, lenient) != nil {
			r.Left.Unreadable++
			continue
		}
		for s := range entries[sarifResult](r, run.Results) {
			suppressed := slices.ContainsFunc(s.Suppressions, func(by sarifSuppression) bool {
				return by.Status == "" || by.Status == "accepted"
			})
			switch {
			case s.Kind == "pass" || s.Kind == "notApplicable" || s.Baseline == "absent":
			case suppressed:
				r.Left.Suppressed++
			default:
				r.add(run.result(s))
			}
		}
	}
}

// result returns a result of the run, completed with what its rule says.
func (run sarifRun) result(s sarifResult) Result {
	rule := run.rule(s)
	var at sarifLocation
	if len(s.Locations) > 0 {
		at = s.Locations[0]
	}
	where := at.Physical
	return Result{
		Tool: run.Tool.Driver.Name, Rule: cmp.Or(s.RuleID, s.Rule.ID, rule.ID),
		Message: cmp.Or(s.Message.Text, rule.Short.Text), Help: rule.Help, Severity: rule.severity(s.Level),
		Path: run.resolve(where.Artifact), Line: where.Region.Start,
		End: max(where.Region.Start, where.Region.End), Snippet: where.Region.Snippet.Text,
	}
}

// rule returns the rule that a result names, by index or ID.
func (run sarifRun) rule(s sarifResult) sarifRule {
	rules := run.Tool.Driver.Rules
	if i := s.Rule.Component.Index; i != nil && *i >= 0 && *i < len(run.Tool.Extensions) {
		rules = run.Tool.Extensions[*i].Rules
	}
	id, index := cmp.Or(s.RuleID, s.Rule.ID), cmp.Or(s.Rule.Index, s.RuleIndex)
	if index != nil && *index >= 0 && *index < len(rules) {
		if rule := rules[*index]; id == "" || rule.ID == id || strings.HasPrefix(id, rule.ID+"/") {
			return rule
		}
	}
	at := slices.IndexFunc(rules, func(rule sarifRule) bool { return rule.ID == id })
	if at < 0 {
		return sarifRule{}
	}
	return rules[at]
}

// severity returns the severity of a result's level, or else of its rule's, raised if the
// rule's security score demands it (https://docs.github.com/en/code-security, 0.0 to 10.0).
func (rule sarifRule) severity(level string) finding.Severity {
	s := severityOf(cmp.Or(level, rule.Default.Level))
	score, err := strconv.ParseFloat(strings.Trim(string(rule.Properties.Severity), `"`), 64)
	switch {
	case err != nil:
	case score >= 7:
		return finding.Major
	case score >= 4 && s == finding.Nit:
		return finding.Minor
	}
	return s
}
