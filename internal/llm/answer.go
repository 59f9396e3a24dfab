package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/transport"
)

// envelope holds what any body may contain besides its answer.
type envelope struct {
	Usage   reported `json:"usage"`
	Error   any      `json:"error"`
	Choices []struct {
		Error any `json:"error"`
	} `json:"choices"`
}

// failure reports whether the body contains an error, which some gateways send with status 200. code is the status in
// the error, or 0.
func (x envelope) failure() (code int, failed bool) {
	object, isObject := x.Error.(map[string]any)
	switch said := object["code"].(type) {
	case float64:
		if said >= 400 && said < 600 {
			code = int(said)
		}
	case string: // of the Responses interface
		switch said {
		case "rate_limit_exceeded":
			code = http.StatusTooManyRequests
		case "server_error":
			code = http.StatusInternalServerError
		}
	}
	return code, !isBlank(x.Error) && (!isObject || !isBlank(object["message"]))
}

// isBlank reports whether a value means "none": some gateways send "error": false, or an error without a message, with
// a good answer.
func isBlank(value any) bool {
	return slices.Contains([]string{"", "<nil>", "false", "0", "[]"}, strings.TrimSpace(fmt.Sprint(value)))
}

// unusableError returns the error of an unusable answer.
func (a *Answer) unusableError() error {
	switch {
	case a.Refusal != "" || a.Finish == "content_filter":
		return ErrRefused
	case len(a.ToolCalls) > 0:
		a.Finish = "tool_calls"
		return nil
	case a.Finish == "length":
		return ErrTruncated
	case strings.TrimSpace(a.Text) == "":
		return ErrEmpty
	}
	return nil
}

// finishReason translates a server's finish reason to that of chat completions.
func finishReason(reason string) string {
	switch strings.ToLower(reason) {
	case "max_tokens", "max_output_tokens", "model_length":
		return "length"
	case "safety", "refusal", "recitation", "prohibited_content", "blocklist", "spii":
		return "content_filter"
	case "end_turn", "stop":
		return "stop"
	}
	return reason
}

// thoughtEnd matches the end of reasoning and the start of an answer, on the same line or below. Inside a JSON
// string, where a model may quote the mark from a diff, the line feed or quotation mark after it is escaped.
var thoughtEnd = pattern.Lazy(`</(?:think|thinking|thought|reasoning)>(?:\s*\n\s*\S|[ \t]*(?:\{\s*["}]|` +
	"```" + `\w*\r?\n))`)

// stripThought strips reasoning that some servers leave at the front of the text. It goes by the end mark, since the
// start mark may be in the server's template; the last one counts, since reasoning may mention the mark.
func stripThought(text string) string {
	front := strings.TrimSpace(text)
	if strings.HasPrefix(front, "{") || strings.HasPrefix(front, "[") || strings.HasPrefix(front, "`") {
		return text
	}
	if ends := thoughtEnd().FindAllStringIndex(text, -1); len(ends) > 0 {
		_, rest, _ := strings.Cut(text[ends[len(ends)-1][0]:], ">")
		return strings.TrimSpace(rest)
	}
	if inner, found := strings.CutPrefix(front, "<think>"); found {
		if _, rest, closed := strings.Cut(inner, "</think>"); closed {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// maxName bounds the characters of a model's name and of a finish reason: both are stored with the review.
const maxName = 200

// redact removes an echoed key from the parsed answer.
func (a *Answer) redact(key string) {
	hidden := func(text string) string { return transport.Conceal(text, key) }
	for _, text := range []*string{&a.Text, &a.Model, &a.Finish, &a.Refusal} {
		*text = hidden(*text)
	}
	for i, c := range a.ToolCalls {
		a.ToolCalls[i] = Call{hidden(c.ID), hidden(c.Name), hidden(c.Arguments)}
	}
	if a.State != nil {
		a.State = json.RawMessage(hidden(string(a.State)))
	}
}

// lax is a string that accepts any JSON type: null is empty, other types keep their JSON.
type lax string

// UnmarshalJSON accepts any value.
func (l *lax) UnmarshalJSON(raw []byte) error {
	var text string
	switch {
	case string(raw) == "null":
		*l = ""
	case json.Unmarshal(raw, &text) == nil:
		*l = lax(text)
	default:
		*l = lax(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	return nil
}

// content is a message's text, in one piece or in parts.
type content string

var errContent = errors.New("the content is neither text nor parts")

// UnmarshalJSON accepts a text, a list of parts with texts, or null.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text *string
	if json.Unmarshal(raw, &text) == nil {
		if text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return errContent
	}
	for _, part := range parts {
		*c += content(part.Text)
	}
	return nil
}

const (
	maxMessage = 500  // characters of a message that is shown
	maxWords   = 4000 // bytes of a refusal that are searched for its cause
)

// refusalText returns all the text of a refusal, wherever servers put it: OpenAI names the parameter next to the
// message, OpenRouter quotes its provider, Gemini sends a list, FastAPI a list of places. It leaves out what the server
// echoes of the request.
func refusalText(body []byte) string {
	var said any
	if json.Unmarshal(body, &said) != nil {
		said = string(body)
	}
	text := strings.Join(strings.Fields(strings.Join(collectTexts(said, nil), ". ")), " ")
	return text[:min(len(text), maxWords)]
}

var errorFields = []string{"error", "errors", "message", "msg", "detail", "details", "loc", "param", "code", "type",
	"metadata", "raw", "violations", "quotaId"}

func collectTexts(said any, out []string) []string {
	switch v := said.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, each := range v {
			out = collectTexts(each, out)
		}
	case map[string]any:
		for _, name := range errorFields {
			out = collectTexts(v[name], out)
		}
	}
	return out
}
