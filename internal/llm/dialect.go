package llm

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"sync"
)

// capability is a feature in which servers differ. Step 0 of each is tried first; every refusal leads to the next,
// simpler step.
type capability int

const (
	// the interface: chat completions, Responses, chat completions again without reasoning if tools are offered
	via         capability = iota
	format                 // of the answer: json_schema, json_object, nothing
	mixed                  // tools and format: both, the format only in requests without tools
	length                 // the output limit's name: Client.oldLimit's, the other, none
	ceiling                // the output limit's size: whole, half, a quarter, …; for one request only
	temperature            // temperature if requested, none
	seed                   // seed if requested, none
	effort                 // reasoning effort if set, none
	state                  // of reasoning: sent back (and, by Responses, requested encrypted), or not
	strict                 // schemas of tools in the strict form, or without its mark and additionalProperties
	bridge                 // a user's turn right after a tool's: unchanged, with one of the assistant's between them
	system                 // the system turn: a separate role, the front of the first user turn
	marks                  // cache marks, or none
	tools                  // offered, or ErrNoTools
	capabilities
)

// form holds a step for every capability, and so determines how a request is written.
type form [capabilities]int

const (
	viaResponses = 1
	viaPlainChat = 2
	unlimited    = 2    // of length
	minLimit     = 1024 // tokens: no output limit is halved to less
)

func (f form) responses() bool { return f[via] == viaResponses }

// fallback maps a refusal to the capability that has to be written more simply, for a range of steps.
type fallback struct {
	of       capability
	from, to int
	says     string // matches the server's words, in lower case; "" for any
	unless   string // matches words that mean something else after all
	codes    []int  // in place of refusals
}

const (
	limits  = `max(imum)?[_ ]?((completion|output|new)_?)?tokens`
	formats = `response.?format|json.?schema|json.?object|json mode|structured.?output|text\.format|response.?schema` +
		`|mime.?type|guided`
	toolish = `\btools?\b|function.?call\w*`
	refused = `not (be )?(support|permitted|allowed|enabled|available|implemented)|n't support|unsupported` +
		`|unrecogni[sz]ed|unknown|extra_forbidden`
	strange = refused + `|not a valid|unexpected|additional propert|no such|deprecated|\binstead\b`
	size    = limits + `.*(too (large|high|big)|at most|maximum|exceed|less than|greater|above|between|range|limited` +
		`|<=|\d >)|range of '?` + limits + `|in the (completion|output)\)|requested [1-9]\d* output tokens`
)

// fallbacks are tried in order, the least loss first. The words are those of OpenAI, Azure, OpenRouter, LiteLLM,
// vLLM, Ollama, llama.cpp, Groq, Mistral, Gemini's and Bedrock's compatible interfaces; each has a test with the full
// text.
var fallbacks = []fallback{
	{of: via, to: 1, says: `/responses\b|responses api|not a chat model|chatcompletion operation` +
		` does not work|not support .{0,9}/chat/completions|not support 'max'`},
	{of: via, from: 1, to: 2, codes: []int{http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotImplemented}},
	{of: via, from: 1, to: 2, says: `responses api is enabled only`},
	{of: marks, to: 1, says: `cache.?control|prompt.?cache|\binstructions\b|messages(\[0\]|\.0)\.content` +
		`|content.{0,40}(must be|expected|valid).{0,20}string`},
	{of: temperature, to: 1, says: `temperature`},
	{of: seed, to: 1, says: `\bseed\b`},
	{of: state, to: 1, says: `encrypted|\binclude\b|(` + strange + `).*reasoning_(content|details)` +
		`|reasoning_(content|details).*(` + strange + `)`},
	{of: effort, to: 1, says: `effort|\breasoning\b|thinking`},
	{of: strict, to: 1, says: `\bstrict\b|invalid schema for function|invalid_function_parameters` +
		`|additionalproperties.*\btools?\b`},
	{of: bridge, to: 1, says: `after role 'tool'|except for tool calls`, codes: []int{
		http.StatusBadRequest, http.StatusInternalServerError}}, // 500 is llama.cpp's, for what a template refuses
	{of: system, to: 1, says: `system (role|message|prompt)|role.*system|['"]system['"]` +
		`|roles must alternate|only user and assistant roles`},
	{of: mixed, to: 1, says: `(` + formats + `).*(tool|function)|(tool|function).*(` + formats +
		`)`},
	{of: format, to: 2, says: formats},
	{of: ceiling, to: 64, says: size},
	{of: ceiling, to: 64, says: `request too large for|fewer max_tokens`, codes: []int{
		http.StatusPaymentRequired, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}},
	{of: length, to: unlimited, says: `(` + strange + `).*` + limits + `|` + limits + `.*(` +
		strange + `)`, unless: size},
	{of: tools, to: 1, says: `(` + refused + `)[^.]*(` + toolish + `)|(` + toolish + `)[^.]*(` +
		refused + `)|support tool use|enable-auto-tool-choice|tools param requires|invalid value: 'tool'`},
	{of: format, to: 2, says: `\bschemas?\b|grammar|json_validate_failed`},
}

// dialect remembers the form that a server accepts for the model.
type dialect struct {
	mu   sync.Mutex
	form form
}

func (d *dialect) current() form {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.form
}

// learn reports whether a refused request is worth another try, because a simpler form is now known, and how often
// that try's output limit is halved. It is not if there was no refusal. The size is not remembered: one long file would
// shorten the answers for all others.
func (d *dialect) learn(a *wireRequest, refusal error) (halved int, found bool) {
	next, found := a.refusedCapability(refusal)
	halved = a.form[ceiling]
	switch {
	case !found:
		return halved, false
	case next == ceiling:
		return halved + 1, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.form[next] = max(d.form[next], a.form[next]+1)
	return halved, true
}

// refusedCapability returns the capability that a refusal is about, among those that the request used.
func (a *wireRequest) refusedCapability(refusal error) (capability, bool) {
	i := slices.IndexFunc(fallbacks, func(l fallback) bool {
		step := a.form[l.of]
		return a.uses[l.of] && step >= l.from && step < l.to && l.matches(refusal)
	})
	if i < 0 {
		return 0, false
	}
	return fallbacks[i].of, true
}

// refusals are the statuses by which servers reject a request's form.
var refusals = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestedRangeNotSatisfiable,
	http.StatusUnprocessableEntity, http.StatusNotImplemented,
}

func (l fallback) matches(refusal error) bool {
	codes := refusals
	if l.codes != nil {
		codes = l.codes
	}
	e, ok := errors.AsType[*StatusError](refusal)
	return ok && slices.Contains(codes, e.Code) && regexp.MustCompile(l.says).MatchString(e.words) &&
		(l.unless == "" || !regexp.MustCompile(l.unless).MatchString(e.words))
}
