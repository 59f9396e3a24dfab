package app_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// payTicket is an issue as Jira gives it, with a criterion in its description.
const payTicket = `{"key": "PAY-101", "fields": {"summary": "SUMMARYWORD", "issuetype": {"name": "Story"},
  "description": "h2. Acceptance criteria\n* CRITERIONWORD one\n* CRITERIONWORD two\n"}}`

// T28, T30: a job reads the ticket that the title names, with the credentials of its
// environment, from the address that the base's settings name and no other; what leaves it
// is what context.show allows.
func TestT28_AJobHoldsAChangeAgainstItsTicket(t *testing.T) {
	for show, allowed := range map[string]bool{"key": false, "criteria": true} {
		t.Run(show, func(t *testing.T) {
			asked := make(chan *http.Request, 20)
			jira := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r
				if strings.Contains(r.URL.Path, "remotelink") {
					_, _ = w.Write([]byte("[]"))
					return
				}
				_, _ = w.Write([]byte(payTicket))
			}))
			t.Cleanup(jira.Close)
			base := baseTree().With(githubtest.Tree{".github/pr-review.yml": "context:\n  show: " + show +
				"\n  projects: [PAY]\n  sources:\n    - jira: " + jira.URL + "\n      token-env: JIRA_TOKEN\n"})
			head := headTree().With(githubtest.Tree{".github/pr-review.yml": base[".github/pr-review.yml"]})
			s := setUp(t, scene{title: "PAY-101 Move money", base: base, head: head})
			s.model.Whole = func(r llmtest.Request) llmtest.Answer {
				file := llmtest.WholeFiles(r)[0]
				n := file.Lines[len(file.Lines)-1].New
				return llmtest.Seen(r, "It moves money.", nil, []finding.Criterion{
					{N: 1, Verdict: "met", Evidence: []finding.Lines{{Path: file.Path, StartLine: n, EndLine: n}}},
					{N: 2, Verdict: "met"}}, nil)
			}
			e := s.draftJob().set("JIRA_TOKEN", "secret-jira-token").start().is(0, "PAUSED")
			require.NotEmpty(t, asked)
			require.Equal(t, "Bearer secret-jira-token", (<-asked).Header.Get("Authorization"))
			for _, text := range []string{"### What was asked", "PAY-101", "evidence at `", "cannot tell",
				"It moves money."} {
				require.Contains(t, e.summary, text)
			}
			state := s.stateOf(e)
			require.Equal(t, finding.Met, state.Whole.Criteria[0].Verdict)
			require.Equal(t, finding.Unknown, state.Whole.Criteria[1].Verdict)
			o := s.opened(e)
			for _, word := range []string{"SUMMARYWORD", "CRITERIONWORD"} {
				require.Equal(t, allowed, strings.Contains(string(o.Snapshot)+e.summary, word), word)
			}
			require.NotContains(t, string(o.Snapshot)+e.summary+e.log, "secret-jira-token")
		})
	}
}

// T28: a trace that was asked to hold what models are asked and answer holds of a ticket
// what context.show allows.
func TestT28_ATraceHoldsOfATicketWhatShowAllows(t *testing.T) {
	for show, allowed := range map[string]bool{"key": false, "criteria": true} {
		t.Run(show, func(t *testing.T) {
			jira := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(payTicket))
			}))
			t.Cleanup(jira.Close)
			base := baseTree().With(githubtest.Tree{".github/pr-review.yml": "context:\n  show: " + show +
				"\n  projects: [PAY]\n  sources:\n    - jira: " + jira.URL + "\n      token-env: JIRA_TOKEN\n"})
			head := headTree().With(githubtest.Tree{".github/pr-review.yml": base[".github/pr-review.yml"]})
			s := setUp(t, scene{title: "PAY-101 Move money", base: base, head: head})
			s.model.Whole = func(r llmtest.Request) llmtest.Answer {
				heard := "nothing"
				if strings.Contains(r.User, "CRITERIONWORD") {
					heard = "CRITERIONWORD and ANSWERWORD"
				}
				return llmtest.Seen(r, heard, nil, []finding.Criterion{{N: 1, Verdict: "met", Evidence: []finding.Lines{
					{Path: heard, StartLine: 1, EndLine: 1}}}}, nil)
			}
			file := filepath.Join(t.TempDir(), "trace.jsonl")
			s.cli(map[string]string{"JIRA_TOKEN": "secret-jira-token",
				"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
				"review", "octo/demo#42", "--no-input", "--trace", file).ends(0)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			trace := string(data)
			require.Contains(t, trace, "gen_ai.input.messages")
			require.Contains(t, trace, "Move money", "what the look at the whole change was asked")
			require.Contains(t, trace, "fetch_jira_context", "a span of its own")
			for _, word := range []string{"SUMMARYWORD", "CRITERIONWORD", "ANSWERWORD"} {
				require.Equal(t, allowed, strings.Contains(trace, word), word)
			}
			require.NotContains(t, trace, "secret-jira-token")
		})
	}
}

// Who configures no tracker is never told of tickets; what a tracker does not give is one
// line, and the review continues.
func TestAContextThatIsMissingIsNamedAndBlocksNothing(t *testing.T) {
	for name, tc := range map[string]struct{ settings, title, line string }{
		"no tracker": {"", "PAY-101 Move money", ""},
		"no key": {"context:\n  projects: [PAY]\n  sources:\n    - jira: http://127.0.0.1:9\n      token-env: " +
			"JIRA_TOKEN\n",
			"Move money",
			"Without ticket: no ticket key in title, branch or description"},
		"not there": {"context:\n  projects: [PAY]\n  sources:\n    - jira: http://127.0.0.1:9\n      token-env: " +
			"JIRA_TOKEN\n",
			"PAY-101 Move money", "Without ticket: "},
	} {
		t.Run(name, func(t *testing.T) {
			base := baseTree().With(githubtest.Tree{".github/pr-review.yml": tc.settings})
			head := headTree().With(githubtest.Tree{".github/pr-review.yml": tc.settings})
			s := setUp(t, scene{title: tc.title, base: base, head: head})
			e := s.draftJob().set("JIRA_TOKEN", "secret-jira-token").start().is(0, "PAUSED")
			require.Equal(t, tc.line != "", strings.Contains(e.summary, "Without ticket"))
			require.Contains(t, e.summary, tc.line)
		})
	}
}
