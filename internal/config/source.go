package config

// The kinds of sources: the key that names each in the settings.
const (
	SourceJira       = "jira"
	SourceConfluence = "confluence"
	SourceMCP        = "mcp"
	SourceIssues     = "issues"
)

// Source is one place that tickets or pages are read from. Credentials are in the
// variables that it names, never in it.
type Source struct {
	Kind          string `json:"kind"`
	URL           string `json:"url,omitzero"`  // of jira and confluence
	Site          string `json:"site,omitzero"` // that links name where URL is a gateway
	UserEnv       string `json:"user_env,omitzero"`
	TokenEnv      string `json:"token_env,omitzero"`
	CriteriaField string `json:"criteria_field,omitzero"`
	MCP           MCP    `json:"mcp,omitzero"`
}

// MCP is a server of the Model Context Protocol, and what its tools are called.
type MCP struct {
	Command  []string          `json:"command,omitempty"` // program and arguments; else URL
	Env      []string          `json:"env,omitempty"`     // names of variables that the program gets
	URL      string            `json:"url,omitzero"`
	UserEnv  string            `json:"user_env,omitzero"` // as in Source
	TokenEnv string            `json:"token_env,omitzero"`
	Preset   string            `json:"preset,omitzero"`
	With     map[string]any    `json:"arguments,omitempty"` // of every call
	Ticket   Tool              `json:"ticket,omitzero"`
	Page     Tool              `json:"page,omitzero"`
	Comment  Tool              `json:"comment,omitzero"` // in whose arguments {text} is what is said
	Pin      map[string]string `json:"pin,omitempty"`    // tool → sha256:…
}

// Tool is one tool of an MCP server: what it is given, and where its answer holds
// what, as names joined by dots. Without a name of its own a field is not read.
type Tool struct {
	Tool        string         `json:"tool,omitzero"`
	Argument    string         `json:"argument,omitzero"` // that takes the key or the page's id
	With        map[string]any `json:"arguments,omitempty"`
	Key         string         `json:"key,omitzero"`         // must hold what was asked for
	Summary     string         `json:"summary,omitzero"`     // of a page title
	Description string         `json:"description,omitzero"` // of a page text
	Criteria    string         `json:"criteria,omitzero"`
}
