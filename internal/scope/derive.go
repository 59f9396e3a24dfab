package scope

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/pattern"
)

// maxModules bounds the modules. If there are more, Derive uses the top-level folders instead.
const maxModules = 60

// Derive returns the modules of a repository whose settings name none: the folders of several
// go.mod, otherwise the workspaces of package.json, otherwise its folders, sorted by name, then one for the
// files at the root. paths are all of its files; read returns a file's contents, or nil.
func Derive(paths []string, read func(string) []byte) []config.Module {
	dirs := foldersWith(paths, "go.mod")
	if len(dirs) < 2 || slices.Contains(dirs, ".") {
		in, out := packageGlobs(read("package.json"))
		dirs = slices.DeleteFunc(foldersWith(paths, "package.json"), func(dir string) bool {
			return !pattern.Matches(in, dir) || pattern.Matches(out, dir)
		})
	}
	if len(dirs) < 2 {
		dirs = topFolders(paths, true)
	}
	if len(dirs) > maxModules {
		dirs = topFolders(paths, false)
	}
	var tests []string
	var all []config.Module
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		test := slices.Contains([]string{"test", "tests", "__tests__", "spec", "e2e"}, dir)
		if test {
			tests = append(tests, dir+"/**")
		}
		return test || dir == "."
	})
	for _, dir := range dirs {
		all = append(all, config.Module{Name: dir, Paths: []string{dir + "/**"}, Tests: tests})
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

// packageGlobs returns the globs of workspaces in a package.json, from the repository's top, and of what is
// none, with a ! there.
func packageGlobs(text []byte) (in, out []string) {
	var root struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	var globs []string
	var object struct {
		Packages []string `json:"packages"`
	}
	_ = json.Unmarshal(text, &root) // else there are no workspaces, in neither form
	if json.Unmarshal(root.Workspaces, &globs) != nil && json.Unmarshal(root.Workspaces, &object) == nil {
		globs = object.Packages
	}
	for _, g := range globs {
		if g, not := strings.CutPrefix(g, "!"); not {
			out = append(out, path.Join("/", g))
		} else {
			in = append(in, path.Join("/", g))
		}
	}
	return in, out
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
