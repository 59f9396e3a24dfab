package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/finding"
)

// Report says what of a review is reported. Zero values are the defaults.
type Report struct {
	Criteria bool `json:"criteria,omitzero"` // the section "What was asked" in the posted review
	Tests    bool `json:"tests,omitzero"`    // that tests are absent
	Style    bool `json:"style,omitzero"`
}

// The categories that are reported only where Report says so.
const (
	CategoryTests = "tests"
	CategoryStyle = "style"
)

// Reports tells whether findings of a category are reported.
func (r Report) Reports(f finding.Finding) bool {
	switch strings.ToLower(f.Category) {
	case CategoryTests:
		return r.Tests
	case CategoryStyle:
		return r.Style
	}
	return true
}

// OverviewUse says what becomes of the sentences on what a change does.
type OverviewUse string

// The values of overview; the empty one is OverviewShow.
const (
	OverviewShow OverviewUse = "show" // to the approver
	OverviewPost OverviewUse = "post" // in the review too
	OverviewOff  OverviewUse = "off"
)

func reportKeys(p *Report) keys {
	return keys{
		"criteria": func(r *reader, n ast.Node) { r.boolean(n, &p.Criteria) },
		"tests":    func(r *reader, n ast.Node) { r.boolean(n, &p.Tests) },
		"style":    func(r *reader, n ast.Node) { r.boolean(n, &p.Style) },
	}
}

func (r *reader) overview(n ast.Node, into *OverviewUse) {
	uses := []string{string(OverviewShow), string(OverviewPost), string(OverviewOff)}
	var s string
	r.oneOf(n, uses, &s)
	if *into = OverviewUse(s); s == string(OverviewShow) {
		*into = "" // as where nothing is set
	}
}
