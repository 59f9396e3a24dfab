package rule

import (
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/secret"
)

// credential is the rule for what package secret finds with certainty. Leaks makes its
// findings; Review sees text without credentials.
var credential = rule{
	name: "credential", category: finding.Secret, severity: finding.Major,
	title: "Hard-coded credential: {}",
	body: "Anyone who can read the repository can use it, and it stays in the history. Revoke it, and read its " +
		"replacement from the environment or a secret store.",
	always: true,
}

// Leaks returns findings for the credentials that secret.Patch took out of a file's patch,
// in Review's order. A finding never contains a credential's value.
func Leaks(file string, leaks []secret.PatchLeak) []finding.Finding {
	h := &hunk{path: file, language: languageOf(file), test: ForTests(file)}
	var found []finding.Finding
	for _, l := range leaks {
		named := l.Grade == secret.Named
		if named && (len(l.Text) > maxLine || linguist.Unread(file)) {
			continue // in a bundle or lockfile a name precedes a value by chance
		}
		key := l.Kind == "private-key" || l.Kind == "aws-secret-key"
		ending := strings.ToLower(path.Ext(file))
		text := slices.Contains(readByPeople, ending) && !(l.Kind == "private-key" && ending == ".txt")
		if (h.test || text) && (named || key) {
			continue // mostly made up; only an issuer's token works wherever it is found
		}
		h.lines = append(h.lines, line{number: l.Line, added: true, text: l.Text})
		at := leakHit(l)
		at.line = len(h.lines) - 1
		found = append(found, credential.finding(h, at))
	}
	order.Stable(found, finding.Compare)
	return found
}

// leakHit returns what a credential is and how severe it is.
func leakHit(l secret.PatchLeak) hit {
	at := hit{subject: "a live one (" + l.Kind + ")", severity: finding.Blocker}
	switch {
	case l.Kind == "private-key":
		at.subject = "a private key"
	case l.Kind == "url-password":
		at = hit{subject: "a password in a URL", severity: finding.Major}
	case l.Grade == secret.Named && l.Name != "" && secret.Redact(l.Name) == l.Name:
		at = hit{subject: "the value of `" + l.Name + "`", severity: finding.Major}
	case l.Grade == secret.Named:
		at = hit{subject: "a value (" + l.Kind + ")", severity: finding.Major}
	}
	return at
}

var readByPeople = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt", ".po"}
