package config

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/finding"
)

// Report says what of a review is reported. Zero values are the defaults.
type Report struct {
	Criteria   bool             `json:"criteria,omitzero"` // the section "What was asked" in the posted review
	Tests      bool             `json:"tests,omitzero"`    // that tests are absent
	Style      bool             `json:"style,omitzero"`
	From       finding.Severity `json:"from,omitzero"`       // the weakest that is reported; empty for all
	Categories []string         `json:"categories,omitzero"` // those that are reported; empty for all
	Without    []string         `json:"without,omitzero"`    // rules that are not: errcheck, revive lll
}

// The categories that are reported only where Report says so.
const (
	CategoryTests = "tests"
	CategoryStyle = "style"
)

func reportKeys(p *Report) keys {
	known := []string{"correctness", "security", "concurrency", "error-handling", "resource", "data", "compatibility",
		"performance", "design", "maintainability", "requirement", "test", CategoryTests, CategoryStyle, "other",
		"lint", "secret", "hidden-text"}
	categories := listed("categories", &p.Categories, free)
	categories.read = func(r *reader, n ast.Node) { p.Categories = r.texts(n, r.among(known)) }
	return keys{
		flag("criteria", &p.Criteria), flag("tests", &p.Tests), flag("style", &p.Style),
		choice("from", &p.From, finding.Nit, finding.Severities()...),
		categories, listed("without", &p.Without, free),
	}
}

// OverviewUse says what becomes of the sentences on what a change does.
type OverviewUse string

// The values of overview; the empty one is OverviewShow.
const (
	OverviewShow OverviewUse = "show" // to the approver
	OverviewPost OverviewUse = "post" // in the review too
	OverviewOff  OverviewUse = "off"
)

func overviewKey(into *OverviewUse) key {
	k := choice("overview", into, OverviewShow, OverviewShow, OverviewPost, OverviewOff)
	one := k.read
	k.read = func(r *reader, n ast.Node) {
		*into = ""
		if one(r, n); *into == OverviewShow {
			*into = "" // as where nothing is set
		}
	}
	return k
}
