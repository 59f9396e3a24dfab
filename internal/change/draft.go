package change

// The types that a ticket is implemented as.
const (
	Bug   = "Bug"
	Story = "Story"
)

// Class is what a ticket asks for, in the model's words but for Type and Note.
type Class struct {
	Type       string   `json:"type,omitzero"` // Bug or Story
	Summary    string   `json:"summary,omitzero"`
	Components []string `json:"components,omitempty"`
	Complexity string   `json:"complexity,omitzero"` // low, medium or high
	Note       string   `json:"note,omitzero"`       // ours: where the type is not the tracker's
}

// Module is one that the change may touch, and the model's reason for it.
type Module struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Chunk is a piece of the repository that a search found for the ticket.
type Chunk struct {
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Score     float64 `json:"score"`
	Text      string  `json:"text,omitempty"`
}

// Check is what the project's own command said of the change, on the machine of who asked
// for it. Output is untrusted text, its end where it is long.
type Check struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
	Output  string `json:"output,omitzero"`
}

// Verdict is what came of the command.
func (c Check) Verdict() string {
	if c.Passed {
		return "passed"
	}
	return "failed"
}
