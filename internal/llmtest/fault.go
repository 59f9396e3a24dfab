package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fault changes an answer.
type Fault func(Request, Answer) Answer

// Faulty applies one fault to each of the first requests; for a nil fault, and after the last, next answers.
func Faulty(next Script, faults ...Fault) Script {
	var mu sync.Mutex
	return func(r Request) Answer {
		mu.Lock()
		var fault Fault
		if len(faults) > 0 {
			fault, faults = faults[0], faults[1:]
		}
		mu.Unlock()
		if fault == nil {
			return next(r)
		}
		return fault(r, next(r))
	}
}

// Constantly applies a fault to every request.
func Constantly(fault Fault, next Script) Script {
	return func(r Request) Answer { return fault(r, next(r)) }
}

// Failing returns an error status with headers, such as "Retry-After: 20".
func Failing(status int, headers ...string) Fault {
	h := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return func(Request, Answer) Answer {
		return Answer{Status: status, Header: h, Text: "The server had an error while processing your request."}
	}
}

// Page returns an error status with a web page, as a proxy sends it.
func Page(status int) Fault {
	return func(Request, Answer) Answer {
		page := fmt.Sprintf("<html><head><title>%d %s</title></head><body>proxy</body></html>", status,
			http.StatusText(status))
		return Answer{Status: status, Raw: []byte(page), Header: http.Header{"Content-Type": {"text/html"}}}
	}
}

// Faults returns the faults without arguments, by name.
func Faults() map[string]Fault {
	return map[string]Fault{
		"reset":          func(_ Request, a Answer) Answer { a.Reset = true; return a },
		"drop":           func(_ Request, a Answer) Answer { a.Drop = true; return a },
		"stall":          func(_ Request, a Answer) Answer { a.Drip = 20; return a },
		"late":           func(_ Request, a Answer) Answer { a.Delay += time.Hour; return a },
		"truncated-json": func(_ Request, a Answer) Answer { a.Half = true; return a },
		"wrong-types":    wrongTypes,
		"no-choices":     noChoices,
		"empty":          func(Request, Answer) Answer { return Answer{} },
		"refusal": func(Request, Answer) Answer {
			return Answer{Refusal: "I'm sorry, but I cannot assist with that request."}
		},
		"content-filter": func(_ Request, a Answer) Answer {
			a.Finish, a.Text, a.Calls = "content_filter", "", nil
			return a
		},
		"input-filter": inputFilter,
		"length":       cutShort,
		"bad-arguments": func(Request, Answer) Answer {
			return Answer{Calls: []Call{{Name: readFile, Arguments: `{"path": "a.go", `}}}
		},
		"unknown-tool": func(Request, Answer) Answer {
			return Answer{Calls: []Call{{Name: "run_shell", Arguments: `{"command":"env"}`}}}
		},
		"endless-calls": func(r Request, _ Answer) Answer { return Answer{Calls: Look(r)} },
		"huge":          func(Request, Answer) Answer { return Answer{Text: strings.Repeat("x", 10<<20)} },
		"no-usage":      func(_ Request, a Answer) Answer { a.NoUsage = true; return a },
	}
}

// wrongTypes returns well-formed JSON in which nothing has the right type.
func wrongTypes(r Request, _ Answer) Answer {
	if r.Interface == ResponsesAPI {
		return Answer{Raw: []byte(`{"id":7,"object":"response","status":"completed","output":{"type":"message"}` +
			`,"usage":"none"}`)}
	}
	return Answer{Raw: []byte(`{"id":7,"object":"chat.completion","choices":[{"index":"0"` +
		`,"message":{"role":"assistant","content":{"text":1}}}],"usage":[]}`)}
}

func noChoices(r Request, _ Answer) Answer {
	if r.Interface == ResponsesAPI {
		return Answer{Raw: []byte(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[]` +
			`,"usage":{"input_tokens":3,"output_tokens":0,"total_tokens":3}}`)}
	}
	return Answer{Raw: []byte(`{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[]` +
		`,"usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":3}}`)}
}

func inputFilter(Request, Answer) Answer {
	body := `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content` +
		` management policy. ` +
		`Please modify your prompt and retry.","type":null,"param":"prompt","code":"content_filter","status":400,` +
		`"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true` +
		`,"severity":"medium"}}}}}`
	return Answer{Status: http.StatusBadRequest, Raw: []byte(body)}
}

func cutShort(_ Request, a Answer) Answer {
	a.Finish, a.Text, a.Calls = "length", a.Text[:len(a.Text)/2], nil
	return a
}
