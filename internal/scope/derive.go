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
// go.mod, else the workspaces of package.json, else its folders, sorted by name, then one for
// the files at the root. paths are all of its files; read returns a file's contents, or nil.
func Derive(paths []string, read func(string) []byte) []config.Module {
	dirs := with(paths, "go.mod")
	if len(dirs) < 2 || slices.Contains(dirs, ".") {
		dirs = workspaces(with(paths, "package.json"), read("package.json"))
	}
	if len(dirs) < 2 {
		dirs = folders(paths, true)
	}
	if len(dirs) > maxModules {
		dirs = folders(paths, false)
	}
	var tests []string
	for _, dir := range dirs {
		if forTests(dir) {
			tests = append(tests, dir+"/**")
		}
	}
	var all []config.Module
	for _, dir := range dirs {
		if !forTests(dir) && dir != "." {
			all = append(all, config.Module{Name: dir, Paths: []string{dir + "/**"}, Tests: tests})
		}
	}
	if slices.ContainsFunc(paths, func(p string) bool { return !strings.Contains(p, "/") }) {
		all = append(all, config.Module{Name: "root", Paths: []string{"/*"}, Tests: tests,
			Description: "the files beside the folders"})
	}
	return all[:min(len(all), maxModules)]
}

// with returns the folders that contain a file called name, sorted.
func with(paths []string, name string) (dirs []string) {
	for _, p := range paths {
		if path.Base(p) == name {
			dirs = append(dirs, path.Dir(p))
		}
	}
	slices.Sort(dirs)
	return dirs
}

// workspaces returns those of dirs that text, the root's package.json, names as workspaces.
func workspaces(dirs []string, text []byte) (all []string) {
	var list []string
	var root struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	var packages struct {
		Packages []string `json:"packages"`
	}
	if json.Unmarshal(text, &root) != nil {
		return nil
	}
	if json.Unmarshal(root.Workspaces, &list) != nil && json.Unmarshal(root.Workspaces, &packages) == nil {
		list = packages.Packages
	}
	for _, dir := range dirs {
		if slices.ContainsFunc(list, func(g string) bool {
			return pattern.Matches([]string{"/" + strings.Trim(strings.TrimPrefix(g, "./"), "/")}, dir)
		}) {
			all = append(all, dir)
		}
	}
	return all
}

// folders returns the top-level folders, except those whose names begin with a dot. If deep, a
// folder that only groups others, such as internal, is split into its subfolders.
func folders(paths []string, deep bool) (dirs []string) {
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
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// forTests reports whether a top-level folder holds only tests, by its name.
func forTests(dir string) bool {
	return slices.Contains([]string{"test", "tests", "__tests__", "spec", "e2e"}, dir)
}
