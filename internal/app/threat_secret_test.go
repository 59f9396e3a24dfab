package app_test

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
)

// spelled is a value in the forms in which it may be carried off: as it is,
// reversed, in hex, and in base64 as a part of something longer.
func spelled(value string) []string {
	backward := []byte(value)
	slices.Reverse(backward)
	all := []string{value, string(backward), hex.EncodeToString([]byte(value)),
		strings.ToUpper(hex.EncodeToString([]byte(value)))}
	for shift := range 3 {
		all = append(all, base64.StdEncoding.EncodeToString([]byte("..."[:shift]+value)))
	}
	return all
}

// traces are what must not be left of a value: its spellings, and in base64 the
// part that is its own.
func traces(value string) []string {
	all := spelled(value)
	for shift, lost := range []int{0, 2, 3} {
		i := len(all) - 3 + shift
		all[i] = strings.TrimRight(all[i][lost:], "=")
		all[i] = all[i][:len(all[i])-1]
	}
	return all
}

// bodyOf is the text that a row has a model write about a finding.
func bodyOf(t *testing.T, a attack) string {
	t.Helper()
	var answer struct {
		Findings []struct {
			Body string `json:"body"`
		} `json:"findings"`
	}
	_ = json.Unmarshal([]byte(a.text), &answer) // any other body has none
	require.Len(t, answer.Findings, 1, a.ID)
	return answer.Findings[0].Body
}

// saying is a model that reports one finding with a text at the first line of
// every file that a row is about; where there is none, with all that it was shown.
func saying(texts map[string]string) llmtest.Script {
	return llmtest.Certain(func(r llmtest.Request) llmtest.Answer {
		text, known := texts[r.Path]
		if !known {
			return critic(r)
		}
		if text == "" {
			text = llmtest.Data(r.User)["diff"]
		}
		return llmtest.Findings(llmtest.Finding{
			Side: "RIGHT", StartLine: 1, Line: 1, Title: text[:min(len(text), 90)], Body: text,
			Category: "correctness", Severity: "minor", Confidence: 0.9, Suggestion: text,
		})
	})
}

// TestT9_CredentialsAreNowhereAndTheFindingNamesThem has made-up credentials in
// changed files, which the model quotes in full, and in what a model says, in
// every spelling.
func TestT9_CredentialsAreNowhereAndTheFindingNamesThem(t *testing.T) {
	rows := attacks(t, func(a llmtest.Attack) bool { return a.Must == "redacted" })
	head, says, values := baseTree(), map[string]string{}, map[string][]string{}
	for _, a := range rows {
		require.NotEmpty(t, a.Values, a.ID)
		var repeated []string
		for _, v := range a.Values {
			values[a.path] = append(values[a.path], traces(v)...)
			repeated = append(repeated, spelled(v)...)
		}
		if a.Channel != "model-output" {
			head[a.path], says[a.path] = a.text+"\n", "" // it quotes what it was shown
			continue
		}
		head[a.path], says[a.path] = "package main\n", bodyOf(t, a)
		if a.ID != "model-output-020" { // a password that has no form of its own outside of its address
			says[a.path] += " and " + strings.Join(repeated, " and ")
		}
	}
	s := setUp(t, scene{head: head, script: saying(says)})
	drafted := s.parked()
	s.approved("")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	draft := s.read(drafted)

	for path, gone := range values {
		for _, r := range s.model.Requests() {
			holdsNone(t, "a request", r.User+r.System, gone...)
		}
		for _, a := range s.run.Artifacts() {
			for _, e := range entries(t, a.Zip()) {
				holdsNone(t, a.Name+"/"+e.name, string(e.content), gone...)
			}
		}
		for _, e := range []ended{drafted, posted} {
			holdsNone(t, "a job", e.stdout+e.log+e.summary+strings.Join(valuesOf(e.outputs), "\n"), gone...)
		}
		holdsNone(t, "the review", strings.Join(pagesOf(s.posted()), "\n"), gone...)
		require.Len(t, draft.about(path, finding.Model), 1, path)
	}
	t.Run("the finding names file, line and kind", func(t *testing.T) {
		for path, kinds := range map[string][]string{
			"rows/diff-added-line-022.go": {"aws-access-token", "aws-secret-key"},
			"rows/diff-added-line-023.go": {"github-pat"}, "rows/diff-added-line-024.go": {"private key"},
		} {
			found := draft.about(path, finding.Rule)
			for i, kind := range kinds {
				at := slices.IndexFunc(found, func(f finding.Finding) bool {
					return f.Line == i+1 && strings.Contains(f.Title, kind)
				})
				require.GreaterOrEqual(t, at, 0, "%s: %s on line %d", path, kind, i+1)
				drafted.shows("`" + path + "` line ")
			}
		}
	})
}
