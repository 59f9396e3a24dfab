package mcpclient

import (
	"encoding/json"
	"maps"

	"github.com/org/pr-review-action/internal/config"
)

// presetArguments are the names that servers of a preset give one argument: their
// documents do not agree. The first that a tool has is the one.
var presetArguments = map[string][]string{
	"issueIdOrKey": {"issueIdOrKey", "issueKey", "issueId", "key"},
	"pageId":       {"pageId", "id", "contentId"},
}

// known is what a known server's tools are called and how they answer.
//
//   - rovo: the server that Atlassian hosts. It needs the argument cloudId.
//   - sooperset: mcp-atlassian over HTTP. Its Markdown may have lost headings and
//     lists, and then no criteria are told apart.
func known(name string) config.MCP {
	switch name {
	case "rovo":
		return config.MCP{
			Ticket: config.Tool{Tool: "getJiraIssue", Argument: "issueIdOrKey", Key: "key", Summary: "fields.summary",
				Description: "fields.description"},
			Page: config.Tool{Tool: "getConfluencePage", Argument: "pageId", Key: "id", Summary: "title",
				Description: "body"},
			Comment: config.Tool{Tool: "addCommentToJiraIssue", Argument: "issueIdOrKey",
				With: map[string]any{"commentBody": "{text}"}},
		}
	case "sooperset":
		return config.MCP{
			Ticket: config.Tool{Tool: "jira_get_issue", Argument: "issue_key", Key: "key", Summary: "summary",
				Description: "description", With: map[string]any{"update_history": false, "comment_limit": 50}},
			Page: config.Tool{Tool: "confluence_get_page", Argument: "page_id", Key: "metadata.id",
				Summary: "metadata.title", Description: "metadata.content",
				With: map[string]any{"convert_to_markdown": true, "include_metadata": true}},
			Comment: config.Tool{Tool: "jira_add_comment", Argument: "issue_key",
				With: map[string]any{"body": "{text}"}},
		}
	}
	return config.MCP{}
}

// Preset is what the settings say of a server, over what its preset does. The arguments
// of every call stand above the preset's and below those of a tool.
func Preset(said config.MCP) config.MCP {
	all := known(said.Preset)
	for _, t := range []*config.Tool{&said.Ticket, &said.Page, &said.Comment} {
		given := t.With
		t.With = map[string]any{}
		maps.Copy(t.With, said.With)
		maps.Copy(t.With, given)
	}
	text, _ := json.Marshal(said) // plain values, and what is not set is left out
	_ = json.Unmarshal(text, &all)
	return all
}
