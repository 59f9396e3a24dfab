package scope

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/pattern"
)

// maxModules bounds the modules. If there are more, Derive uses the top-level folders instead.
const maxModules = 60

// Derive returns the modules of a repository whose settings name none: the folders of several
// go.mod, else the workspaces of package.json and pnpm-workspace.yaml, else those of Cargo.toml,
// else its folders, sorted by name, then one for the files at the root. paths are all of its files;
// read returns a file's contents, or nil.
func Derive(paths []string, read func(string) []byte) []config.Module {
	dirs := foldersWith(paths, "go.mod")
	if len(dirs) < 2 || slices.Contains(dirs, ".") {
		dirs = workspaces(foldersWith(paths, "package.json"), append(packageGlobs(read("package.json")),
			listItems(pnpmList, read("pnpm-workspace.yaml"))...))
	}
	if len(dirs) < 2 {
		dirs = workspaces(foldersWith(paths, "Cargo.toml"), listItems(cargoList, read("Cargo.toml")))
	}
	if len(dirs) < 2 {
		dirs = topFolders(paths, true)
	}
	if len(dirs) > maxModules {
		dirs = topFolders(paths, false)
	}
	var tests []string
	for _, dir := range dirs {
		if isTestFolder(dir) {
			tests = append(tests, dir+"/**")
		}
	}
	var all []config.Module
	for _, dir := range dirs {
		if !isTestFolder(dir) && dir != "." {
			all = append(all, config.Module{Name: dir, Paths: []string{dir + "/**"}, Tests: tests})
		}
	}
	if slices.ContainsFunc(paths, func(p string) bool { return !strings.Contains(p, "/") }) {
		all = append(all, config.Module{Name: "root", Paths: []string{"/*"}, Tests: tests,
			Description: "the files beside the folders"})
	}
	return all[:min(len(all), maxModules)]
}

// foldersWith returns the folders that contain a file called name, sorted.
func foldersWith(paths []string, name string) (dirs []string) {
	for _, p := range paths {
		if path.Base(p) == name {
			dirs = append(dirs, path.Dir(p))
		}
	}
	slices.Sort(dirs)
	return dirs
}

// workspaces returns those of dirs that a glob matches, and none that starts with ! and matches without it.
func workspaces(dirs, globs []string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		out := true
		for _, g := range globs {
			g, not := strings.CutPrefix(g, "!")
			if pattern.Matches([]string{"/" + strings.Trim(strings.TrimPrefix(g, "./"), "/")}, dir) {
				if out = false; not {
					return true
				}
			}
		}
		return out
	})
}

// packageGlobs returns the globs of workspaces in a package.json.
func packageGlobs(text []byte) (globs []string) {
	var root struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	var object struct {
		Packages []string `json:"packages"`
	}
	_ = json.Unmarshal(text, &root) // else there are no workspaces, in neither form
	if json.Unmarshal(root.Workspaces, &globs) != nil && json.Unmarshal(root.Workspaces, &object) == nil {
		globs = object.Packages
	}
	return globs
}

// The lists of workspaces in pnpm-workspace.yaml and in Cargo.toml, as they are commonly written.
var (
	pnpmList  = pattern.Lazy(`(?m)^packages:[ \t]*(\[[^\]]*\]|\n(?:[ \t]*(?:-.*)?\n)+)`)
	cargoList = pattern.Lazy(`(?ms)^\[workspace\][ \t]*$.*?^members[ \t]*=[ \t]*(\[[^\]]*\])`)
	comment   = pattern.Lazy(`[ \t]*#.*|\r`)
	listItem  = pattern.Lazy(`"[^"\n]*"|'[^'\n]*'|[^\s"',\[\]-][^\s"',\[\]]*`)
)

// listItems returns the items of a list in a text.
func listItems(list func() *regexp.Regexp, text []byte) (items []string) {
	if m := list().FindSubmatch(append(comment().ReplaceAll(text, nil), '\n')); m != nil {
		all := listItem().FindAllString(string(m[1]), -1)
		if m[1][0] == '\n' { // an item a line
			all = strings.Split(string(m[1]), "\n")
		}
		for _, item := range all {
			if item = strings.Trim(item, " \t-\"'"); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// topFolders returns the top-level folders, except those whose names begin with a dot. If deep, a
// folder that only groups others, such as internal, is split into its subfolders.
func topFolders(paths []string, deep bool) (dirs []string) {
	for _, p := range paths {
		part := strings.Split(p, "/")
		if len(part) < 2 || strings.HasPrefix(part[0], ".") {
			continue
		}
		dir := part[0]
		if deep && len(part) > 2 && slices.Contains([]string{"internal", "pkg", "packages", "services", "apps", "libs",
			"modules", "crates"}, dir) {
			dir += "/" + part[1]
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// isTestFolder reports whether a top-level folder holds only tests, by its name.
func isTestFolder(dir string) bool {
	return slices.Contains([]string{"test", "tests", "__tests__", "spec", "e2e"}, dir)
}
