// Package linguist finds out whether a changed file claims to need no review, in the classes of
// GitHub's Linguist: generated, vendored, minified, a lockfile, binary. It looks at the path, the
// header of a generator, and the patch.
//
// A pull request can make any file look like that, so only a claim that the base confirms counts.
// If the change does not show it, ingest asks the base. Start reading at Of.
package linguist

import (
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Claim is one reason, given by the file itself, not to read it.
type Claim struct {
	Reason finding.Reason
	Folder string // for a claim by path: the base confirms it if it has files in there
	Unseen bool   // no hunk shows whether the file begins with a generator's header; the base does
	Beside string // for a new file's header: its folder, in which all base files of its kind must have one
	Borne  bool   // the base confirms it, as far as is known
	Media  bool   // for binary bytes: those of a picture, sound or font confirm it themselves
}

// Of returns the claims of a changed file, the most obvious reason first.
func Of(f diff.File) []Claim {
	var all []Claim
	add := func(is bool, reason finding.Reason, folder string, borne bool) {
		if is {
			all = append(all, Claim{Reason: reason, Folder: folder, Borne: borne || f.Vouched == string(reason),
				Media: reason == finding.Binary && Asset(f.Path)})
		}
	}
	old := Before(f)
	inMade, inVendored := folderOf(f.Path, madeFolders), folderOf(f.Path, vendoredFolders)
	head, base := findHeaders(f)
	generated, minifies := generatedName(f.Path), minifiedName().MatchString(f.Path)
	add(f.Binary, finding.Binary, "", Asset(f.Path) && Asset(old))
	add(isLockfile(f.Path), finding.Lockfile, "", isLockfile(old))
	add(generated, finding.Generated, "", generated && generatedName(old))
	add(head || hidesHeader(f) && f.Vouched == string(finding.Generated), finding.Generated, "", base && old != "")
	add(inMade != "", finding.Generated, inMade, Under(old, inMade))
	add(inVendored != "", finding.Vendored, inVendored, Under(old, inVendored))
	add(minifies, finding.Minified, "", minifies && minifiedName().MatchString(old))
	add(isMinified(f), finding.Minified, "", false)
	output := outputFolder(f.Path)
	add(output != "", finding.Generated, output, Under(old, output))
	add(Asset(f.Path), finding.Asset, "", Asset(old))
	return all
}

// Open returns the claims that only the base can confirm, or none if a claim is already
// confirmed. If the patch begins after the file's first lines, one of them is that these
// contain a generator's header.
func Open(f diff.File) []Claim {
	all := Of(f)
	if slices.ContainsFunc(all, func(c Claim) bool { return c.Borne }) {
		return nil
	}
	open := slices.DeleteFunc(all, func(c Claim) bool {
		return c.Folder == "" && !c.Media && (Before(f) == "" || c.Reason == finding.Lockfile ||
			c.Reason == finding.Asset)
	})
	switch head, _ := findHeaders(f); {
	case hidesHeader(f):
		open = append(open, Claim{Reason: finding.Generated, Unseen: true})
	case head && Before(f) == "" && path.Ext(f.Path) != "":
		open = append(open, Claim{Reason: finding.Generated, Beside: path.Dir(f.Path)})
	}
	return open
}

// Before returns a file's path at the base, or "" for a new file.
func Before(f diff.File) string {
	switch {
	case f.Status == diff.Added, f.Status == diff.Copied, f.Status == "":
		return ""
	case f.OldPath != "":
		return f.OldPath
	}
	return f.Path
}

// Under reports whether a path is within a folder.
func Under(path, folder string) bool {
	return strings.HasPrefix(path, folder+"/")
}
