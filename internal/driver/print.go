package driver

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/trace"
)

// Print writes the report as one JSON object. Every key is present. A cost is null if its price
// is unknown, and open counts are null if they could not be read.
func (r Report) Print(w io.Writer) error {
	if notes := r.State.Notes(); len(notes) > 0 {
		r.Message = strings.TrimPrefix(r.Message+"; "+strings.Join(notes, " "), "; ")
	}
	return PrintJSON(w, struct {
		Report
		Findings []printedFinding `json:"findings"`
		Filtered []printedFinding `json:"filtered"`
		Files    []printedFile    `json:"files"`
		Usage    priced           `json:"usage"`
		Open     Open             `json:"open"`
	}{r, printedFindings(r.Findings), printedFindings(r.Filtered), printedFiles(r.Files), withPrice(r.Usage), r.Open()})
}

// printedFinding is a finding whose list of concurring sources is printed even if empty.
type printedFinding struct {
	finding.Finding
	Also []string `json:"also"`
}

func printedFindings(all []finding.Finding) []printedFinding {
	printed := make([]printedFinding, len(all))
	for i, f := range all {
		printed[i] = printedFinding{f, f.Also}
	}
	return printed
}

// printedFile is a file's result whose reason and pack are printed even if empty.
type printedFile struct {
	finding.FileReview
	Reason finding.Reason  `json:"reason"`
	Pack   []finding.Place `json:"pack"`
}

func printedFiles(all []finding.FileReview) []printedFile {
	printed := make([]printedFile, len(all))
	for i, f := range all {
		printed[i] = printedFile{f, f.Reason, f.Pack}
	}
	return printed
}

// priced is a usage with its cost; null if no price is known.
type priced struct {
	cost.Usage
	EmbeddingTokens int64          `json:"embedding_tokens"`
	RerankUnits     int64          `json:"rerank_units"`
	Cost            *cost.MicroUSD `json:"cost_microusd"`
}

func withPrice(u cost.Usage) priced {
	return priced{u, u.EmbeddingTokens, u.RerankUnits, u.Known()}
}

// PrintJSON writes one indented JSON value, in which no list is null.
func PrintJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false),
		jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// Tree returns how a draft's run came to its findings: files, calls, tools, and the
// fate of each finding.
func Tree(r Report) trace.Node {
	root := trace.Node{Name: r.Thread, Time: -1, Usage: r.Usage, End: r.Outcome}
	for _, f := range r.State.Coverage() {
		if f.State != finding.Skipped {
			root.Children = append(root.Children, fileNode(f, r.State.Comments))
		}
	}
	if u := r.State.Whole.Usage; u.Calls > 0 {
		root.Children = append(root.Children, trace.Node{Name: "the change as a whole", Time: -1, Usage: u})
	}
	return root
}

// fileNode returns a file with its calls and the fate of its findings.
func fileNode(f finding.FileReview, all []finding.Finding) trace.Node {
	n := trace.Node{Name: f.Path, Usage: f.Usage, End: string(f.State)}
	if f.Label != "" {
		n.Name += " (" + f.Label + ")"
	}
	for _, c := range f.Calls {
		took := time.Duration(c.Seconds * float64(time.Second))
		n.Time += took
		call := trace.Node{Name: strings.TrimSpace(c.Task + " " + c.Model), Time: took, Usage: c.Usage, End: c.Finish,
			Tools: c.Tools}
		if c.Part > 0 {
			call.Name += fmt.Sprintf(", part %d", c.Part)
		}
		n.Children = append(n.Children, call)
	}
	for _, p := range f.Pack {
		n.Notes = append(n.Notes, fmt.Sprintf("shown: %s:%d-%d, %s", p.Path, p.StartLine, p.EndLine, p.Why))
	}
	if f.Reason != "" {
		n.Notes = append(n.Notes, string(f.Reason))
	}
	for _, c := range all {
		if c.Path == f.Path {
			n.Notes = append(n.Notes, fate(c))
		}
	}
	return n
}

// fate returns a line about what happened to a finding.
func fate(f finding.Finding) string {
	what := cmp.Or(f.ID, string(f.Filtered))
	text := fmt.Sprintf("%s %s line %d, by %s: %s", what, f.Severity, f.Line, f.Source, f.Title)
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}
