package render

import "github.com/org/pr-review-action/internal/finding"

// Height is for the tests of whole pages, which are outside of the package.
var Height = height

// Place is for the same.
func (r Review) Place(f finding.Finding, path string) string { return r.placeText(f, path) }
