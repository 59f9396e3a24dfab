package mcpclient

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// presetArguments lists the names that the servers of a preset use for an argument: their documents disagree. The
// first one that a tool has is used.
var presetArguments = map[string][]string{
	"issueIdOrKey": {"issueIdOrKey", "issueKey", "issueId", "key"},
	"pageId":       {"pageId", "id", "contentId"},
}

// presetOf returns the tool names of a known server and the form of their answers.
//
//   - rovo: the server that Atlassian hosts. It needs the argument cloudId.
//   - sooperset: mcp-atlassian over HTTP. Its Markdown may lack headings and lists, so
//     that no criteria are found.
func presetOf(name string) config.MCP {
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
				Description: "description", With: map[string]any{"update_history": false, commentLimit: 0}},
			Page: config.Tool{Tool: "confluence_get_page", Argument: "page_id", Key: "metadata.id",
				Summary: "metadata.title", Description: "metadata.content",
				With: map[string]any{"convert_to_markdown": true, "include_metadata": true}},
			Comment: config.Tool{Tool: "jira_add_comment", Argument: "issue_key",
				With: map[string]any{"body": "{text}"}},
		}
	}
	return config.MCP{}
}

// commentLimit is sooperset's argument for the number of comments that come with a ticket.
const commentLimit = "comment_limit"

// Preset returns the settings of a server merged over its preset.
func Preset(said config.MCP) config.MCP {
	all := presetOf(said.Preset)
	for _, t := range []config.Tool{all.Ticket, all.Page, all.Comment} {
		for name := range t.With {
			if v, ok := said.With[name]; ok {
				t.With[name] = v
			}
		}
	}
	text, _ := json.Marshal(said) // plain values, and unset ones are omitted
	_ = json.Unmarshal(text, &all)
	return all
}

// Digest identifies a tool by its name, description and the schema of its arguments, as sha256: and 64 hex digits.
func Digest(t *mcp.Tool) string {
	text, _ := json.Marshal([]any{t.Name, t.Description, t.InputSchema}) // they came out of JSON
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

// answer is a tool's answer.
type answer struct {
	whole  string         // its text
	fields map[string]any // of an answer that is an object; nil for any other
}

// parseAnswer returns the answer, or an error if it is one, whatever it is about. The server's own mark is not
// enough: known servers return errors as good answers.
func parseAnswer(r *mcp.CallToolResult, id string) (answer, error) {
	var parts []string
	size := 0
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
			size += len(text.Text)
		}
	}
	if size > atlassian.MaxAnswer {
		return answer{}, atlassian.Explain(transport.ErrTooLarge, id, "")
	}
	a := answer{whole: strings.TrimSpace(markup.Clean(strings.Join(parts, "\n")))}
	// FastMCP wraps a tool's JSON text as {"result": TEXT}. Text that is not JSON stays text.
	if json.Unmarshal([]byte(a.whole), &a.fields) != nil {
		a.fields, _ = r.StructuredContent.(map[string]any)
	}
	_, only := a.fields["error"]
	if r.IsError || only && len(a.fields) == 1 || strings.HasPrefix(a.whole, "Error: ") ||
		strings.HasPrefix(a.whole, "MCP error ") {
		return answer{}, atlassian.Fail("reports an error for %s", id)
	}
	return a, nil
}

// keyFor returns the key that an answer is about: that of the field or, if the settings name no field, the requested
// key if the answer contains it. It returns "" if there is none.
func (a answer) keyFor(field, id string) string {
	word := regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])` + regexp.QuoteMeta(id) + `(?:[^A-Za-z0-9_-]|$)`)
	switch v := a.lookup(field).(type) {
	case string:
		if strings.EqualFold(v, id) {
			return id
		}
		return strings.ToUpper(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if field == "" && word.MatchString(a.whole) {
		return id
	}
	return ""
}

// lookup returns the value at a path of names; nil if there is none.
func (a answer) lookup(path string) (v any) {
	v = a.fields
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (a answer) text(path string) string { return prose(a.lookup(path), 0) }

// prose returns a text in any form that servers use: Markdown, ADF, storage format, a list of these, or an object
// that holds one. Anything else gives "".
func prose(v any, depth int) (text string) {
	if depth > 3 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(markup.Clean(v))
	case []any:
		var parts []string
		for _, item := range v {
			if text = prose(item, depth+1); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "\n\n")
	case map[string]any:
		value, _ := v["value"].(string)
		switch {
		case v["type"] == "doc":
			doc, _ := json.Marshal(v) // it came out of JSON
			text, _ = markup.ADF(doc)
			return text
		case v["representation"] == "storage":
			return markup.Storage(value)
		case v["representation"] == "atlas_doc_format":
			text, _ = markup.ADF([]byte(value))
			return text
		}
		for _, name := range strings.Fields("value text atlas_doc_format storage content name description") {
			if text == "" {
				text = prose(v[name], depth+1)
			}
		}
	}
	return text
}

// criteria parses a field with criteria: a list of texts, or a text with a list.
func (a answer) criteria(path string) (all []ticket.Criterion) {
	items, isList := a.lookup(path).([]any)
	if !isList {
		return ticket.CriteriaOf(a.text(path))
	}
	for _, item := range items[:min(len(items), 50)] {
		if s := prose(item, 1); s != "" {
			all = append(all, ticket.Criterion{Text: s})
		}
	}
	return all
}
