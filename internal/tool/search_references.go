package tool

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

type referenceArgs struct {
	Name string `json:"name" description:"One identifier like ParseConfig; of pkg.Name or Type::method the last part."`
}

// maxIdentifier is the limit of a name, in bytes.
const maxIdentifier = 200

var identifier = pattern.Lazy(`^[\p{L}_][\p{L}\p{N}_]*$`)

// FindReferences returns the tool find_references: lines of code that contain an identifier as a
// word, definitions first. It knows words, not scopes, so it includes other things of the same
// name.
func FindReferences(head Files) Tool {
	return New("find_references",
		"Finds where an identifier is defined and used in the repository, with the change applied: definitions "+
			"first, comments and strings left out.",
		func(ctx context.Context, a referenceArgs) (string, error) {
			if len(a.Name) > maxIdentifier || !identifier().MatchString(a.Name) {
				return "", errors.New("name is not a single identifier of letters, digits and _; for other text " +
					"there is search_code")
			}
			f := finder{
				must: a.Name, mask: func(file, text string) string { return lang.Of(file).Blank(text) },
				match:   func(line string) int { return lang.WordAt(line, a.Name) },
				defines: definer(a.Name),
			}
			found, err := f.search(ctx, head, "")
			if err != nil {
				return "", err
			}
			return found.definitions.format("definition") + found.uses.format("use") + found.notes(), nil
		})
}

// definer returns a function that, for a file, returns whether a line in it defines the name.
func definer(name string) func(file string) func(line string) bool {
	known := map[string]func(string) bool{}
	return func(file string) func(string) bool {
		l := lang.Of(file)
		if known[l.Name] == nil {
			known[l.Name] = l.Defines(name)
		}
		return known[l.Name]
	}
}
