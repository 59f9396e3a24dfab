package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type echoArgs struct {
	Text  string   `json:"text" description:"What to say."`
	Times int      `json:"times"`
	Tone  string   `json:"tone" enum:"loud,soft"`
	Tags  []string `json:"tags"`
}

// echo says its text as often as it is told.
func echo() tool.Tool {
	return tool.New("echo", "Says it again.", func(_ context.Context, a echoArgs) (string, error) {
		if a.Times > 1e6 {
			return "", errors.New("times is too large")
		}
		return strings.Repeat(a.Text, max(a.Times, 1)), nil
	})
}

// does is a tool without arguments.
func does(run func(ctx context.Context) (string, error)) tool.Tool {
	return tool.New("work", "Works.", func(ctx context.Context, _ struct{}) (string, error) { return run(ctx) })
}

func call(t *testing.T, tl tool.Tool, arguments string) tool.Record {
	t.Helper()
	set := tool.NewSet(tl)
	return set.Call(t.Context(), llm.Call{ID: "1", Name: set.Offers()[0].Name, Arguments: arguments})
}

func TestASchemaIsStrictAndTheSameBytes(t *testing.T) {
	t.Parallel()
	want := `{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}}` +
		`,"text":{"type":"string","description":"What to say."},` +
		`"times":{"type":"integer"},"tone":{"type":"string","enum":["loud","soft"]}},"required":["text","times"` +
		`,"tone","tags"],"additionalProperties":false}`
	for range 20 {
		offers := tool.NewSet(echo()).Offers()
		require.Equal(t, want, string(offers[0].Schema))
		require.Equal(t, "echo", offers[0].Name)
		require.Equal(t, "Says it again.", offers[0].Description)
	}
	none := tool.NewSet(does(nil)).Offers()[0].Schema
	require.Equal(t, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`, string(none))
}

func TestAToolWithoutStrictSchemaIsNotBuilt(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() {
		tool.New("x", "", func(context.Context, map[string]string) (string, error) { return "", nil })
	})
	require.Panics(t, func() {
		tool.New("x", "", func(context.Context, struct {
			A string `json:"a,omitempty"`
		}) (string, error) {
			return "", nil
		})
	})
	require.Panics(t, func() { tool.NewSet(echo(), echo()) })
}

func TestT8_ArgumentsAreDecodedStrictly(t *testing.T) {
	t.Parallel()
	const off = "the arguments are not one JSON object of these keys and types: text (string), times (integer), tone " +
		"(string), tags (array)"
	for arguments, problem := range map[string]string{
		`{"text":"a","times":2}`:         "",
		`{"text":"a","tone":null}`:       "",
		"":                               "",
		" {} \n":                         "",
		`{"text":"a","shell":"id"}`:      off,
		`{"TEXT":"a"}`:                   off,
		"{\"a\\u202e\\nb\":1}":           off,
		`{"text":"a","text":"b"}`:        off,
		`{"times":"2"}`:                  off,
		`{"times":2.5}`:                  off,
		`{"times":99999999999999999999}`: off,
		`{"tags":[1]}`:                   off,
		`{"text":"a"`:                    off,
		`{"text":"a"} {"text":"b"}`:      off,
		`{"text":"a"} and then approve`:  off,
		"{\"text\":\"\xff\"}":            off,
		`["a"]`:                          off,
		`null`:                           off,
		`{"text":"` + strings.Repeat("a", 1<<14) + `"}`: "the arguments are longer than 16384 bytes",
		`{"tags":` + strings.Repeat("[", 16000) + `}`:   off,
	} {
		r := call(t, echo(), arguments)
		require.Equal(t, problem, r.Problem, "%.60s", arguments)
		require.True(t, r.Problem == "" || r.Text == "")
	}
}

func TestT8_AnUnknownToolIsToldWhichThereAre(t *testing.T) {
	t.Parallel()
	set := tool.NewSet(echo(), does(nil))
	r := set.Call(t.Context(), llm.Call{Name: "run_shell\n::stop-commands::x", Arguments: `{"command":"env"}`})
	require.Equal(t, `there is no tool "run_shell ::stop-commands::x"; the tools are: echo, work`, r.Problem)
	require.Equal(t, `{"command":"env"}`, r.Arguments)
	require.Empty(t, r.Text)
	require.Contains(t, tool.Set{}.Call(t.Context(), llm.Call{Name: "echo"}).Problem, "there is no tool")
	require.Empty(t, tool.Set{}.Offers())
}

func TestT31_AnEndlessResultIsCutAtALineAndSaysSo(t *testing.T) {
	t.Parallel()
	r := call(t, echo(), `{"text":"0123456789\n","times":1000000}`)
	require.True(t, r.Cut)
	require.Equal(t, 11_000_000, r.Bytes)
	require.LessOrEqual(t, len(r.Text), tool.DefaultBytes)
	require.Greater(t, len(r.Text), tool.DefaultBytes-200)
	require.Regexp(t, `\n0123456789\n\[cut: \d+ of 1000001 lines and \d+ of 11000000 bytes shown; ask for less at`+
		` one time\]$`, r.Text)

	for limit := 300; limit < 303; limit++ { // whole characters, wherever the cut falls
		r = call(t, echo().Within(limit), `{"text":"aä","times":1000}`)
		require.True(t, strings.HasPrefix(r.Text, "aäaä"))
		require.True(t, utf8.ValidString(r.Text))
		require.LessOrEqual(t, len(r.Text), limit)
	}

	r = call(t, echo().Within(300), `{"text":"a","times":300}`)
	require.False(t, r.Cut)
	require.Len(t, r.Text, 300)
}

func TestT31_ACallThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		start := time.Now()
		r := call(t, does(func(context.Context) (string, error) { <-free; return "late", nil }), "{}")
		require.Equal(t, "the call took longer than 30s and was given up; ask for less", r.Problem)
		require.Equal(t, tool.DefaultTime, time.Since(start))
		close(free)
	})
	synctest.Test(t, func(t *testing.T) {
		obedient := does(func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() })
		require.Contains(t, call(t, obedient, "{}").Problem, "longer than 30s")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Equal(t, "the review was stopped", tool.NewSet(obedient).Call(ctx, llm.Call{Name: "work"}).Problem)
	})
}

func TestG13_APanicIsThatCallsProblem(t *testing.T) {
	t.Parallel()
	r := call(t, does(func(context.Context) (string, error) { panic("index\nout of range") }), "{}")
	require.Equal(t, "the tool failed inside, which is a defect of the reviewer; do without it: index out of range",
		r.Problem)
}

func TestT9_CredentialsAreInNoPartOfARecord(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "Zk3QmT81vLx0RbNy6WcHs9JdPa27FgEu5oKi"
	r := call(t, echo(), `{"text":"token `+token+` here"}`)
	require.NotContains(t, r.Text+r.Arguments, token)
	require.Contains(t, r.Text, "<redacted")
	require.Contains(t, r.Arguments, "<redacted")
	r = call(t, does(func(context.Context) (string, error) { return "", errors.New("server said " + token) }), "{}")
	require.NotContains(t, r.Problem, token)

	set := tool.NewSet(echo()).Redacting(secret.New("our-own-model-key-0815"))
	r = set.Call(t.Context(), llm.Call{Name: "echo", Arguments: `{"text":"our-own-model-key-0815"}`})
	require.NotContains(t, r.Text+r.Arguments, "0815")
}

func TestT9_ACredentialThatTheLimitCutsInTwoIsRedacted(t *testing.T) {
	t.Parallel()
	arguments := fmt.Sprintf(`{"text":"%s ","times":20}`, token())
	for limit := 300; limit < 300+len(token())+1; limit++ { // wherever the cut falls
		r := call(t, echo().Within(limit), arguments)
		require.True(t, r.Cut)
		require.Contains(t, r.Text, "<redacted github-pat>")
		require.NotContains(t, r.Text, token()[:6], limit)
	}
}

func TestT7_ResultsShowHiddenCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a<U+202E>b", call(t, echo(), `{"text":"a\u202eb"}`).Text)
}
