package embed_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/embed"
	"github.com/org/pr-review-action/internal/embedtest"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/vector"
)

const secretKey = "sk-this-is-the-key-of-the-endpoint"

func client() *http.Client {
	return transport.New(transport.Options{Tries: 2, LimitTries: 2, Timeout: time.Minute,
		Retry: func(*http.Request) bool { return true },
		Sleep: func(context.Context, time.Duration) error { return nil }})
}

func options(s *embedtest.Server) embed.Options {
	return embed.Options{BaseURL: s.URL + "/v1", Key: secretKey, Model: "words-1", HTTP: client(), Dimensions: 64,
		Redact: func(text string) string { return text },
		Ask: func(ctx context.Context, _ string, _ cost.Usage,
			do func(context.Context) (embed.Answer, error)) (embed.Answer, error) {
			return do(ctx)
		}}
}

func embedder(t *testing.T, o embed.Options) *embed.Embedder {
	t.Helper()
	e, err := embed.NewEmbedder(o)
	require.NoError(t, err)
	return e
}

func reranker(t *testing.T, o embed.Options) *embed.Reranker {
	t.Helper()
	r, err := embed.NewReranker(o)
	require.NoError(t, err)
	return r
}

// texts are n different ones.
func texts(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("text of number %d with words%d", i, i)
	}
	return all
}

func TestVectorsComeInTheOrderOfTheTextsInBothStyles(t *testing.T) {
	t.Parallel()
	for _, style := range []string{embed.OpenAI, embed.Voyage} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			s := embedtest.Start(t, func(s *embedtest.Server) { s.Key = secretKey })
			o := options(s)
			o.Style = style
			e := embedder(t, o)
			vectors, err := e.Embed(t.Context(), texts(600), false)
			require.NoError(t, err)
			require.Len(t, vectors, 600)
			for i, text := range texts(600) {
				require.InDelta(t, 1, vector.Dot(vectors[i], embedtest.Vector(text, 64)), 1e-6, text)
			}
			require.Len(t, s.Calls(), 3)
			_, err = e.Embed(t.Context(), []string{"asked"}, true)
			require.NoError(t, err)
			calls := s.Calls()
			want := map[string][]string{embed.OpenAI: {"", ""}, embed.Voyage: {"document", "query"}}[style]
			require.Equal(t, want, []string{calls[0].InputType, calls[3].InputType})
		})
	}
}

func TestAnIndexOfZeroMayBeLeftOut(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t, func(s *embedtest.Server) {
		s.Fault = rows(func(all []map[string]any) []map[string]any { // as Gemini's compatible interface answers
			delete(all[len(all)-1], "index")
			return all
		})
	})
	vectors, err := embedder(t, options(s)).Embed(t.Context(), texts(3), false)
	require.NoError(t, err)
	require.InDelta(t, 1, vector.Dot(vectors[0], embedtest.Vector(texts(3)[0], 64)), 1e-6)
}

func TestTheModelsOwnDimensionsAreLearnedAndKeptTo(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t, func(s *embedtest.Server) { s.Dimensions = 48 })
	o := options(s)
	o.Dimensions = 0
	e := embedder(t, o)
	vectors, err := e.Embed(t.Context(), texts(2), false)
	require.NoError(t, err)
	require.Len(t, vectors[1], 48)
	s.Dimensions = 49
	_, err = e.Embed(t.Context(), texts(2), false)
	require.ErrorContains(t, err, "it gave 49 dimensions where 48 were expected")
	o.Dimensions = 32
	require.NotEqual(t, e.Identity(), embedder(t, o).Identity(), "another model is never mixed with this one")
}

func TestABatchThatIsRefusedIsHalvedAndTheSizeRemembered(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*embedtest.Server){
		"400 for its number of texts": func(s *embedtest.Server) { s.MaxInputs = 5 },
		"413 for its size":            func(s *embedtest.Server) { s.MaxBytes = 200 },
		"422, as Text Embeddings Inference does": func(s *embedtest.Server) {
			s.MaxInputs, s.Refusal = 5, http.StatusUnprocessableEntity
		},
		"500, as llama.cpp does": func(s *embedtest.Server) { s.MaxInputs, s.Refusal = 5, 500 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := embedtest.Start(t, limit)
			vectors, err := embedder(t, options(s)).Embed(t.Context(), texts(64), false)
			require.NoError(t, err)
			for i, text := range texts(64) {
				require.InDelta(t, 1, vector.Dot(vectors[i], embedtest.Vector(text, 64)), 1e-6, text)
			}
			require.Len(t, s.Texts(), 64, "each text is paid for once")
			require.LessOrEqual(t, len(s.Calls()), 31, "what is too large is not sent again as it was")
		})
	}
	s := embedtest.Start(t, func(s *embedtest.Server) { s.MaxInputs, s.MaxInputBytes = 2, 5_000 })
	e := embedder(t, options(s))
	_, err := e.Embed(t.Context(), []string{strings.Repeat("é", 8_000)}, false)
	require.NoError(t, err, "one text that is too long is cut")
	_, err = e.Embed(t.Context(), texts(8), false)
	require.NoError(t, err)
	before := len(s.Calls())
	_, err = e.Embed(t.Context(), texts(8), false)
	require.NoError(t, err)
	require.Len(t, s.Calls(), before+4, "what the server takes is learned once")
}

func TestVectorsThatCameBeforeAFailureAreNotLost(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t, func(s *embedtest.Server) { s.MaxInputBytes = 200 })
	vectors, err := embedder(t, options(s)).Embed(t.Context(), append(texts(3), strings.Repeat("é", 300)), false)
	require.Error(t, err)
	require.Len(t, s.Texts(), 3)
	require.Len(t, vectors, 4)
	for i, v := range vectors {
		require.Equal(t, i < 3, v != nil, "text %d", i)
	}
}

func TestT9_NoTextLeavesWithACredentialInIt(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	o := options(s)
	o.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	_, err := embedder(t, o).Embed(t.Context(), []string{"password hunter2"}, true)
	require.NoError(t, err)
	o.BaseURL, o.Style = s.URL, embed.Cohere
	_, err = reranker(t, o).Rerank(t.Context(), "where is hunter2", []string{"is it hunter2?", " "})
	require.NoError(t, err)
	for _, c := range s.Calls() {
		require.NotContains(t, c.Query+strings.Join(c.Texts, ""), "hunter2")
	}
	require.Equal(t, "-", s.Calls()[1].Texts[1], "an empty document is refused by servers")
}

func TestARerankerScoresEachDocumentInBothStyles(t *testing.T) {
	t.Parallel()
	documents := []string{"nothing of it", "close the pool of connections", "connections"}
	for style, path := range map[string]string{embed.Cohere: "/v2/rerank", embed.Voyage: "/v1/rerank"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			s := embedtest.Start(t, func(s *embedtest.Server) { s.Key = secretKey })
			for _, base := range []string{"", strings.TrimSuffix(path, "/rerank"), path} {
				o := options(s)
				o.BaseURL, o.Style = s.URL+base, style
				scores, err := reranker(t, o).Rerank(t.Context(), "close connections pool", documents)
				require.NoError(t, err)
				require.Greater(t, scores[1], scores[2])
				require.Greater(t, scores[2], scores[0])
			}
			for _, c := range s.Calls() {
				require.Equal(t, path, c.Path)
			}
		})
	}
}

// answering is a fault that answers in place of the server.
func answering(f http.HandlerFunc) *embedtest.Fault { return &embedtest.Fault{Answer: f} }

// rows is a fault of an answer's rows.
func rows(f func([]map[string]any) []map[string]any) *embedtest.Fault {
	return &embedtest.Fault{Rows: f}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// huge is an answer of 50 MB.
func huge(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"data":[{"index":0,"embedding":"`)
	part := bytes.Repeat([]byte("A"), 1<<20)
	for range 50 {
		_, _ = w.Write(part) // the client may have gone
	}
	fmt.Fprint(w, `"}]}`)
}

// The faults of the issue: whatever a server does, its leg is off with a name, once,
// and nothing of the key is told.
func TestT30_AServerThatFailsOrLiesIsLeftOffAndLearnsNoMore(t *testing.T) {
	t.Parallel()
	other := embedtest.Start(t)
	silent := answering(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, c := range []struct {
		name   string
		fault  *embedtest.Fault
		note   string
		calls  int
		rerank bool // the fault can be one of a reranker's too
	}{
		{"401", embedtest.Unauthorized, "it answered 401", 1, true},
		{"429", answering(status(http.StatusTooManyRequests)), "it answered 429", 2, true},
		{"500", answering(status(http.StatusInternalServerError)), "it answered 500", 2, true},
		{"time-out", silent, "it gave no complete answer in time", 2, true},
		{"another dimension", embedtest.WrongLength, "it gave 63 dimensions where 64 were expected", 1, false},
		{"not a number", embedtest.Vectors(func(v []float32) any { return make([]any, len(v)) }),
			"its answer is not of the form that is documented", 1, false},
		{"zeros", embedtest.Vectors(func(v []float32) any { return make([]float32, len(v)) }),
			"nothing but zeros", 1, false},
		{"fewer", rows(func(all []map[string]any) []map[string]any { return all[1:] }), "2 ", 1, true},
		{"repeated", rows(func(all []map[string]any) []map[string]any {
			return append(all[:len(all)-1], all[0])
		}), "t", 1, true},
		{"out of range", rows(func(all []map[string]any) []map[string]any {
			all[0]["index"] = len(all)
			return all
		}), "t", 1, true},
		{"50 MB", answering(huge), "its answer was too large", 1, true},
		{"elsewhere", answering(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}), "it redirects elsewhere", 1, true},
		{"no JSON", answering(text("upstream connect error")), "its answer was no JSON", 2, true},
		{"another shape", answering(text(`{"data":{"embedding":7},"results":7}`)),
			"not of the form that is documented", 1, true},
	} {
		for _, what := range []string{"embeddings", "rerank"} {
			if what == "rerank" && !c.rerank {
				continue
			}
			t.Run(what+" "+c.name, func(t *testing.T) {
				t.Parallel()
				s := embedtest.Start(t, func(s *embedtest.Server) { s.Fault = c.fault })
				var notes []string
				o := options(s)
				o.OnLost = func(e *embed.LostError) { notes = append(notes, e.Note()) }
				if c.fault == silent {
					o.HTTP = transport.New(transport.Options{Tries: 2, Timeout: 2 * time.Second,
						Retry: func(*http.Request) bool { return true }, Backoff: time.Millisecond})
				}
				var ask func() error
				if what == "rerank" {
					o.BaseURL = s.URL + "/v2"
					r := reranker(t, o)
					ask = func() error {
						_, err := r.Rerank(t.Context(), "words", texts(3))
						return err
					}
				} else {
					e := embedder(t, o)
					ask = func() error {
						_, err := e.Embed(t.Context(), texts(3), true)
						return err
					}
				}
				first, second := ask(), ask()
				for _, err := range []error{first, second} {
					var lost *embed.LostError
					require.ErrorAs(t, err, &lost)
					require.Equal(t, what, lost.What)
					require.NotContains(t, err.Error()+lost.Note(), secretKey)
				}
				require.Len(t, notes, 1)
				require.Contains(t, notes[0], what)
				require.Contains(t, notes[0], c.note)
				require.Len(t, s.Calls(), c.calls, "a second call asks nobody")
				require.Empty(t, other.Calls())
			})
		}
	}
}

func TestAnAddressOrAKeyThatCannotBeIsTheSettings(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]embed.Options{
		"embeddings.base-url: not an https address": {BaseURL: "http://example.com/v1", Model: "m"},
		"embeddings.model: no name given":           {BaseURL: "https://example.com"},
		"contains a space":                          {BaseURL: "https://example.com", Model: "m", Key: "a b"},
		`"cohere" is not one of openai, voyage`:     {BaseURL: "https://example.com", Model: "m", Style: "cohere"},
	} {
		_, err := embed.NewEmbedder(o)
		require.ErrorContains(t, err, want)
	}
	_, err := embed.NewReranker(embed.Options{BaseURL: "https://169.254.169.254/v2", Model: "m"})
	require.ErrorContains(t, err, "rerank.base-url: link-local")
}

func TestTheEndOfTimeOrMoneyIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	o := options(s)
	spent := true
	o.Ask = func(ctx context.Context, _ string, most cost.Usage,
		do func(context.Context) (embed.Answer, error)) (embed.Answer, error) {
		require.Positive(t, most.EmbeddingTokens)
		if spent {
			return embed.Answer{}, cost.ErrSpent
		}
		return do(ctx)
	}
	e := embedder(t, o)
	_, err := e.Embed(t.Context(), texts(1), true)
	require.ErrorIs(t, err, cost.ErrSpent)
	spent = false
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Embed(ended, texts(1), true)
	require.ErrorIs(t, err, context.Canceled)
	_, err = e.Embed(t.Context(), texts(1), true)
	require.NoError(t, err)
}
