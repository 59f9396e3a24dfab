package llm

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

func TestARequestThatIsTooLongSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		long   bool
	}{
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"x"}}`, true},
		{400, `{"error":{"code":"context_length_exceeded"}}`, true},
		{400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, true},
		{400, `[{"error":{"message":"The input token count (81881) exceeds the maximum number of tokens` +
			` allowed"}}]`, true},
		{400, `{"error":{"message":"the request exceeds the available context size, try increasing it"}}`, true},
		{413, `<html>`, true},
		{400, `{"error":{"message":"Invalid request."}}`, false},
		{429, `{"error":{"message":"Too many tokens in the context window, wait"}}`, false},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			w := serve(t, reply{c.status, c.body})
			_, err := to(t, w).Chat(t.Context(), question)
			var e *StatusError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.long, e.TooLong())
		})
	}
}

func TestRefusalsAreToldInTheirOwnTerms(t *testing.T) {
	t.Parallel()
	const (
		funds = "the account behind api-key has no credit or quota left"
		badly = "the key in api-key is not accepted there; check it (OPENAI_API_KEY) and base-url"
		named = "check base-url (it often ends in /v1) and the name in model"
		long  = "the request is longer than what the model takes; use a model with a larger context"
		large = "the account may not ask for that much at a time; raise its limit or set " +
			"model-options.max-output-tokens"
	)
	for body, want := range map[string]struct {
		status int
		next   string
	}{
		// OpenAI, Anthropic, OpenRouter, xAI, z.ai, Moonshot, Alibaba, LiteLLM
		`{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`:             {429, funds},
		`{"error":{"message":"Billing hard limit has been reached","code":"billing_hard_limit_reached"}}`: {400, funds},
		`{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic` +
			` API. Please go to Plans & Billing to upgrade or purchase credits."}}`: {400, funds},
		`{"error":{"message":"You have reached your specified API usage limits. You will regain access on 2026-12-01` +
			` at 00:00 UTC."}}`: {400, funds},
		`{"error":{"message":"Key limit exceeded (total limit). Manage it using` +
			` https://openrouter.ai/settings/keys","code":403}}`: {403, funds},
		`{"code":"Some resource has been exhausted","error":"Your team a-b has either used all available credits or` +
			` reached its monthly spending limit."}`: {429, funds},
		`{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`: {429,
			funds},
		`{"error":{"message":"Your account org-a is suspended due to insufficient balance, please recharge your` +
			` account","type":"exceeded_current_quota_error"}}`: {429, funds},
		`{"error":{"message":"Budget has been exceeded! Current cost: 3","type":"budget_exceeded"}}`: {
			429, funds},
		`{"error":{"message":"Access denied, please make sure your account is good.","code":"Arrearage"}}`: {
			400, funds},
		// Gemini: a model that the free tier lacks, and a day's end
		`[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan. * Quota exceeded` +
			` for metric: g/free_tier_requests, limit: 0, model: m\nPlease retry in 16.6s."}}]`: {429, funds},
		`[{"error":{"code":429,"message":"You exceeded your current quota.","details":[{"violations":[{"quotaId":` +
			`"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"16s"}]}}]`: {429, funds},
		// Gemini and xAI
		`[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]`:         {400, badly},
		`[{"error":{"code":400,"message":"API key expired. Please renew the API key."}}]`:              {400, badly},
		`{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`: {400, badly},
		// OpenAI
		`{"error":{"message":"Project 'p' does not have access to model 'm'","code":"model_not_found"}}`: {403, named},
		`{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Requested 37313."}}`: {429,
			large},
		// xAI, Moonshot, Alibaba
		`{"error":"This model's maximum prompt length is 131072 but the request contains 150000 tokens."}`: {400, long},
		`{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144"}}`:         {400, long},
		`{"error":{"message":"InvalidParameter: Range of input length should be [1, 9]"}}`: {400,
			long},
	} {
		w := serve(t, reply{want.status, body})
		_, err := to(t, w, func(o *Options) {
			o.HTTP = transport.New(transport.Options{LimitWait: time.Nanosecond, Backoff: time.Nanosecond,
				Retry: func(*http.Request) bool { return true }})
		}).Chat(t.Context(), question)
		var e *StatusError
		require.ErrorAs(t, err, &e, body)
		require.Equal(t, want.next, e.Next(), body)
		require.Len(t, w.requests(), 1, body)
	}
}

func TestPromptsThatAFilterRefusesAreRefusals(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{
		`{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.` +
			` Please try again with a different prompt","type":"invalid_request_error","code":"invalid_prompt"}}`: 400,
		`{"error":{"message":"This request has been flagged for potentially high-risk cyber activity."` +
			`,"type":"invalid_request","param":null,"code":"cyber_policy"}}`: 400,
		`{"status":"failed","error":{"code":"cyber_policy","message":"flagged"},"output":[]}`:               200,
		`{"error":{"message":"m requires moderation. Your input was flagged for \"violence\"","code":403}}`: 403,
		`{"code":"The caller does not have permission","error":"Content violates usage guidelines. Failed check:` +
			` SAFETY_CHECK_TYPE_CYBER"}`: 403,
		`{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}`: 400,
	} {
		_, err := to(t, serve(t, reply{status, body})).Chat(t.Context(), question)
		require.ErrorIs(t, err, ErrRefused, body)
	}
}

func TestACallThatTheServerCouldNotReadIsAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, `{"error":{"message":"Failed to call a function. Please adjust your prompt. See` +
		` 'failed_generation' for more details.","code":"tool_use_failed","failed_generation":"<function="}}`})
	_, err := to(t, w).Chat(t.Context(), withTools())
	require.ErrorIs(t, err, ErrEmpty)
	require.Len(t, w.requests(), 1)
}
