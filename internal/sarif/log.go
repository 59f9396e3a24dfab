package sarif

import "github.com/org/pr-review-action/internal/finding"

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
