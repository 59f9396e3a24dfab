package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// commentLimit is the argument of sooperset that says how many comments come with a ticket.
const commentLimit = "comment_limit"

// Preset is what the settings say of a server, over what its preset does.
func Preset(said config.MCP) config.MCP {
	all := known(said.Preset)
	for _, t := range []config.Tool{all.Ticket, all.Page, all.Comment} {
		for name := range t.With {
			if v, ok := said.With[name]; ok {
				t.With[name] = v
			}
		}
	}
	text, _ := json.Marshal(said) // plain values, and what is not set is left out
	_ = json.Unmarshal(text, &all)
	return all
}

// Digest names what a tool is: its name, description and the schema of its arguments, as sha256: and 64 hex digits.
func Digest(t *mcp.Tool) string {
	text, err := json.Marshal([]any{t.Name, t.Description, t.InputSchema})
	if err != nil {
		return "" // of what came out of JSON there is none
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// answer is what a tool said.
type answer struct {
	whole  string         // its text
	fields map[string]any // of an answer that is an object; nil for any other
}

// understood is an answer that is no error, whatever it is about. That a server calls it
// none is not enough: known ones put their errors into good answers.
func understood(r *mcp.CallToolResult, id string) (answer, error) {
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
	a.fields, _ = r.StructuredContent.(map[string]any)
	if a.fields == nil {
		_ = json.Unmarshal([]byte(a.whole), &a.fields) // text that is none is text
	}
	_, only := a.fields["error"]
	if r.IsError || only && len(a.fields) == 1 || strings.HasPrefix(a.whole, "Error: ") ||
		strings.HasPrefix(a.whole, "MCP error ") {
		return answer{}, atlassian.Fail("reports an error for %s", id)
	}
	return a, nil
}

// about is the key that an answer is about, or empty: that of the field, or the one
// that was asked for, where the settings name no field and it stands in the answer.
func (a answer) about(field, id string) string {
	word := regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])` + regexp.QuoteMeta(id) + `(?:[^A-Za-z0-9_-]|$)`)
	switch v := a.at(field).(type) {
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

// at is what stands at a path of names; nil for nothing.
func (a answer) at(path string) (v any) {
	v = a.fields
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (a answer) text(path string) string { return prose(a.at(path), 0) }

// prose is a text in whatever form a server gives it: Markdown, ADF, storage
// format, a list of such, or an object that holds one. What is none of these is empty.
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

// criteria are those of a field: a list of texts, or a text with a list.
func (a answer) criteria(path string) (all []ticket.Criterion) {
	items, isList := a.at(path).([]any)
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
