package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

const removeTree = `\brm\s+(?:-\w+\s+)*-\w*[rR]\w*\s+(?:-\w+\s+|--\s+)*`

var nounset = lazy(`(?m)^\s*set\s+(?:-\w+\s+)*-\w*u`)
var removeFromVariable = inCode(removeTree+`(?:[^\s;&|]+\s+)*"?\$\{?\w+\}?"?/(?:\*|\s|"|$)`, "rm")

var (
	unset   = lazy(`(\brm\s[^;&|]*?)\$\{?([A-Z_]+)\}?("?/(?:\*|\s|"|$))`)
	removed = lazy(`\$\{?(\w+)\}?"?/(?:\*|\s|"|$)`)
	written = lazy(`^["']?[./]?\w`) // a literal value
)

var removeUnchecked = rule{
	name: "sh-remove-unchecked", category: "correctness", severity: finding.Major,
	title: "Possible `rm -rf /`: the variable may be empty",
	body:  "If the variable is unset, the path starts at `/`. Write `${NAME:?}`, which stops the script instead.",
	find: in{shell: func(h *hunk) []hit {
		if nounset().MatchString(h.code) {
			return nil
		}
		hits := removeFromVariable(h)
		for n, at := range hits {
			text := h.lines[at.line].text
			if fixed := unset().ReplaceAllString(text, "${1}$${${2}:?}$3"); fixed != text {
				hits[n].suggestion = fixed
			}
		}
		return slices.DeleteFunc(hits, func(at hit) bool {
			name := removed().FindStringSubmatch(h.lines[at.line].code)
			return name != nil && written().MatchString(h.assignedValue(name[1], at.line))
		})
	}},
}

// command matches what precedes a command that runs. A command that a script only prints comes after other words.
const command = `(?:^(?:\s*-\s)?|[;&|({!]` +
	`|(?:\b(?:run:|script:|then|do|else|if|exec|sudo|env|time|eval|RUN)|\s-\w*c)\s)` +
	`\s*["']?(?:(?:exec|sudo|env|\w+=\S*|\$\{?\w+\}?)\s+(?:-\w+\s+)*)*`

const piping = `(?:curl|wget)\b[^;&|]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:[/\w]*/)?(?:ba|z|da)?sh\b`

var (
	downloadRun = inCode(command+piping, "curl", "wget")
	piped       = lazy(piping)
)

// authentic matches a literal host reached by TLS, unverified a download without TLS or with its check off.
var (
	authentic  = lazy(`https://[\w.-]+`)
	unverified = lazy(`\bhttp://|\s-[A-Za-z]*k|\s--(?:insecure|no-check-certificate)\b`)
)

var pipeToShell = rule{
	name: "pipe-to-shell", category: "security", severity: finding.Minor,
	title: "A downloaded script runs unchecked",
	body: "Whatever the server sends is run, even if the download breaks off halfway. Pin a version and verify its " +
		"checksum first.",
	find: in{shell: func(h *hunk) []hit {
		return slices.DeleteFunc(downloadRun(h), func(at hit) bool {
			from, _, _ := strings.Cut(piped().FindString(h.lines[at.line].text), "|")
			return authentic().MatchString(from) && !unverified().MatchString(from) ||
				slices.ContainsFunc(h.removed, piped().MatchString)
		})
	}},
}
