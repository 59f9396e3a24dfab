package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
	openai "github.com/sashabaranov/go-openai"
)

// exchange stands between the library and the HTTP client for one request: it
// tells answers that say no, and keeps what the library drops.
type exchange struct {
	http     *http.Client
	key      string
	answered bool
	extra    extra
}

// extra is what gateways put into a response beside the library's fields.
type extra struct {
	Usage struct {
		Cost json.Number `json:"cost"` // USD
	} `json:"usage"`
	Error any `json:"error"`
}

// Do sends the request. A response that is no answer is a *StatusError.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := e.http.Do(req)
	if err != nil {
		e.answered = errors.Is(err, transport.ErrNotJSON)
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	// A wrong type in one field leaves the others read: the error is the library's to find.
	_ = json.Unmarshal(body, &e.extra)
	e.answered = true
	code, failed := e.extra.failure()
	if resp.StatusCode == http.StatusOK && code != 0 {
		resp.StatusCode = code
	}
	if failed || resp.StatusCode/100 != 2 {
		return nil, e.refusal(resp, body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// refusal takes the key out before the message is cut, so that no part of it is
// left at the end, and once more where JSON had it escaped.
func (e *exchange) refusal(resp *http.Response, body []byte) *StatusError {
	resp.Body = io.NopCloser(strings.NewReader(redact(string(body), e.key)))
	status := transport.Status(resp)
	status.Message = redact(status.Message, e.key)
	return &StatusError{status}
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

// failure reports whether a response has an error in its body, as some gateways
// send it with status 200, and the status that stands there, or 0.
func (x extra) failure() (code int, failed bool) {
	object, isObject := x.Error.(map[string]any)
	if number, ok := object["code"].(float64); ok && number >= 400 && number < 600 {
		code = int(number)
	}
	return code, x.Error != nil && x.Error != "" && (!isObject || object["message"] != nil)
}

func (e *exchange) read(response openai.ChatCompletionResponse) (Answer, error) {
	answer := Answer{Model: redact(response.Model, e.key), Usage: usage(response.Usage, e.extra)}
	if len(response.Choices) == 0 {
		return answer, ErrEmpty
	}
	choice := response.Choices[0]
	answer.Text, answer.Refusal = redact(text(choice.Message), e.key), redact(choice.Message.Refusal, e.key)
	answer.Finish = string(choice.FinishReason)
	switch {
	case answer.Refusal != "" || choice.FinishReason == openai.FinishReasonContentFilter:
		return answer, ErrRefused
	case choice.FinishReason == openai.FinishReasonLength:
		return answer, ErrTruncated
	case strings.TrimSpace(answer.Text) == "":
		return answer, ErrEmpty
	}
	return answer, nil
}

func text(m openai.ChatCompletionMessage) string {
	text := m.Content
	for _, part := range m.MultiContent { // one of the two is set
		text += part.Text
	}
	return text
}

func usage(u openai.Usage, x extra) cost.Usage {
	out := cost.Usage{
		InputTokens:  count(u.PromptTokens),
		OutputTokens: count(u.CompletionTokens),
		Calls:        1,
		Cost:         microUSD(x.Usage.Cost),
	}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens = min(count(d.CachedTokens), out.InputTokens)
	}
	return out
}

// count bounds a number that a server reports, so that sums stay sums.
func count(n int) int64 { return min(max(int64(n), 0), 1<<40) }

// microUSD reads dollars and rounds up to a micro-dollar; 0 for what is no
// amount between 0 and a million.
func microUSD(dollars json.Number) cost.MicroUSD {
	f, err := dollars.Float64()
	if err != nil || !(f > 0 && f <= 1e6) {
		return 0
	}
	return cost.MicroUSD(math.Ceil(f*1e6 - 1e-6))
}
