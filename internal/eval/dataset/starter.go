package dataset

import (
	"embed"
	"io/fs"
)

// starterName is what a user writes for the embedded set.
const starterName = "starter"

//go:embed starter
var embedded embed.FS

// Starter gives the embedded set: 40 small changes of our own making, five in
// each of eight languages.
func Starter() ([]Case, error) { return Read(starterName) }

// starterLanguages are the files of the set, in the order of its cases.
func starterLanguages() []string {
	return []string{"go", "typescript", "python", "java", "rust", "ruby", "csharp", "c"}
}

func (r *reader) starter() {
	folder, err := fs.Sub(embedded, starterName)
	if err != nil {
		r.unreadable(starterName, err)
		return
	}
	for _, language := range starterLanguages() {
		file := language + ".jsonl"
		name := starterName + "/" + file
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			r.unreadable(name, err)
			continue
		}
		r.text(source{name, folder}, text)
	}
}
