package dataset

import (
	"embed"
	"io/fs"
)

// The names of the sets of our own making that come with the program, where Read takes
// the name of a file.
const (
	// StarterName has 40 small changes, five in each of eight languages, and 14 whose
	// defect is decided by a line of another file, with the tree that holds it.
	StarterName = "starter"
	// TicketsName has eight clean changes with the tickets that they were made for.
	TicketsName = "tickets"
)

//go:embed starter tickets
var embedded embed.FS

// filesOf are the files of a set, in the order of its cases; none for a name that is no
// set's.
func filesOf(set string) []string {
	switch set {
	case StarterName:
		return []string{"go", "typescript", "python", "java", "rust", "ruby", "csharp", "c", "trees"}
	case TicketsName:
		return []string{"tickets"}
	}
	return nil
}

// Embedded reports whether a name is that of a set that comes with the program.
func Embedded(name string) bool { return len(filesOf(name)) > 0 }

func (r *reader) set(of string) {
	folder, err := fs.Sub(embedded, of)
	if err != nil {
		r.unreadable(of, err)
		return
	}
	for _, language := range filesOf(of) {
		file := language + ".jsonl"
		name := of + "/" + file
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			r.unreadable(name, err)
			continue
		}
		r.text(source{name, folder}, text)
	}
}
