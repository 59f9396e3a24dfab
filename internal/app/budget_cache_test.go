package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// cacheMeter sits in front of a server that caches, and adds up what of the system
// turns and tools it was sent came from the cache, in tokens.
type cacheMeter struct {
	*llmtest.Server
	mu               sync.Mutex
	constant, cached int
}

// ServeHTTP passes on, and reads both ways.
func (m *cacheMeter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	m.Server.ServeHTTP(answer, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
	var asked struct {
		Messages []struct{ Content any }
		Tools    []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	var said struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if json.Unmarshal(body, &asked) != nil || json.Unmarshal(answer.Body.Bytes(), &said) != nil ||
		len(asked.Messages) == 0 {
		return
	}
	content := asked.Messages[0].Content
	if parts, ok := content.([]any); ok {
		content = parts[0].(map[string]any)["text"]
	}
	size := len(content.(string))
	for _, t := range asked.Tools {
		size += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.constant += size / 4
	m.cached += min(said.Usage.Details.Cached, size/4)
}

// looking reads a file in every turn but the last one, another each time.
func looking(turns int) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer {
		done := 0
		for _, t := range r.Turns {
			if t.Role == "tool" {
				done++
			}
		}
		if done >= turns-1 || len(r.Tools) == 0 {
			return llmtest.Findings()
		}
		calls := llmtest.Look(r)
		calls[0].Arguments = strings.Replace(calls[0].Arguments, r.Path, fmt.Sprintf("f%03d.go", done), 1)
		return llmtest.Answer{Calls: calls}
	}
}

// longFiles are files of sixty lines.
func longFiles(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "package p\n\nfunc step%d(v int) int {\n", i)
		for line := range 60 {
			fmt.Fprintf(&b, "\tv += v * %d\n", line+i)
		}
		files[fmt.Sprintf("f%03d.go", i)] = b.String() + "\treturn v\n}\n"
	}
	return files
}

// TestP9_ACacheOfPrefixesServesTheConstantTokens prints, with -v and PR_REVIEW_VOLUME=full, the
// figures that .github/MODELS.md quotes: 8 files at one time, so that the first eight requests find
// nothing in the cache.
func TestP9_ACacheOfPrefixesServesTheConstantTokens(t *testing.T) {
	t.Parallel()
	const newModel = "gpt-6-luna" // at OpenAI's own host it has marks by default
	marks := map[string]string{pricedModel: "auto", newModel: "on"}
	runs := []struct {
		model               string
		files, turns, least int
	}{{newModel, 8, 4, 60}, {pricedModel, 30, 4, 80}, {newModel, 30, 1, 60}, {pricedModel, 8, 4, 60},
		{pricedModel, 100, 1, 80}, {pricedModel, 100, 4, 80}, {newModel, 100, 1, 80}, {newModel, 100, 4, 80}}
	for _, run := range testvolume.Some(runs[:testvolume.Of(len(runs), 3)], 1) {
		price, ok := cost.PriceOf(run.model)
		require.True(t, ok)
		m := &cacheMeter{Server: llmtest.New(looking(run.turns))}
		m.Price, m.Caches, m.Delay = &price, true, 50*time.Millisecond
		web := httptest.NewServer(m)
		s := shell{t: t, dir: clone(t, nil, longFiles(run.files)), model: web.URL + "/v1"}
		r := s.review("--model", run.model, "--store", t.TempDir(), "--max-cost", "10", "--defaults",
			"model-options: { cache-marks: "+marks[run.model]+" }")
		web.Close()
		require.Zero(t, r.Code, r.Stderr)
		require.Equal(t, run.files*run.turns, m.Calls(), "%s", r.Stderr)
		share := 100 * m.cached / m.constant
		bill := m.Bill()
		require.Equal(t, bill.Cost, r.Usage.Cost, "the draft knows what was cached")
		full := price.Of(cost.Usage{InputTokens: bill.InputTokens})
		input := price.Of(cost.Usage{InputTokens: bill.InputTokens, CachedTokens: bill.CachedTokens,
			CacheWriteTokens: bill.CacheWriteTokens})
		t.Logf("| %s | %d | %d | %d %% | %d %% | $%.4f | $%.4f | %d %% |", run.model, run.files, run.turns, share,
			100*bill.CachedTokens/bill.InputTokens,
			float64(full)/1e6, float64(input)/1e6, 100*input/full)
		require.GreaterOrEqual(t, share, run.least)
	}
}
