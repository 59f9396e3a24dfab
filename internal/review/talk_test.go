package review

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/transport"
)

// client asks a server, once for each question.
func client(t *testing.T, server *llmtest.Server) *llm.Client {
	t.Helper()
	chat, err := llm.New(llm.Options{BaseURL: server.URL, Model: "m", HTTP: transport.New(transport.Options{Tries: 1})})
	require.NoError(t, err)
	return chat
}

// full is a model with all its tasks: it labels, looks around, reviews and looks
// a second time.
func full(t *testing.T, script llmtest.Script, server ...func(*llmtest.Server)) (*Model, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(t, script, server...)
	chat := client(t, s)
	return NewModel(Options{
		Review: chat, Verify: chat, Classify: chat, Random: rand.Reader,
		Limits: agent.Limits{Turns: 4}, Tools: tool.NewSet(reader(new(atomic.Int64))),
	}), s
}

// reader is a tool whose answer is another one every time.
func reader(times *atomic.Int64) tool.Tool {
	type args struct {
		Path string `json:"path"`
	}
	return tool.New("read_file", "Reads a file.", func(_ context.Context, a args) (string, error) {
		return fmt.Sprintf("%s, read for the %d. time", a.Path, times.Add(1)), nil
	})
}

// asked are the requests with one question.
func asked(s *llmtest.Server, question string) (all []llmtest.Request) {
	for _, r := range s.Requests() {
		if r.Question == question {
			all = append(all, r)
		}
	}
	return all
}

// long is a change of so many hunks that are a part each, with a defect in each.
// Hunk n begins with line 1000n.
func long(hunks int) diff.File {
	var patch strings.Builder
	for n := 1; n <= hunks; n++ {
		fmt.Fprintf(&patch, "@@ -%d,0 +%d,41 @@\n+x() // DEFECT: x of %d leaks\n", n*1000-1, n*1000, n)
		for i := range 40 {
			fmt.Fprintf(&patch, "+%s // %d\n", strings.Repeat("y", 900), i)
		}
	}
	return diff.File{Path: "long.go", Status: diff.Modified, Patch: strings.TrimSuffix(patch.String(), "\n")}
}

// partOf is the part of a long change that a request is about, from 1.
func partOf(r llmtest.Request) int { return r.Lines[0].New / 1000 }

func titles(found []finding.Finding) (all []string) {
	for _, f := range found {
		all = append(all, f.Title)
	}
	return all
}

func tasks(calls []finding.Call) string {
	var all []string
	for _, c := range calls {
		name := c.Task
		if c.Part > 0 {
			name += fmt.Sprint(c.Part)
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// alone gives a model only its review.
func alone(m *Model) *Model {
	m.Verify, m.Classify = nil, nil
	return m
}
