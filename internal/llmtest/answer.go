package llmtest

import (
	"encoding/json"
	"net/http"
	"time"
)

// object is a JSON object of plain values, so that marshalling it cannot fail.
type object = map[string]any

// Script returns a model's answers. It is called concurrently.
type Script func(Request) Answer

// Answer is one scripted response. The zero value of every field gives an ordinary response.
type Answer struct {
	Text    string        // of the assistant's message
	Calls   []Call        // of tools; an empty id is filled in
	Thought string        // reasoning in the message, as servers of open models write it
	Refusal string        // in place of a text
	Finish  string        // finish reason of a chat completion; "stop" or "tool_calls" if empty
	Delay   time.Duration // before anything is sent

	Cost       float64 // usage.cost in USD, as gateways report it; omitted if 0
	Cached     int     // cached input tokens
	CacheWrite int     // input tokens written to a cache
	Reasoning  int     // output tokens of reasoning, in addition to the text's
	NoUsage    bool    // omits usage

	Status int         // other than 200: an error response with Text as its message
	Code   string      // of that error
	Header http.Header // further headers, such as Retry-After
	Raw    []byte      // the body, in place of a completion
	Half   bool        // sends half of the body, as if it were whole
	Drop   bool        // closes the connection without a response
	Reset  bool        // resets the connection without a response
	Drip   int         // sends this many bytes of the body and then nothing, until the client leaves

	input int  // tokens
	apart bool // as meter.Apart says
}

// jsonAnswer returns the answer whose text is the JSON of a value.
func jsonAnswer(v any) Answer {
	text, _ := json.Marshal(v) // plain values, and sorted keys: it cannot fail
	return Answer{Text: string(text)}
}

func (a Answer) ok() bool { return a.Status == 0 || a.Status == http.StatusOK }

func (a Answer) output() int {
	size := len(a.Text)
	for _, c := range a.Calls {
		size += len(c.Arguments)
	}
	return size/bytesPerToken + a.Reasoning
}

func (a Answer) cut(limit int) Answer {
	if limit <= 0 || a.output() <= limit {
		return a
	}
	a.Reasoning = min(a.Reasoning, limit)
	a.Text, a.Calls, a.Finish = a.Text[:min(len(a.Text), (limit-a.Reasoning)*bytesPerToken)], nil, "length"
	return a
}

func drip(w http.ResponseWriter, r *http.Request, body []byte, n int) {
	_, _ = w.Write(body[:min(n, len(body))])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// reset closes a connection so that the other end notices, without waiting for unsent data.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		if abrupt, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
			_ = abrupt.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

func (a Answer) usage(in, out string) object {
	usage := object{
		in + "_tokens": a.input, out + "_tokens": a.output(), "total_tokens": a.input + a.output(),
		in + "_tokens_details":  object{"cached_tokens": a.Cached, "cache_write_tokens": a.CacheWrite},
		out + "_tokens_details": object{"reasoning_tokens": a.Reasoning},
	}
	if a.apart {
		usage[out+"_tokens"] = a.output() - a.Reasoning
	}
	if a.Cost != 0 {
		usage["cost"] = a.Cost
	}
	return usage
}

func mapList[T any](list []T, f func(T) object) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
