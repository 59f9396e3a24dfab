package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

const schema = `{"type":"object","additionalProperties":false,"required":["x"],"properties":{"x":{"type":"string"}}}`

var question = Request{System: "s", User: "u", SchemaName: "n", Schema: json.RawMessage(schema), MaxTokens: 100}

func client(t *testing.T, url string) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: url, Key: "sk-secret-value", Model: "m",
		HTTP: transport.New(transport.Options{Tries: 1})})
	require.NoError(t, err)
	return c
}

func TestChatAsksByTheSchemaAndReportsUsageAndCost(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: `{"x":"12345678"}`, Cost: 0.0000421}),
		func(s *llmtest.Server) { s.Key = "sk-secret-value" })
	answer, err := client(t, server.URL+"/chat/completions").Chat(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, Answer{
		Text: `{"x":"12345678"}`, Model: "m", Finish: "stop",
		Usage: cost.Usage{OutputTokens: 4, Calls: 1, Cost: 43},
	}, answer)
	asked := server.Requests()[0]
	require.Equal(t, "json_schema", asked.Format)
	require.JSONEq(t, schema, string(asked.Schema))
	require.Equal(t, 100, asked.MaxTokens)
	require.Equal(t, "s", asked.System)
	require.Equal(t, "u", asked.User)
}

func TestCostIsRoundedUpAndBounded(t *testing.T) {
	t.Parallel()
	for dollars, want := range map[json.Number]cost.MicroUSD{
		"0.21": 210_000, "1": 1_000_000, "0.0000001": 1, "0.1000001": 100_001, "": 0, "0": 0, "-1": 0, "1e400": 0,
		"1e9": 0, "NaN": 0,
	} {
		require.Equal(t, want, microUSD(dollars), dollars)
	}
}

func TestServerThatRefusesTheFormIsAskedInPlainerOnesAndRemembered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*llmtest.Server)
		format string
		first  int
	}{
		"no json_schema":     {func(s *llmtest.Server) { s.NoSchema = true }, "json_object", 2},
		"no response_format": {func(s *llmtest.Server) { s.NoFormat = true }, "", 3},
		"no max_tokens":      {func(s *llmtest.Server) { s.OnlyMaxNew = true }, "json_schema", 2},
		"nothing of it":      {func(s *llmtest.Server) { s.NoFormat, s.OnlyMaxNew = true, true }, "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: "{}"}), c.set)
			tries := &counter{}
			chat, err := New(Options{BaseURL: server.URL, Model: "m", HTTP: &http.Client{Transport: tries}})
			require.NoError(t, err)
			answer, err := chat.Chat(t.Context(), question)
			require.NoError(t, err)
			require.EqualValues(t, 1, answer.Usage.Calls, "a refused form is not billed")
			require.Equal(t, c.first, tries.n)
			before := tries.n
			_, err = chat.Chat(t.Context(), question)
			require.NoError(t, err)
			require.Equal(t, before+1, tries.n, "the second call knows the form")
			for _, asked := range server.Requests() {
				require.Equal(t, c.format, asked.Format)
				require.Equal(t, 100, asked.MaxTokens)
			}
		})
	}
}

func TestTemperatureIsSentWhereAskedForAndLeftOutWhereRefused(t *testing.T) {
	t.Parallel()
	steady := question
	steady.Deterministic = true
	server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: "{}"}))
	chat := client(t, server.URL)
	for _, q := range []Request{question, steady} {
		_, err := chat.Chat(t.Context(), q)
		require.NoError(t, err)
	}
	require.Nil(t, server.Requests()[0].Temperature, "a review's request has none")
	require.InDelta(t, 0, *server.Requests()[1].Temperature, 1e-5)

	for name, c := range map[string]struct {
		model string
		set   func(*llmtest.Server)
		first int
	}{
		"by the server":  {"m", func(s *llmtest.Server) { s.NoTemperature = true }, 2},
		"by the library": {"gpt-5-mini", func(*llmtest.Server) {}, 1},
		"by the server, and other things": {"m", func(s *llmtest.Server) {
			s.NoTemperature, s.NoSchema, s.OnlyMaxNew = true, true, true
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: "{}"}), c.set)
			tries := &counter{}
			chat, err := New(Options{BaseURL: server.URL, Model: c.model, HTTP: &http.Client{Transport: tries}})
			require.NoError(t, err)
			_, err = chat.Chat(t.Context(), steady)
			require.NoError(t, err)
			require.Equal(t, c.first, tries.n)
			_, err = chat.Chat(t.Context(), steady)
			require.NoError(t, err)
			require.Equal(t, c.first+1, tries.n, "the second call knows the form")
			for _, asked := range server.Requests() {
				require.Nil(t, asked.Temperature)
				require.NotEmpty(t, asked.Format, "nothing is given up that was not refused")
			}
		})
	}
}

func TestRefusalThatNamesATemperatureNotSentTeachesNothing(t *testing.T) {
	t.Parallel()
	refusal := llmtest.Answer{Status: 400, Text: "temperature is not supported"}
	server := llmtest.Start(t, llmtest.Each(refusal, llmtest.Answer{Text: "{}"}))
	chat := client(t, server.URL)
	_, err := chat.Chat(t.Context(), question)
	require.ErrorContains(t, err, "answered 400")
	steady := question
	steady.Deterministic = true
	_, err = chat.Chat(t.Context(), steady)
	require.NoError(t, err)
	require.NotNil(t, server.Requests()[1].Temperature)
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

func TestRefusalsOfTheFormEnd(t *testing.T) {
	t.Parallel()
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries++
		http.Error(w, "response_format and max_tokens are bad", http.StatusBadRequest)
	}))
	defer server.Close()
	_, err := client(t, server.URL).Chat(t.Context(), question)
	require.ErrorContains(t, err, "answered 400")
	require.Equal(t, 3, tries, "the format is given up, the limit is not: nothing says that it is unknown")
}

func TestT37_AnswersThatAreNoneAreTypedErrorsAndCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer llmtest.Answer
		want   error
	}{
		"refusal":        {llmtest.Answer{Refusal: "no"}, ErrRefused},
		"content filter": {llmtest.Answer{Finish: "content_filter"}, ErrRefused},
		"cut off":        {llmtest.Answer{Text: `{"x":`, Finish: "length"}, ErrTruncated},
		"empty":          {llmtest.Answer{}, ErrEmpty},
		"blank":          {llmtest.Answer{Text: " \n"}, ErrEmpty},
		"no choices":     {llmtest.Answer{Raw: []byte(`{"choices":[]}`)}, ErrEmpty},
		"null as Gemini's": {llmtest.Answer{Raw: []byte(`{"choices":null,"object":"chat.completion","usage":` +
			`{"completion_tokens":0,"prompt_tokens":1396,"total_tokens":1396}}`)}, ErrEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t, llmtest.Always(c.answer))
			answer, err := client(t, server.URL).Chat(t.Context(), question)
			require.ErrorIs(t, err, c.want)
			require.EqualValues(t, 1, answer.Usage.Calls, "it is billed")
			require.Equal(t, c.answer.Finish == "length", answer.Text != "" && answer.Text != " \n")
		})
	}
}

func TestAnUnknownCertificateSaysWhereToNameItsAuthority(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err := client(t, server.URL).Chat(t.Context(), question)
	require.ErrorContains(t, problem.Of(err), "SSL_CERT_FILE")

	c := client(t, server.URL)
	c.http = &http.Client{Transport: refusing{&tls.CertificateVerificationError{Err: x509.HostnameError{
		Certificate: &x509.Certificate{}, Host: "h"}}}}
	_, err = c.Chat(t.Context(), question)
	require.ErrorContains(t, problem.Of(err), "base-url", "it is that of another server")
}

type refusing struct{ err error }

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestErrorsOfTheServerSayWhatWhereAndNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer llmtest.Answer
		status int
		says   string
		next   string
	}{
		"401": {llmtest.Answer{Status: 401, Text: "bad key sk-secret-value"}, 401, "bad key ***",
			"api-key"},
		"404": {llmtest.Answer{Status: 404, Text: "no model m"}, 404, "no model m", "base-url"},
		"402": {llmtest.Answer{Status: 402}, 402, "", "credit"},
		"429": {llmtest.Answer{Status: 429}, 429, "", "concurrency"},
		"500 in HTML": {llmtest.Answer{Status: 500, Raw: []byte("<html>\n::error::x")}, 500, "<html>",
			"again later"},
		"error within a 200": {llmtest.Answer{Raw: []byte(`{"error":{"message":"overloaded","code":503}}`)}, 503,
			"overloaded", "again later"},
		"error beside a choice": {llmtest.Answer{Raw: []byte(`{"choices":[{"finish_reason":"error","message":` +
			`{"content":""},"error":{"code":502,"message":"Provider disconnected"}}]}`)}, 502, "Provider disconnected",
			"again later"},
		"error as a text": {llmtest.Answer{Status: 400, Raw: []byte(`{"error":"bad"}`)}, 400, "bad", "model"},
		"redirect":        {llmtest.Answer{Status: 302, Raw: []byte("x")}, 302, "", "base-url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t, llmtest.Always(c.answer))
			_, err := client(t, server.URL).Chat(t.Context(), question)
			var e *StatusError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.status, e.Code)
			require.Equal(t, server.URL+"/chat/completions", e.URL)
			require.Contains(t, e.Message, c.says)
			require.NotContains(t, err.Error(), "secret")
			require.NotContains(t, err.Error(), "\n")
			require.Contains(t, e.Next(), c.next)
		})
	}
}

func TestEveryErrorSaysWhatToDoAboutItself(t *testing.T) {
	t.Parallel()
	for _, err := range []error{ErrRefused, ErrTruncated, ErrEmpty, ErrNotChat, ErrPage, ErrNoTools, ErrNoLimit} {
		require.Len(t, problem.Of(err).Rows, 1, "%v", err)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		next   string
	}{
		"an answer that is too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(make([]byte, maxAnswer+1))
		}, "use another model"},
		"a redirect elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example", http.StatusTemporaryRedirect)
		}, "name the address that it leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.answer)
			t.Cleanup(server.Close)
			_, err := client(t, server.URL).Chat(t.Context(), question)
			require.ErrorContains(t, problem.Of(err), c.next)
			require.NotContains(t, problem.Of(err).Error(), "see that a model's server answers")
		})
	}
}

func TestKeysAreTakenOutOfWhatComesBackAndAnswersStayWhole(t *testing.T) {
	t.Parallel()
	for key, kept := range map[string]bool{"k": true, "major": true, "test": true, "elevenchars": true,
		"twelve/chars": false} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			said := `{"x":"a ` + key + ` test of the major kind"}`
			server := llmtest.Start(t, llmtest.Each(llmtest.Answer{Text: said},
				llmtest.Answer{Status: 400, Raw: []byte(`{"error":{"message":"bad ` + strings.ReplaceAll(key, "/",
					`\/`) + ` key"}}`)},
				llmtest.Answer{Status: 400, Raw: []byte(strings.Repeat("x", 490) + key)}))
			chat, err := New(Options{BaseURL: server.URL, Key: key, Model: "m",
				HTTP: transport.New(transport.Options{Tries: 1})})
			require.NoError(t, err)
			answer, err := chat.Chat(t.Context(), question)
			require.NoError(t, err)
			shown := key
			if !kept {
				shown = "***"
			}
			require.Equal(t, strings.ReplaceAll(said, key, shown), answer.Text)
			require.Equal(t, "stop", answer.Finish, "the envelope is read before anything is taken out")
			_, err = chat.Chat(t.Context(), question)
			require.ErrorContains(t, err, "bad "+shown+" key")
			_, err = chat.Chat(t.Context(), question)
			require.Equal(t, kept, strings.Contains(err.Error(), "x"+key[:1]),
				"no part of it is left where the message is cut")
		})
	}
}

func TestT23_AnswerAboveTheLimitIsNotRead(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: strings.Repeat("x", 10<<20)}))
	_, err := client(t, server.URL).Chat(t.Context(), question)
	require.ErrorIs(t, err, transport.ErrTooLarge)
}

func TestWhatIsNoChatCompletionSaysSo(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"<html></html>", `"text"`, `{"choices":"none"}`, `{"choices":[{"message":7}]}`} {
		server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Raw: []byte(raw)}))
		_, err := client(t, server.URL).Chat(t.Context(), question)
		require.ErrorIs(t, err, ErrNotChat, raw)
	}
}

func TestDroppedConnectionNamesTheAddressWithoutTheKey(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Drop: true}))
	_, err := client(t, server.URL).Chat(t.Context(), question)
	require.Equal(t, 1, strings.Count(err.Error(), server.URL), err)
	require.NotContains(t, err.Error(), "secret")
}

func TestT31_SlowStreamEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := llmtest.Start(t, func(llmtest.Request) llmtest.Answer {
		cancel()
		return llmtest.Answer{Text: "{}", Drip: 5}
	})
	_, err := client(t, server.URL).Chat(ctx, question)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNewNamesTheInputThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"base-url: not": {BaseURL: "file:///etc/passwd", Model: "m"},
		"base-url: ":    {BaseURL: "https://user:secret@example.com/v1", Model: "m"},
		"query":         {BaseURL: "https://example.com/v1?key=secret", Model: "m"},
		"model:":        {Model: " "},
		"api-key:":      {Model: "m", Key: "secret\nX: y"},
	} {
		o.HTTP = http.DefaultClient
		_, err := New(o)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "secret")
	}
	c, err := New(Options{Model: "m", HTTP: http.DefaultClient})
	require.NoError(t, err)
	require.Equal(t, DefaultBaseURL, c.at.base)
}
