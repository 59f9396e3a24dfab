package index

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/lang"
)

const (
	mostImports = 300 // of a file
	mostTargets = 8   // files of one name that an import may mean; of more it means none
)

// importForms match the lines by which a file names others, by language. What is in
// the first group that is not empty is the name.
var importForms = map[string]*regexp.Regexp{
	"go":         regexp.MustCompile(`(?m)^(?:import[ \t]+|[ \t]+)(?:[\w.]+[ \t]+)?"([\w./~-]+)"[ \t]*(?://.*)?$`),
	"javascript": regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"\n]+)['"]`),
	"python": regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+\(?([\w, \t]*)|import[` +
		` \t]+([\w.]+))`),
	"java":   regexp.MustCompile(`(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)`),
	"csharp": regexp.MustCompile(`(?m)^[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?([\w.]+)[ \t]*;`),
	"rust":   regexp.MustCompile(`(?m)^[ \t]*(?:pub(?:\(\w+\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)`),
	"c":      regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]`),
	"ruby":   regexp.MustCompile(`(?m)^[ \t]*require(?:_relative)?[ \t(]*['"]([^'"\n]+)['"]`),
	"php": regexp.MustCompile(`(?m)^[ \t]*(?:use[ \t]+([\w\\]+)|(?:require|include)(?:_once)?[ \t(]*(?:__DIR__[` +
		` \t]*\.[ \t]*)?['"]([^'"\n]+)['"])`),
	"shell": regexp.MustCompile(`(?m)^[ \t]*(?:source|\.)[ \t]+["']?([\w./-]+)`),
}

// Akin reports whether two files are of languages that can use each other's names.
func Akin(a, b string) bool { return family(a) == family(b) }

// family is the language whose files a file can import.
func family(file string) string {
	l := lang.Of(file)
	switch l.Name {
	case "kotlin", "scala", "groovy":
		return "java"
	}
	return cmp.Or(l.Like, l.Name)
}

// importsOf lists what a text names as imported, as it is written there.
func importsOf(file, text string) []string {
	form := importForms[family(file)]
	if form == nil {
		return nil
	}
	var all []string
	for _, m := range form.FindAllStringSubmatch(text, mostImports) {
		switch {
		case family(file) == "python" && m[3] == "":
			for name := range strings.FieldsFuncSeq(m[2], func(r rune) bool {
				return r == ',' || r == ' ' || r == '\t'
			}) {
				all = append(all, strings.TrimSuffix(m[1], ".")+"."+name)
			}
			all = append(all, m[1])
		default:
			all = append(all, cmp.Or(append(m[1:], "")...))
		}
	}
	slices.Sort(all)
	all = slices.Compact(slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "." || len(s) > 200 }))
	return all[:min(len(all), mostImports)]
}

// edges are who imports whom, by place in the list of files.
type edges struct{ out, in [][]int }

// resolve finds for each file those that its imports mean, by their paths.
func (x *Source) resolve() edges {
	e, p := edges{make([][]int, len(x.files)), make([][]int, len(x.files))}, x.places()
	for i, f := range x.files {
		for _, imported := range f.imports {
			e.out[i] = append(e.out[i], p.find(f.path, imported)...)
		}
		slices.Sort(e.out[i])
		e.out[i] = slices.DeleteFunc(slices.Compact(e.out[i]), func(to int) bool { return to == i })
		for _, to := range e.out[i] {
			e.in[to] = append(e.in[to], i)
		}
	}
	return e
}

// places are the files by what an import can call them.
type places struct {
	files  []file
	byLast map[string][]int // by family, and the last element of the path without its extension
	folder map[string][]int // files of Go that are no tests, by folder
}

func (x *Source) places() places {
	p := places{x.files, map[string][]int{}, map[string][]int{}}
	for i, f := range x.files {
		of := family(f.path)
		if of == "go" {
			if !strings.HasSuffix(f.path, "_test.go") {
				p.folder[path.Dir(f.path)] = append(p.folder[path.Dir(f.path)], i)
			}
			continue
		}
		key := of + " " + path.Base(stem(f.path))
		p.byLast[key] = append(p.byLast[key], i)
	}
	return p
}

// stem is a path as an import names it: without extension, and of a folder's main file
// the folder.
func stem(file string) string {
	s := strings.TrimSuffix(strings.TrimSuffix(file, path.Ext(file)), ".d")
	if folder, base := path.Split(s); slices.Contains([]string{"index", "__init__", "mod"}, base) && folder != "" {
		return strings.TrimSuffix(folder, "/")
	}
	return s
}

// find is the files that an import in a file means.
func (p places) find(from, imported string) []int {
	of := family(from)
	if of == "go" {
		return p.goFolder(imported)
	}
	name, relative := normal(of, from, imported)
	name = strings.Trim(name, "/") // Dir of what begins with one ends at "/", not at "."
	for ; name != "" && name != "."; name = path.Dir(name) {
		var all []int
		for _, i := range p.byLast[of+" "+path.Base(name)] {
			s := stem(p.files[i].path)
			if s == name || !relative && strings.HasSuffix(s, "/"+name) {
				all = append(all, i)
			}
		}
		if len(all) > 0 && len(all) <= mostTargets {
			return all
		}
		if relative || of == "c" || of == "javascript" || of == "ruby" || !strings.Contains(name, "/") {
			return nil
		}
	}
	return nil
}

// normal is an import as a path without extension; relative where it names a place and
// not what a place ends with.
func normal(of, from, imported string) (name string, relative bool) {
	dir := path.Dir(from)
	switch of {
	case "python":
		if rest := strings.TrimLeft(imported, "."); rest != imported {
			for range len(imported) - len(rest) - 1 {
				dir = path.Dir(dir)
			}
			return path.Join(dir, strings.ReplaceAll(rest, ".", "/")), false
		}
		return strings.ReplaceAll(imported, ".", "/"), false
	case "java", "csharp":
		return strings.ReplaceAll(imported, ".", "/"), false
	case "rust":
		parts := slices.DeleteFunc(strings.Split(imported, "::"), func(s string) bool {
			return slices.Contains([]string{"", "crate", "self", "super"}, s)
		})
		return strings.Join(parts, "/"), false
	case "php":
		return strings.Trim(strings.TrimSuffix(strings.ReplaceAll(imported, `\`, "/"), ".php"), "/"), false
	}
	plain := stem(imported)
	if of == "javascript" && !slices.Contains([]string{".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".vue", ".svelte"},
		path.Ext(imported)) {
		plain = imported
	}
	if strings.HasPrefix(plain, ".") {
		return path.Join(dir, plain), true
	}
	return plain, false
}

// goFolder is the files of the package whose folder the import path ends with. Of the
// standard library no folder is meant.
func (p places) goFolder(imported string) []int {
	for rest := imported; ; {
		before, after, ok := strings.Cut(rest, "/")
		if !ok {
			return nil
		}
		rest = after
		module := strings.TrimSuffix(imported, "/"+rest)
		if strings.Contains(module, ".") || strings.Contains(rest, "/") || strings.Contains(before, ".") {
			if files := p.folder[rest]; files != nil {
				return files
			}
		}
	}
}
