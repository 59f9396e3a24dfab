package rule

import "github.com/org/pr-review-action/internal/finding"

var stringIdentity = rule{
	name: "java-string-identity", category: "correctness", severity: finding.Major,
	title: "Strings are compared by identity",
	body:  "Two equal strings need not be one object, so this is false for text that was read or built. Use `equals`.",
	find: in{java: replaced(`\b(\w+) == ("[^"\\]*")([^+]*)$`, "$2.equals($1)$3",
		inCode(`[\w)\]]\s*[!=]=\s*"|"\s*[!=]=\s*[A-Za-z_(]`))},
}
