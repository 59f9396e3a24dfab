package linter

import (
	"bytes"
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
	Bases   sarifBases   `json:"originalUriBaseIds"`
	Results sarifResults `json:"results"`
}

func (sarifRun) maxEntries() int { return 50 }

type sarifTool struct {
	Name  string               `json:"name"`
	Rules shortList[sarifRule] `json:"rules"`
}

func (sarifTool) maxEntries() int { return 50 }

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

func (sarifRule) maxEntries() int { return 5000 }

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

func (sarifLocation) maxEntries() int { return 1 }

type sarifSuppression struct {
	Status string `json:"status"`
}

func (sarifSuppression) maxEntries() int { return 10 }

// sarifURI is an address and the name of its base.
type sarifURI struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

// sarifBases maps names to the base addresses of others.
type sarifBases map[string]sarifURI

// maxBases is the maximum size of sarifBases in bytes.
const maxBases = 64 << 10

// UnmarshalJSONFrom reads the bases, unless they are too large.
func (b *sarifBases) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err == nil && len(v) <= maxBases {
		_ = json.Unmarshal(v, (*map[string]sarifURI)(b), lenient) // malformed bases are left out
	}
	return err
}

// resolve returns an address after the bases that it is relative to.
func (b sarifBases) resolve(u sarifURI) string {
	path := u.URI
	for range 5 {
		base, known := b[u.Base]
		if u.Base == "" || !known || strings.Contains(path, "://") {
			break
		}
		path, u = strings.TrimSuffix(base.URI, "/")+"/"+path, base
	}
	return path
}

// sarifResults holds the results of a run that may be on a line of the change. The rest are
// only counted, so that results for a whole repository fit into memory.
type sarifResults struct {
	list []sarifResult
}

// maxHeld is how many results of a run are held until its rules are known.
const maxHeld = 20 * maxResults

// sarif reads the runs of a log one at a time.
func (r *Reader) sarif(content []byte) error {
	keep := json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *sarifResults) error {
		return each(dec, func(v jsontext.Value) {
			var one sarifResult
			switch {
			case !r.admit():
			case json.Unmarshal(v, &one, lenient) != nil:
				r.Left.Unreadable++
			case !r.mayConcernChange(one):
			case len(into.list) >= maxHeld:
				r.Left.Beyond++
			default:
				into.list = append(into.list, one)
			}
		})
	})
	runs := json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *shortList[sarifRun]) error {
		n := 0
		return each(dec, func(v jsontext.Value) {
			var run sarifRun
			if n++; n > run.maxEntries() || json.Unmarshal(v, &run, lenient, json.WithUnmarshalers(keep)) != nil {
				r.Left.Unreadable++
			}
			for _, one := range run.Results.list {
				r.add(run.result(one))
			}
		})
	})
	var log struct {
		Runs shortList[sarifRun] `json:"runs"`
	}
	dec := jsontext.NewDecoder(bytes.NewReader(content), lenient)
	if err := json.UnmarshalDecode(dec, &log, json.WithUnmarshalers(runs)); err != nil {
		return withPosition(content, err)
	}
	return nil
}

// mayConcernChange reports whether a result can be on a line of the change, and counts most of those that cannot.
func (r *Reader) mayConcernChange(s sarifResult) bool {
	suppressed := slices.ContainsFunc(s.Suppressions.list, func(by sarifSuppression) bool {
		return by.Status == "" || by.Status == "accepted"
	})
	where := s.Locations.first().Physical
	switch {
	case s.Kind == "pass" || s.Kind == "notApplicable" || s.Baseline == "absent":
		return false
	case suppressed:
		r.Left.Suppressed++
	case where.Artifact.URI == "" || where.Region.Start < 1:
		r.Left.Unreadable++
	case !r.change.hasName(where.Artifact.URI):
		r.Left.Outside++
	default:
		return true
	}
	return false
}

// result returns a result of the run, completed with what its rule says.
func (run sarifRun) result(s sarifResult) Result {
	rule, tool := run.rule(s)
	where := s.Locations.first().Physical
	return Result{
		Tool: tool, Rule: cmp.Or(s.RuleID, s.Rule.ID, rule.ID),
		Message: cmp.Or(s.Message.Text, rule.Short.Text), Help: rule.Help, Severity: rule.severity(s.Level),
		Path: run.Bases.resolve(where.Artifact), Line: where.Region.Start,
		End: max(where.Region.Start, where.Region.End), Snippet: where.Region.Snippet.Text,
	}
}

// rule returns the rule that a result names, by index or ID, and the tool's name.
func (run sarifRun) rule(s sarifResult) (sarifRule, string) {
	tool := run.Tool.Driver
	if i := s.Rule.Component.Index; i != nil && *i >= 0 && *i < len(run.Tool.Extensions.list) {
		tool = run.Tool.Extensions.list[*i]
	}
	id, index := cmp.Or(s.RuleID, s.Rule.ID), cmp.Or(s.Rule.Index, s.RuleIndex)
	if index != nil && *index >= 0 && *index < len(tool.Rules.list) {
		if rule := tool.Rules.list[*index]; id == "" || rule.ID == id || strings.HasPrefix(id, rule.ID+"/") {
			return rule, run.Tool.Driver.Name
		}
	}
	for _, rule := range tool.Rules.list {
		if rule.ID == id {
			return rule, run.Tool.Driver.Name
		}
	}
	return sarifRule{}, run.Tool.Driver.Name
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
