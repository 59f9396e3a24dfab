package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// Digest names what a tool is: its name, description and the schema of its
// arguments, as sha256: and 64 hex digits.
func Digest(t *mcp.Tool) string {
	text, err := json.Marshal([]any{t.Name, t.Description, t.InputSchema})
	if err != nil {
		return "" // of what came out of JSON there is none
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// failure says of an error of the connection or the protocol what it means.
func (s *Server) failure(err error, id string) *atlassian.Failure {
	if f, ok := errors.AsType[*atlassian.Failure](err); ok {
		return f
	}
	var protocol *jsonrpc.Error
	program, said := len(s.o.Command) > 0, err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
	case program && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || strings.Contains(said,
		"executable file not found")):
		return &atlassian.Failure{Note: "could not be started", Err: err}
	case errors.As(err, &protocol) && protocol.Code != rejectedByTransport:
		return &atlassian.Failure{Note: fmt.Sprintf("refused the request for %s (%d)", id, protocol.Code), Err: err}
	case program:
		return &atlassian.Failure{Note: "ended, or did not speak the protocol", Temporary: true, Err: err}
	case s.tooLarge.Swap(false):
		return atlassian.Explain(transport.ErrTooLarge, id, "")
	case strings.Contains(said, "unsupported content type"):
		return &atlassian.Failure{Note: "gave an answer that is not of the protocol, such as the page of a login",
			Err: err}
	}
	return atlassian.Explain(err, id, "the account of "+s.o.Name)
}

// rejectedByTransport is the SDK's code for an error that came from below the protocol.
const rejectedByTransport = -32005

// answer is what a tool said.
type answer struct {
	names  string         // the key or id that it is about
	whole  string         // its text
	fields map[string]any // of an answer that is an object; nil for any other
}

// read takes an answer that names what was asked for. That a server calls it no
// error is not enough: known ones put their errors into good answers.
func read(r *mcp.CallToolResult, t Tool, id string) (answer, error) {
	a, err := whole(r, id)
	if err != nil {
		return answer{}, err
	}
	if a.names = a.about(t.Key, id); a.names == "" {
		return answer{}, atlassian.Fail("gave an answer that does not name %s", id)
	}
	return a, nil
}

// whole takes an answer that is no error, whatever it is about.
func whole(r *mcp.CallToolResult, id string) (answer, error) {
	var parts []string
	size := 0
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
			size += len(text.Text)
		}
	}
	if size > atlassian.MaxAnswer {
		return answer{}, atlassian.Fail("gave an answer for %s of more than %d MB", id, atlassian.MaxAnswer>>20)
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
	if field == "" {
		word := regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])` + regexp.QuoteMeta(id) + `(?:[^A-Za-z0-9_-]|$)`)
		if word.MatchString(a.whole) {
			return id
		}
		return ""
	}
	switch v := a.at(field).(type) {
	case string:
		if strings.EqualFold(v, id) {
			return id
		}
		return strings.ToUpper(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// at is what stands at a path of names; nil for nothing.
func (a answer) at(path string) any {
	if path == "" || a.fields == nil {
		return nil
	}
	var v any = a.fields
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (a answer) text(path string) string { return prose(a.at(path), 0) }

// prose is a text in whatever form a server gives it: Markdown, ADF, storage
// format, or an object that holds one of these.
func prose(v any, depth int) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(markup.Clean(v))
	case []any:
		var lines []string
		for _, item := range v {
			if s := prose(item, depth+1); s != "" && depth < 3 {
				lines = append(lines, s)
			}
		}
		return strings.Join(lines, "\n\n")
	case map[string]any:
		return ofObject(v, depth)
	}
	return ""
}

func ofObject(v map[string]any, depth int) string {
	if v["type"] == "doc" {
		doc, _ := json.Marshal(v)  // it came out of JSON
		text, _ := markup.ADF(doc) // what is none is empty
		return text
	}
	value, text := v["value"].(string)
	switch {
	case text && v["representation"] == "storage":
		return markup.Storage(value)
	case text && v["representation"] == "atlas_doc_format":
		if adf, err := markup.ADF([]byte(value)); err == nil {
			return adf
		}
		return ""
	}
	for _, name := range []string{"value", "text", "atlas_doc_format", "storage", "content", "name", "description"} {
		if s := prose(v[name], depth+1); s != "" && depth < 3 {
			return s
		}
	}
	return ""
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
