package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

type referenceArgs struct {
	Name string `json:"name" description:"One identifier like ParseConfig; of pkg.Name or Type::method the last part."`
}

const maxIdentifier = 200 // bytes of a name

var identifier = pattern.Lazy(`^[\p{L}_][\p{L}\p{N}_]*$`)

// FindReferences returns the tool find_references: lines of code that contain an identifier as a
// word, definitions first. It knows words, not scopes, so it includes other things of the same
// name. For a name without a definition, it lists the files that the change removes it from.
func FindReferences(head Files, change ...diff.File) Tool {
	return New("find_references",
		"Finds where an identifier is defined and used in the repository, with the change applied: definitions "+
			"first, of up to three the bodies too; comments and strings left out. Dependencies are not searched.",
		func(ctx context.Context, a referenceArgs) (string, error) {
			if len(a.Name) > maxIdentifier || !identifier().MatchString(a.Name) {
				return "", errors.New("name is not a single identifier of letters, digits and _; for other text " +
					"there is search_code")
			}
			f := finder{must: a.Name, name: a.Name, defines: map[string]func(string) bool{},
				match: func(line string) int { return lang.WordAt(line, a.Name) }}
			found, err := f.search(ctx, head, "")
			if err != nil {
				return "", err
			}
			hits := found.definitions.format("definition") + found.uses.format("use")
			if found.definitions.total == 0 && found.missing == "" && len(found.left) == 0 {
				hits += removedUses(change, a.Name, found.uses.total)
			}
			return found.page(hits), nil
		})
}

// removedUses says from which files a change removes the definition of a name or, if none is left, its last uses.
func removedUses(change []diff.File, name string, left int) string {
	var from []string
	for _, f := range change {
		in := lang.Of(f.Path)
		defines := in.Defines(name)
		gone := func(l diff.Line) bool {
			if l.Op != diff.Delete || !strings.Contains(l.Text, name) {
				return false
			}
			code := in.Blank(l.Text)
			return defines(code) || left == 0 && lang.WordAt(code, name) >= 0
		}
		hunks, _ := f.Hunks() // none if it cannot be read
		if slices.ContainsFunc(hunks, func(h diff.Hunk) bool { return slices.ContainsFunc(h.Lines, gone) }) {
			from = append(from, onePath(f.Path))
		}
	}
	rest := "these uses are left"
	if left == 0 {
		rest = "no use is left"
	}
	if from == nil {
		return ""
	}
	from = from[:min(len(from), maxNamed)]
	return fmt.Sprintf("the change removes it from %s, and %s\n", strings.Join(from, ", "), rest)
}
