package finding

// FlagKind says what a flag warns of.
type FlagKind string

// The kinds of flags. A hidden-text flag is about title, description or branch
// name alone: in a file the same is a finding.
const (
	InjectionFlag   FlagKind = "injection"   // text that addresses whoever reviews
	SuppressionFlag FlagKind = "suppression" // a list of what tools are not to report grew
	HiddenFlag      FlagKind = "hidden-text" // characters that a reader does not see, or a forged mark of ours
)

// Flag warns the approver of a text in the change. It is a line of the draft's
// banner and is never posted. Path and Text are untrusted.
type Flag struct {
	Path string   `json:"path"` // empty for title, description and branch name
	Line int      `json:"line"` // 1-based, of the new file or the description
	Kind FlagKind `json:"kind"`
	Text string   `json:"text"` // what stands there, without credentials; behind "title: " and the like without a path
}
