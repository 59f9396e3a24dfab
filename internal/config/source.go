package config

// The kinds of sources, which are their keys in the settings.
const (
	SourceJira       = "jira"
	SourceConfluence = "confluence"
	SourceMCP        = "mcp"
	SourceIssues     = "issues"
)

// Source is one place that tickets or pages are read from. It never contains credentials,
// only the names of variables that hold them.
type Source struct {
	Kind          string `json:"kind"`
	URL           string `json:"url,omitzero"`  // of jira and confluence
	Site          string `json:"site,omitzero"` // site that links name if URL is a gateway
	UserEnv       string `json:"user_env,omitzero"`
	TokenEnv      string `json:"token_env,omitzero"`
	CriteriaField string `json:"criteria_field,omitzero"`
	MCP           MCP    `json:"mcp,omitzero"`
}

// MCP is a server of the Model Context Protocol, and which of its tools are called.
type MCP struct {
	Command  []string          `json:"command,omitempty"` // program and arguments; else URL
	Env      []string          `json:"env,omitempty"`     // names of variables that the program gets
	URL      string            `json:"url,omitzero"`
	UserEnv  string            `json:"user_env,omitzero"` // as in Source
	TokenEnv string            `json:"token_env,omitzero"`
	Preset   string            `json:"preset,omitzero"`
	With     map[string]any    `json:"arguments,omitempty"` // arguments of every call
	Ticket   Tool              `json:"ticket,omitzero"`
	Page     Tool              `json:"page,omitzero"`
	Comment  Tool              `json:"comment,omitzero"` // {text} in its arguments is the comment
	Pin      map[string]string `json:"pin,omitempty"`    // tool → sha256:…
}

// Tool is one tool of an MCP server: its arguments, and where its answer holds each field,
// as names joined by dots. A field without a name is not read.
type Tool struct {
	Tool        string         `json:"tool,omitzero"`
	Argument    string         `json:"argument,omitzero"` // takes the key or the page's id
	With        map[string]any `json:"arguments,omitempty"`
	Key         string         `json:"key,omitzero"`         // must hold the key that was requested
	Summary     string         `json:"summary,omitzero"`     // for a page: title
	Description string         `json:"description,omitzero"` // for a page: text
	Criteria    string         `json:"criteria,omitzero"`
}
