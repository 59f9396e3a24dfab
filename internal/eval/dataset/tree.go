package dataset

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/tree"
)

// Trees returns the files before and after the change of a case with a tree, and nil
// for other cases. It never fails for a case from Read.
func (c Case) Trees() (base, head *tree.Tree, err error) {
	if len(c.Tree) == 0 {
		return nil, nil, nil
	}
	files, err := c.headFiles()
	if err != nil {
		return nil, nil, fmt.Errorf("case %s: %w", c.ID, err)
	}
	return tree.Files(c.Tree), tree.Files(files), nil
}

// checkTree returns all that is wrong with a case's tree and with its findings' evidence.
func checkTree(c Case) (reasons []string) {
	files := map[string]string{}
	if len(c.Tree) > 0 {
		for _, p := range slices.Sorted(maps.Keys(c.Tree)) {
			if diff.CheckPath(p) != nil || path.Clean(p) != p || strings.Contains(p, `\`) {
				return []string{fmt.Sprintf("tree: %.200q is not a path within the tree", p)}
			}
		}
		var err error
		if files, err = c.headFiles(); err != nil {
			return []string{"tree: " + err.Error()}
		}
	}
	for i, g := range c.Golden {
		for k, p := range g.Evidence {
			if reason := c.checkEvidence(p, files); reason != "" {
				reasons = append(reasons, fmt.Sprintf("golden[%d].evidence[%d]: %s", i, k, reason))
				break
			}
		}
	}
	return reasons
}

// checkEvidence checks a place against the files at the head. Without a tree it only
// checks that the case names commits: their files are not available here.
func (c Case) checkEvidence(p Place, files map[string]string) string {
	switch text, known := files[p.Path]; {
	case p.checkLines() != "":
		return p.checkLines()
	case len(c.Tree) == 0 && (c.Repo == "" || c.Base == "" || c.Head == ""):
		return "it needs a tree, or repo, base and head"
	case len(c.Tree) == 0:
		return ""
	case !known:
		return fmt.Sprintf("path %.200q is not in the tree behind the change", p.Path)
	case p.LineEnd > len(lines(text)):
		return fmt.Sprintf("%.200q has %d lines", p.Path, len(lines(text)))
	}
	return ""
}

func (c Case) headFiles() (map[string]string, error) {
	change, err := c.Change()
	if err != nil {
		return nil, err
	}
	head := maps.Clone(c.Tree)
	for _, f := range change.Files {
		old := f.Path
		if f.Status == diff.Renamed || f.Status == diff.Copied {
			old = f.OldPath
		}
		text, there := c.Tree[old]
		if there == (f.Status == diff.Added) {
			return nil, fmt.Errorf("the diff calls %.200q %s, and its files do not agree", old, f.Status)
		}
		hunks, _ := f.Hunks() // diff.Parse has read them
		if text, err = applyPatch(text, hunks); err != nil {
			return nil, fmt.Errorf("%.200q: %w", old, err)
		}
		if f.Status == diff.Renamed || f.Status == diff.Removed {
			delete(head, old)
		}
		if f.Status != diff.Removed {
			head[f.Path] = text
		}
	}
	return head, nil
}

var errMismatch = errors.New("the diff does not apply to it")

// applyPatch applies a patch to a text. It returns an error unless all lines of the patch match exactly.
func applyPatch(text string, hunks []diff.Hunk) (string, error) {
	was, done := lines(text), 0
	var now []string
	for _, h := range hunks {
		at := h.OldStart - 1
		if h.OldLines == 0 {
			at++ // the header of an empty side gives the line before it
		}
		if at < done || at > len(was) {
			return "", fmt.Errorf("line %d: %w", at+1, errMismatch)
		}
		now = append(now, was[done:at]...)
		for _, l := range h.Lines {
			if l.Op != diff.Add {
				if at >= len(was) || was[at] != l.Text {
					return "", fmt.Errorf("line %d: %w", at+1, errMismatch)
				}
				at++
			}
			if l.Op != diff.Delete {
				now = append(now, l.Text)
			}
		}
		done = at
	}
	now = append(now, was[done:]...)
	if len(now) == 0 {
		return "", nil
	}
	return strings.Join(now, "\n") + "\n", nil
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
