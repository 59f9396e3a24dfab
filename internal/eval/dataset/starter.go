package dataset

import (
	"embed"
	"io/fs"
)

// StarterName stands for the starter set where Read takes the name of a file: 40
// small changes of our own making, five in each of eight languages, and 14 whose
// defect is decided by a line of another file, with the tree that holds it.
const StarterName = "starter"

//go:embed starter
var embedded embed.FS

// starterLanguages are the files of the set, in the order of its cases.
func starterLanguages() []string {
	return []string{"go", "typescript", "python", "java", "rust", "ruby", "csharp", "c", "trees"}
}

func (r *reader) starter() {
	folder, err := fs.Sub(embedded, StarterName)
	if err != nil {
		r.unreadable(StarterName, err)
		return
	}
	for _, language := range starterLanguages() {
		file := language + ".jsonl"
		name := StarterName + "/" + file
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			r.unreadable(name, err)
			continue
		}
		r.text(source{name, folder}, text)
	}
}
