package mcpclient

// presetArguments are the names that servers of a preset give one argument: their
// documents do not agree.
var presetArguments = map[string][]string{
	"issueIdOrKey": {"issueIdOrKey", "issueKey", "issueId", "key"},
	"pageId":       {"pageId", "id", "contentId"},
}

// Preset is what a known server's tools are called and how they answer; ok is false
// for a name that is none.
//
//   - rovo: the server that Atlassian hosts. It needs the argument cloudId.
//   - sooperset: mcp-atlassian over HTTP. Its Markdown may have lost headings and
//     lists, and then no criteria are told apart.
func Preset(name string) (ticket, page, comment Tool, ok bool) {
	switch name {
	case "rovo":
		return Tool{Name: "getJiraIssue", Argument: "issueIdOrKey", Key: "key", Summary: "fields.summary",
				Description: "fields.description"},
			Tool{Name: "getConfluencePage", Argument: "pageId", Key: "id", Title: "title", Text: "body"},
			Tool{Name: "addCommentToJiraIssue", Argument: "issueIdOrKey",
				With: map[string]any{"commentBody": "{text}"}},
			true
	case "sooperset":
		return Tool{Name: "jira_get_issue", Argument: "issue_key", Key: "key", Summary: "summary",
				Description: "description", With: map[string]any{"update_history": false, "comment_limit": 0}},
			Tool{Name: "confluence_get_page", Argument: "page_id", Key: "metadata.id", Title: "metadata.title",
				Text: "metadata.content", With: map[string]any{"convert_to_markdown": true, "include_metadata": true}},
			Tool{Name: "jira_add_comment", Argument: "issue_key", With: map[string]any{"body": "{text}"}}, true
	}
	return Tool{}, Tool{}, Tool{}, false
}
