package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/secret"
)

func redactor(values ...string) *secret.Redactor { return secret.New(values...) }

// token has the form of a credential, and is put together at run time.
func token() string { return "gh" + "p_" + strings.Repeat("aB3dE6gH9j", 3) + "KlMnOp" }

func TestT9_ACredentialInAnAnswerIsNeitherKeptNorFound(t *testing.T) {
	t.Parallel()
	const own = ofThisJob
	escaped := strings.ReplaceAll(token(), "g", `\u0067`)
	for name, c := range map[string]struct {
		text  string
		known *secret.Redactor
	}{
		"by its form": {token(), nil}, "by its value": {own, redactor(own)},
		"in a spelling of JSON": {escaped, redactor()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := `{"line":41,"severity":"major","title":"T TEXT","body":"B TEXT","category":"C TEXT"` +
				`,"suggestion":"S TEXT","quote":"Q TEXT","confidence":1}`
			m, _ := model(t, answers(`{"findings":[`+strings.ReplaceAll(found, "TEXT", c.text)+`]}`))
			m.Redact = c.known
			j := &journal{kept: map[string]Recorded{}}
			m.Once = j.once
			got, err := m.Review(t.Context(), file)
			require.NoError(t, err)
			require.Len(t, got.Findings, 1)
			f := got.Findings[0]
			for _, text := range []string{f.Title, f.Body, f.Category, f.Suggestion, f.Quote} {
				require.Contains(t, text, "<redacted ")
				require.NotContains(t, text, token())
				require.NotContains(t, text, own)
			}
			require.Empty(t, f.Filtered, "what was taken out of a quote cannot be looked for")
			for _, r := range j.kept {
				require.NotContains(t, r.Text, token())
				require.NotContains(t, r.Text, own)
			}
		})
	}
}

func TestT9_ACredentialInACallIsNeitherKeptNorSent(t *testing.T) {
	t.Parallel()
	m, _ := full(t, nil)
	var seen []llm.Request
	m.Options.Review = chatter(func(r llm.Request) (llm.Answer, error) {
		if seen = append(seen, r); len(seen) == 1 {
			return llm.Answer{Text: "I look at " + ofThisJob, ToolCalls: []llm.Call{{ID: "1", Name: "read_file",
				Arguments: `{"path":"` + ofThisJob + " " + token() + `"}`}}}, nil
		}
		return llm.Answer{Text: clean}, nil
	})
	m.Redact = redactor(ofThisJob)
	j := &journal{kept: map[string]Recorded{}}
	m.Once = j.once
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, got.Calls[0].Tools, 1)
	require.Len(t, j.kept, 3)
	for _, all := range []any{j.kept, seen[1].Turns, got} {
		written, err := json.Marshal(all)
		require.NoError(t, err)
		require.NotContains(t, string(written), ofThisJob)
		require.NotContains(t, string(written), token())
	}
	require.Contains(t, seen[1].Turns[0].Text, "I look at <redacted ")
	require.Contains(t, got.Calls[0].Tools[0].Arguments, "<redacted ")
}

func TestT9_AQuoteOfARedactedLineStandsOnThatLine(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1,0 +1,3 @@\n+a := 1\n+key := \"<redacted github-pat>\"\n+b := 2")
	found, moved := q.check([]finding.Finding{{Side: finding.Right, StartLine: 1, Line: 1,
		Quote: `key := "<redacted github-pat>"`}})
	require.Equal(t, 2, found[0].Line)
	require.Equal(t, 1, moved)
}
