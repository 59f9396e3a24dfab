package lang

// Language is what is known of the files of one language. The zero value stands
// for any other file: its text is all code.
type Language struct {
	Name string // in lower case, such as typescript
	Like string // another language whose readers can read this one, such as javascript; may be empty
	Kind Kind

	extensions string // with their dots, separated by spaces
	words      string // by which a Markdown block is said to be in it, separated by spaces
	notCode    form
	defines    forms
}

// Kind says what a file's text is for.
type Kind int

// The kinds of text.
const (
	Code Kind = iota
	Settings
	Prose
)

// NotCode is the first comment or string in a text from an offset on; to is 0 where
// there is none.
func (l Language) NotCode(text string, at int) (from, to int) { return l.notCode.next(text, at) }

// Blank overwrites comments and strings with spaces, line breaks kept, byte for
// byte as long. A string with a brace or a dollar stays: there may be code in it.
func (l Language) Blank(text string) string { return l.notCode.blank(text) }

// Defines tells of a line, comments and strings blanked, whether it defines the
// name. It goes by the form of the line, so it can err.
func (l Language) Defines(name string) func(line string) bool {
	if l.defines.source == "" {
		return anyForms.defines(name)
	}
	return l.defines.defines(name)
}
