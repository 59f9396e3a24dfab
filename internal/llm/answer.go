package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

// envelope is what any body may say beside its answer.
type envelope struct {
	Usage   reported `json:"usage"`
	Error   any      `json:"error"`
	Choices []struct {
		Error any `json:"error"`
	} `json:"choices"`
}

// failure reports whether a response has an error in its body, as some gateways
// send it with status 200, and the status that stands there, or 0.
func (x envelope) failure() (code int, failed bool) {
	object, isObject := x.Error.(map[string]any)
	switch said := object["code"].(type) {
	case float64:
		if said >= 400 && said < 600 {
			code = int(said)
		}
	case string: // of the Responses interface
		code = map[string]int{"rate_limit_exceeded": 429, "server_error": 500}[said]
	}
	return code, !blank(x.Error) && (!isObject || !blank(object["message"]))
}

// blank reports whether a value says that there is nothing: some gateways write
// "error": false, or an error without words, beside a good answer.
func blank(value any) bool {
	return slices.Contains([]string{"", "<nil>", "false", "0", "[]"}, strings.TrimSpace(fmt.Sprint(value)))
}

// verdict is the error of an answer that cannot be used.
func (a *Answer) verdict() error {
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

// finish says a server's finish reason in the words of chat completions.
func finish(reason string) string {
	switch strings.ToLower(reason) {
	case "max_tokens", "max_output_tokens", "model_length":
		return "length"
	case "safety", "refusal", "recitation", "prohibited_content", "blocklist":
		return "content_filter"
	case "end_turn", "stop":
		return "stop"
	}
	return reason
}

// thoughtEnd is the end of reasoning, with an answer's beginning behind it, on its line or below. Within a string of
// JSON, where a model may quote the mark from a diff, a line feed or a quotation mark behind it is escaped.
var thoughtEnd = pattern.Lazy(`</think>(?:\s*\n\s*\S|[ \t]*(?:\{\s*["}]|` + "```" + `\w*\r?\n))`)

// spoken leaves out the reasoning that some servers leave at the front of the text, by the mark that ends it: the one
// that begins it may stand in their template. The last one counts, since reasoning may speak of the mark.
func spoken(text string) string {
	front := strings.TrimSpace(text)
	if strings.HasPrefix(front, "{") || strings.HasPrefix(front, "[") || strings.HasPrefix(front, "`") {
		return text
	}
	if ends := thoughtEnd().FindAllStringIndex(text, -1); len(ends) > 0 {
		return strings.TrimSpace(strings.TrimPrefix(text[ends[len(ends)-1][0]:], "</think>"))
	}
	if inner, found := strings.CutPrefix(front, "<think>"); found {
		if _, rest, closed := strings.Cut(inner, "</think>"); closed {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// maxName is the characters of a model's name and of a finish reason: both are kept with the review.
const maxName = 200

func clipped(name string) string {
	name, _ = wording.Clip(name, maxName)
	return name
}

// redact takes a key out that came back, once the envelope is read.
func (a *Answer) redact(key string) {
	for _, text := range []*string{&a.Text, &a.Model, &a.Finish, &a.Refusal} {
		*text = redact(*text, key)
	}
	for i, c := range a.ToolCalls {
		a.ToolCalls[i] = Call{redact(c.ID, key), redact(c.Name, key), redact(c.Arguments, key)}
	}
	if a.State != nil {
		a.State = json.RawMessage(redact(string(a.State), key))
	}
}

// minSecret is the length in bytes from which on a key is taken out of what comes
// back. A shorter one is a placeholder for a server that wants none, and as a
// word of its own ("test", "major") stands in answers that must stay whole.
const minSecret = 12

func redact(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, key, "***")
}

// lax is a text in any type: what is no text is its JSON, null is empty.
type lax string

// UnmarshalJSON takes any value.
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

// UnmarshalJSON takes a text, a list of parts with texts, or null.
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
	maxWords   = 4000 // bytes of a refusal that are searched for what it names
)

// words is all that a refusal says, wherever servers put it: OpenAI names the
// parameter beside the message, OpenRouter quotes its provider, Gemini sends a
// list, FastAPI one of places. What is echoed of the request is left out.
func words(body []byte) string {
	var said any
	if json.Unmarshal(body, &said) != nil {
		said = string(body)
	}
	text := strings.Join(strings.Fields(strings.Join(gather(said, nil), ". ")), " ")
	return text[:min(len(text), maxWords)]
}

var spokenIn = []string{"error", "errors", "message", "msg", "detail", "details", "loc", "param", "code", "type",
	"metadata", "raw"}

func gather(said any, out []string) []string {
	switch v := said.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, each := range v {
			out = gather(each, out)
		}
	case map[string]any:
		for _, name := range spokenIn {
			out = gather(v[name], out)
		}
	}
	return out
}
