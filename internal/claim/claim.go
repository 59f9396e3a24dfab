// Package claim tells for what a changed file says that nobody need read it: by its name or folder, by a generator's
// header, by lines that a build has packed, by bytes that are not text.
//
// A pull request can say so of anything. What counts is what the base bears out; as far as the change itself does not
// show that, ingest asks for it. Start reading at Of.
package claim

import (
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Claim is one reason of a file's own for which nobody would read it.
type Claim struct {
	Reason finding.Reason
	Folder string // of a claim by path: the base bears it out where it has files in there
	Unseen bool   // no hunk shows whether the file begins with a generator's header: the base does
	Beside string // of a new file's header: its folder, where the base's files of its kind must all have one
	Borne  bool   // the base bears it out, by what is known of it
	Media  bool   // of binary bytes: they bear themselves out where they are those of a picture, sound or font
}

// Of lists what a changed file claims, the reason that a person would give first.
func Of(f diff.File) []Claim {
	var all []Claim
	add := func(is bool, reason finding.Reason, folder string, borne bool) {
		if is {
			all = append(all, Claim{Reason: reason, Folder: folder, Borne: borne || f.Vouched == string(reason),
				Media: reason == finding.Binary && Asset(f.Path)})
		}
	}
	old := Before(f)
	inMade, inVendored := folderOf(f.Path, made), folderOf(f.Path, vendored)
	head, base := headers(f)
	generated, minifies := generatedName(f.Path), minifiedName().MatchString(f.Path)
	add(f.Binary, finding.Binary, "", Asset(f.Path) && Asset(old))
	add(lockfile(f.Path), finding.Lockfile, "", lockfile(old))
	add(generated, finding.Generated, "", generated && generatedName(old))
	add(head || unseen(f) && f.Vouched == string(finding.Generated), finding.Generated, "", base && old != "")
	add(inMade != "", finding.Generated, inMade, Under(old, inMade))
	add(inVendored != "", finding.Vendored, inVendored, Under(old, inVendored))
	add(minifies, finding.Minified, "", minifies && minifiedName().MatchString(old))
	add(minified(f.Patch), finding.Minified, "", false)
	output := outputFolder(f.Path)
	add(output != "", finding.Generated, output, Under(old, output))
	add(Asset(f.Path), finding.Asset, "", Asset(old))
	return all
}

// Open lists the claims that a look at the base has to settle; none where there
// is no claim, or where one of them is borne out. Of a file whose patch begins behind
// its first lines, which may have a generator's header, the claim is that they do.
func Open(f diff.File) []Claim {
	all := Of(f)
	if slices.ContainsFunc(all, func(c Claim) bool { return c.Borne }) {
		return nil
	}
	open := slices.DeleteFunc(all, func(c Claim) bool {
		return c.Folder == "" && !c.Media && (Before(f) == "" || c.Reason == finding.Lockfile ||
			c.Reason == finding.Asset)
	})
	switch head, _ := headers(f); {
	case unseen(f):
		open = append(open, Claim{Reason: finding.Generated, Unseen: true})
	case head && Before(f) == "" && path.Ext(f.Path) != "":
		open = append(open, Claim{Reason: finding.Generated, Beside: path.Dir(f.Path)})
	}
	return open
}

// Before is the path that a file has at the base; empty for one that is new.
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
