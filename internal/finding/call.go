package finding

import "github.com/org/pr-review-action/internal/cost"

// Call is one paid answer of a model about a file, in the order in which they
// came. It tells how a result came about, and holds neither question nor answer.
type Call struct {
	Task    string     `json:"task"`            // classify, review, again, repair or verify
	Part    int        `json:"part,omitempty"`  // of a file that was reviewed in several, from 1
	Model   string     `json:"model,omitempty"` // that answered, as the server names it; untrusted text
	Finish  string     `json:"finish,omitempty"`
	Seconds float64    `json:"seconds,omitempty"` // until the answer was there, waits and retries included
	Usage   cost.Usage `json:"usage"`
	Tools   []ToolCall `json:"tools,omitempty"` // that the answer asked for
}

// ToolCall is one tool that a model called. Name and Arguments are untrusted text.
type ToolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Bytes     int    `json:"bytes"`             // of the result
	Problem   string `json:"problem,omitempty"` // why there is none; one line, redacted, may hold untrusted text
}
