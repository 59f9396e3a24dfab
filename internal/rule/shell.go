package rule

import (
	"slices"

	"github.com/org/pr-review-action/internal/finding"
)

const removeTree = `\brm\s+(?:-\w+\s+)*-\w*[rR]\w*\s+(?:-\w+\s+|--\s+)*`

var nounset = lazy(`(?m)^\s*set\s+(?:-\w+\s+)*-\w*u`)
var removeFromVariable = replaced(`(\brm\s[^;&|]*?)\$\{?([A-Z_]+)\}?("?/(?:\*|\s|"|$))`, "${1}$${${2}:?}$3",
	inCode(removeTree+`(?:[^\s;&|]+\s+)*"?\$\{?\w+\}?"?/(?:\*|\s|"|$)`, "rm"))

var removeUnchecked = rule{
	name: "sh-remove-unchecked", category: "correctness", severity: finding.Major,
	title: "Possible `rm -rf /`: the variable may be empty",
	body:  "With the variable unset the path begins at `/`. Write `${NAME:?}`, which stops instead.",
	find: in{shell: func(h *hunk) []hit {
		if nounset().MatchString(h.code) {
			return nil
		}
		return removeFromVariable(h)
	}},
}

// command is what stands on a line before a command that is run. One that a script only
// prints stands behind words.
const command = `(?:^(?:\s*-\s)?|[;&|({!]|(?:\b(?:run:|script:|then|do|else|if|exec|sudo|env|time|eval|RUN)|\s-\w*c)\s)` +
	`\s*["']?(?:(?:exec|sudo|env|\w+=\S*|\$\{?\w+\}?)\s+(?:-\w+\s+)*)*`

const piping = `(?:curl|wget)\b[^;&|]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:[/\w]*/)?(?:ba|z|da)?sh\b`

var (
	downloadRun = inCode(command+piping, "curl", "wget")
	piped       = lazy(piping)
)

// installer is where the makers of common tools have people install these from.
var installer = lazy(`https://(?:[\w-]+\.)*(?:rustup\.rs|nodesource\.com|docker\.com|yarnpkg\.com|pnpm\.io|bun\.sh|deno\.land` +
	`|python-poetry\.org|astral\.sh|sdkman\.io|rvm\.io|helm\.sh|k3s\.io|jetify\.com|taskfile\.dev|githubusercontent\.com/` +
	`(?:nvm-sh|creationix|helm|Homebrew|pyenv|golangci)/)`)

var pipeToShell = rule{
	name: "pipe-to-shell", category: "security", severity: finding.Minor,
	title: "A downloaded script runs unchecked",
	body: "What runs is whatever the server sends that day, or the half of it that arrived. Pin a version and " +
		"compare a checksum first.",
	find: in{shell: func(h *hunk) []hit {
		return slices.DeleteFunc(downloadRun(h), func(at hit) bool {
			return installer().MatchString(h.lines[at.line].text) || slices.ContainsFunc(h.removed, piped().MatchString)
		})
	}},
}
