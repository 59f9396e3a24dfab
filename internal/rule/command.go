package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// fromRequest matches expressions that read what a caller sent.
var fromRequest = lazy(`(?i)\b(?:req|request|r)\.(?:query|params|body|form|FormValue|PostFormValue|PathValue|URL` +
	`|args|values|json|headers?|cookies|getParameter|GET|POST)\b` +
	`|\b(?:getParameter|getQueryString|FormValue|PathValue)\(|\b(?:sys|process)\.argv\b|\bos\.Args\b|\binput\(`)

var identifier = lazy(`[A-Za-z_][\w.]*`)

// callerHit returns a hit for an expression on line i: a blocker if the hunk shows that
// a caller sent it.
func (h *hunk) callerHit(expression string, i int) hit {
	at := hit{line: i, subject: expression}
	name := identifier().FindString(expression)
	if fromRequest().MatchString(expression) || name != "" && fromRequest().MatchString(h.assignedValue(name, i)) {
		at.severity = finding.Blocker
	}
	return at
}

// shellFromInput finds shell commands that are built from values. A hit is a blocker if the
// hunk shows that a caller sent the value.
var shellFromInput = rule{
	name: "shell-from-input", category: "security", severity: finding.Major,
	title: "Command injection: a shell command is built from a value",
	body: "A quote, a semicolon or `$(…)` in the value can start another command. Run the program directly, with " +
		"a list of arguments and without a shell.",
	find: in{
		golang: builtCommand(`\bexec\.Command(?:Context)?\((?:\w+,\s*)?"(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh"`+
			`,\s*"-\w*c",\s*(.+)`, "exec.Command"),
		typescript: builtCommand(`(?:\b(?:child_process|childProcess|cp)\.|^\s*|[=(]\s*|\bawait\s+`+
			`|\breturn\s+)(?:exec|execSync|execAsync)\((.+)`, "exec"),
		python: builtCommand(`\b(?:os\.(?:system|popen)|subprocess\.getoutput)\((.+)`+
			`|\bsubprocess\.\w+\((.+)shell\s*=\s*True`, "os.", "subprocess"),
		java:  builtCommand(`(?:getRuntime\(\)|\b[rR]untime)\.exec\((.+)`, "exec("),
		shell: inText(`(?:^|[;&|]|\bthen|\bdo)\s*eval\s+"?(?:[^$"]|\$[\w{])*\$(?:[1-9@*]|\{[1-9@*])`, "eval"),
	},
}

// maintained matches paths of programs that the repository's maintainers run themselves.
var maintained = lazy(`(?:^|/)(?:scripts?|tools?|hack|ci|build|release|\.github)/`)

var (
	shellQuoted = lazy(`(?i)quote|escape|%q`)
	joinedText  = lazy(`[^+]\+[^+]|\bSprintf\(|\.format\(|(?:^|[\s(,=])[fF]["']|\$\{|["']\s*%\s*[\w(]`)
	operands    = lazy(`\$\{\s*([^{}]*)\}|\{([\w.]+)\}|\+\s*([\w.]+(?:\([^)]*\))?)|%\s*\(?([\w.]+)|` +
		`,\s*([\w.]+(?:\([^)]*\))?)`)
	verbs    = lazy(`%[-+#0-9.]*[A-Za-z]\b`)
	constant = lazy(`^(?:(?:\w+\.)*[A-Z][A-Z0-9_]+|(?:\w+\.)*constants\.\w+|(?:str\()?(?:\w+\.)*pid\)?|` +
		`[A-Za-z_][\w.]*\(\))$`)
	fixed = lazy(`^(?:"[^"]*"|'[^']*'|[A-Za-z_][\w.]*\(\));?$`)
)

// builtCommand finds calls whose last group is a shell command, on lines that contain one of some words.
func builtCommand(call string, words ...string) finder {
	re := lazy(call)
	return eachAdded(func(h *hunk, i int) (hit, bool) {
		command := lastNonEmpty(matchInCode(re(), h.lines[i]))
		if command == "" || shellQuoted().MatchString(command) || !h.isBuilt(command, i) {
			return hit{}, false
		}
		operand := lastNonEmpty(append([]string{command}, operands().FindStringSubmatch(command)...))
		at := h.callerHit(operand, i)
		return at, at.severity == finding.Blocker || !h.usesConstants(command, i) && !maintained().MatchString(h.path)
	}, words...)
}

// usesConstants reports whether everything that the command on line i is built from is the program's own.
func (h *hunk) usesConstants(command string, i int) bool {
	text := command + " " + h.assignedValue(identifier().FindString(command), i)
	all := operands().FindAllStringSubmatch(verbs().ReplaceAllString(text, ""), -1)
	return len(all) > 0 && !slices.ContainsFunc(all, func(groups []string) bool {
		name := strings.TrimSpace(lastNonEmpty(groups[1:]))
		return !constant().MatchString(name) && !fixed().MatchString(h.assignedValue(name, i))
	})
}

// isBuilt reports whether a command is put together in place or, if it is a plain name, on a line above.
func (h *hunk) isBuilt(command string, i int) bool {
	name := identifier().FindString(command)
	plain := name != "" && strings.HasPrefix(command, name)
	return joinedText().MatchString(command) || plain && joinedText().MatchString(h.assignedValue(name, i))
}
