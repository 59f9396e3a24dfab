package config

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Matches reports whether one of the globs matches a path. A glob without a
// slash matches the last element in any folder, and one with a slash at its end
// everything below, as in .gitignore.
func Matches(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matches(glob, path) })
}

func matches(glob, path string) bool {
	if slash := strings.IndexByte(glob, '/'); slash < 0 || slash == len(glob)-1 {
		glob = "**/" + glob
	}
	glob = strings.TrimPrefix(glob, "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	ok, err := doublestar.Match(glob, path)
	return err == nil && ok
}

// GuidelinesFor are the guidelines for a file, in their order.
func (c Config) GuidelinesFor(path string) []string {
	var texts []string
	for _, g := range c.Guidelines {
		if Matches(g.Paths, path) {
			texts = append(texts, g.Text)
		}
	}
	return texts
}
