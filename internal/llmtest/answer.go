package llmtest

import (
	"encoding/json"
	"net/http"
	"time"
)

func send(w http.ResponseWriter, r *http.Request, q Request, a Answer) {
	if !wait(r, a.Delay) {
		return
	}
	if a.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if a.Status != 0 && a.Status != http.StatusOK && a.Raw == nil {
		refuse(w, a.Status, a.Text)
		return
	}
	body := a.Raw
	if body == nil {
		body = completion(q, a)
	}
	w.Header().Set("Content-Type", "application/json")
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Drip > 0 {
		drip(w, r, body, a.Drip)
		return
	}
	_, _ = w.Write(body)
}

// wait reports whether the client is still there afterwards.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// drip sends the first bytes of a body and then keeps the client waiting.
func drip(w http.ResponseWriter, r *http.Request, body []byte, n int) {
	_, _ = w.Write(body[:min(n, len(body))])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// completion is a chat completion around an answer's text. Tokens are counted
// as a quarter of the bytes.
func completion(q Request, a Answer) []byte {
	finish := a.Finish
	if finish == "" {
		finish = "stop"
	}
	message := map[string]any{"role": "assistant", "content": a.Text, "refusal": nil}
	if a.Refusal != "" {
		message["content"], message["refusal"] = nil, a.Refusal
	}
	in, out := (len(q.System)+len(q.User))/4, len(a.Text)/4
	usage := map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": a.Cached},
	}
	if a.Cost != 0 {
		usage["cost"] = a.Cost
	}
	body, _ := json.Marshal(map[string]any{ // maps of plain values: it cannot fail
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   usage,
	})
	return body
}
