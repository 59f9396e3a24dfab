package index

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

const (
	mostImports = 300 // names that a file imports
	mostTargets = 8   // files that an import may mean; one that fits more means none
	mostParts   = 20  // ends of a path, longest first, by which an import can find it
)

// importForms maps a language to the form of its imports. The first group that is not
// empty is the imported name; Python's "from" has two, the module and names in it.
var importForms = map[string]func() *regexp.Regexp{
	"go":         pattern.Lazy(`(?m)^(?:import[ \t]+|[ \t]+)(?:[\w.]+[ \t]+)?"([\w./~-]+)"[ \t]*(?://.*)?$`),
	"javascript": pattern.Lazy(`(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"\n]+)['"]`),
	"python": pattern.Lazy(`(?m)^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+\(?([\w, \t]*)|import[` +
		` \t]+([\w.]+))`),
	"java":   pattern.Lazy(`(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)`),
	"csharp": pattern.Lazy(`(?m)^[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?([\w.]+)[ \t]*;`),
	"rust":   pattern.Lazy(`(?m)^[ \t]*(?:pub(?:\(\w+\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)`),
	"c":      pattern.Lazy(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]`),
	"ruby":   pattern.Lazy(`(?m)^[ \t]*require(?:_relative)?[ \t(]*['"]([^'"\n]+)['"]`),
	"php": pattern.Lazy(`(?m)^[ \t]*(?:use[ \t]+([\w\\]+)|(?:require|include)(?:_once)?[ \t(]*(?:__DIR__[` +
		` \t]*\.[ \t]*)?['"]([^'"\n]+)['"])`),
	"shell": pattern.Lazy(`(?m)^[ \t]*(?:source|\.)[ \t]+["']?([\w./-]+)`),
}

// Akin reports whether two files are in languages that can use each other's names.
func Akin(a, b string) bool { return family(a) == family(b) }

// family returns the language that stands for all whose files can import each other.
func family(file string) string {
	l := lang.Of(file)
	switch l.Name {
	case "kotlin", "scala", "groovy":
		return "java"
	}
	return cmp.Or(l.Like, l.Name)
}

// importsOf lists the names that a text imports, as written. Python's "from" gives module and module.name.
func importsOf(file, text string) []string {
	form := importForms[family(file)]
	if form == nil {
		return nil
	}
	var all []string
	for _, m := range form().FindAllStringSubmatch(text, mostImports) {
		if family(file) != "python" || m[3] != "" {
			all = append(all, cmp.Or(append(m[1:], "")...))
			continue
		}
		all = append(all, m[1])
		for name := range strings.FieldsSeq(strings.ReplaceAll(m[2], ",", " ")) {
			all = append(all, strings.TrimSuffix(m[1], ".")+"."+name)
		}
	}
	slices.Sort(all)
	all = slices.Compact(slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "." || len(s) > 200 }))
	return all[:min(len(all), mostImports)]
}

// resolve returns, for each place in files, the places of the files that its imports mean,
// judged by their paths, and of those that import it.
func (x *Source) resolve() [][]int {
	edges, p := make([][]int, len(x.files)), x.places()
	for i, f := range x.files {
		for _, imported := range f.imports {
			for _, to := range p.find(f.path, imported) {
				edges[i], edges[to] = append(edges[i], to), append(edges[to], i)
			}
		}
	}
	return edges
}

// places maps a family and an end of a stem, or a slash and the whole stem, to the places of such files.
type places map[[2]string][]int

func (x *Source) places() places {
	p := places{}
	for i, f := range x.files {
		of, name := family(f.path), stem(f.path)
		if importForms[of] == nil || name == "" || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		key := [2]string{of, "/" + name}
		for n := 0; n <= mostParts && key[1] != ""; n++ {
			p[key] = append(p[key], i)
			_, key[1], _ = strings.Cut(key[1], "/")
		}
	}
	return p
}

// stem returns a path as an import names it: without its extension or, for a folder's main
// file and every Go file, the folder.
func stem(file string) string {
	s := strings.TrimSuffix(strings.TrimSuffix(file, path.Ext(file)), ".d")
	folder, base := path.Split(s)
	if family(file) == "go" || folder != "" && slices.Contains([]string{"index", "__init__", "mod"}, base) {
		return strings.TrimSuffix(folder, "/")
	}
	return s
}

// dotted turns a name with dots or :: into a path, without Rust's crate::, self:: and super::.
var dotted = strings.NewReplacer("crate::", "", "self::", "", "super::", "", "::", "/", ".", "/")

// find returns the files that an import in a file means. For Go these are the files of the
// folder that remains without the module's part of the name. For others they are files whose
// paths end with the name. A dotted name loses parts at its end until some file fits.
func (p places) find(from, imported string) []int {
	of, dir, name := family(from), path.Dir(from), strings.ReplaceAll(imported, `\`, "/")
	switch of {
	case "go":
		module, name, _ := strings.Cut(name, "/")
		for name != "" && p.whole(of, name) == nil {
			_, name, _ = strings.Cut(name, "/")
		}
		if strings.Contains(module, ".") || strings.Contains(name, "/") { // few of the standard library have either
			return p.whole(of, name)
		}
		return nil
	case "python", "java", "csharp", "rust":
		plain := strings.TrimLeft(name, ".")
		for range len(name) - len(plain) - 1 {
			dir = path.Dir(dir)
		}
		if name = dotted.Replace(plain); len(plain) < len(imported) {
			name = path.Join(dir, name)
		}
		for name = strings.Trim(name, "/"); p.few(of, name) == nil && strings.Contains(name, "/"); {
			name = path.Dir(name)
		}
	default:
		if family(name) == of {
			name = stem(name)
		}
		if strings.HasPrefix(name, ".") {
			return p.whole(of, path.Join(dir, name))
		}
	}
	return p.few(of, strings.Trim(name, "/"))
}

func (p places) whole(of, name string) []int { return p[[2]string{of, "/" + name}] }

// few returns the files that a name fits, unless there are more than mostTargets.
func (p places) few(of, name string) []int {
	if all := p[[2]string{of, name}]; len(all) <= mostTargets {
		return all
	}
	return nil
}
