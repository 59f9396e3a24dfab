package app_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

var update = flag.Bool("update", false, "write the golden files anew")

// trouble is a row of the fault table: what happens to the questions about one of
// three files.
type trouble struct {
	name  string
	fault llmtest.Fault
	brief bool // the run has half a minute; the fault would continue for longer
	slow  bool // takes a minute, or races nothing: run with -update alone
}

func troubles() []trouble {
	f := llmtest.Faults()
	return []trouble{
		{name: "429 that names a time", fault: llmtest.Failing(http.StatusTooManyRequests, "Retry-After-Ms: 50")},
		{name: "429 that names no time", fault: llmtest.Failing(http.StatusTooManyRequests), slow: true},
		{name: "500", fault: llmtest.Failing(http.StatusInternalServerError)},
		{name: "502 with a web page", fault: llmtest.Page(http.StatusBadGateway)},
		{name: "200 with a web page", fault: llmtest.Page(http.StatusOK)},
		{name: "connection reset", fault: f["reset"]},
		{name: "stall within the answer", fault: f["stall"], brief: true},
		{name: "truncated JSON", fault: f["truncated-json"]},
		{name: "wrong types", fault: f["wrong-types"]},
		{name: "no choices", fault: f["no-choices"]},
		{name: "empty answer", fault: f["empty"]},
		{name: "refusal", fault: f["refusal"]},
		{name: "content filter, answer", fault: f["content-filter"]},
		{name: "content filter, question", fault: f["input-filter"]},
		{name: "length stop", fault: f["length"]},
		{name: "tool call with bad arguments", fault: f["bad-arguments"]},
		{name: "unknown tool", fault: f["unknown-tool"]},
		{name: "endless tool calls", fault: f["endless-calls"]},
		{name: "answer of 10 MB", fault: f["huge"]},
		{name: "answer without usage", fault: f["no-usage"]},
	}
}

// threeFiles have a defect each.
func threeFiles() map[string]string {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files[name+".go"] = "package p\n\nvar " + name + " = 1 // DEFECT: " + name + " is never read\n"
	}
	return files
}

// met is what a fault did to a run.
type met struct {
	spoken
	about int // requests that the server had about b.go
}

// meet reviews three files; the first questions for a review of b.go, or all of
// them, run into the fault.
func meet(t *testing.T, dir string, tr trouble, always bool) met {
	script := llmtest.Faulty(llmtest.Honest, tr.fault)
	if always {
		script = llmtest.Constantly(tr.fault, llmtest.Honest)
	}
	price, ok := cost.PriceOf(pricedModel)
	require.True(t, ok)
	model := llmtest.Start(t, llmtest.PerFile(map[string]llmtest.Script{"b.go": script}, llmtest.Honest),
		func(s *llmtest.Server) {
			s.Price = &price
		})
	s := shell{t: t, dir: dir, model: model.URL}
	args := []string{"--model", pricedModel, "--store", t.TempDir()}
	if tr.brief { // a clock that is slow leaves less of the time
		s.environ = []string{"NOW=" + time.Now().Add(-30*time.Second).UTC().Format(time.RFC3339)}
		args = append(args, "--max-time", "1m")
	}
	m := met{spoken: s.review(args...)}
	m.Usage.Cost -= model.WholeBill().Cost // the table is about files
	for _, r := range model.Requests() {
		if r.Path == "b.go" {
			m.about++
		}
	}
	for _, path := range []string{"a.go", "c.go"} {
		state, reason := m.file(path)
		require.Equal(t, "reviewed", state, "%s: a file that fails costs that file alone: %s", tr.name, reason)
	}
	require.Empty(t, model.Refusals())
	return m
}

// TestP6_FaultTable has one file of three run into a fault, and writes down what
// that came to: testdata/fault-table.md, shown in .github/MODELS.md.
func TestP6_FaultTable(t *testing.T) {
	t.Parallel()
	dir := clone(t, map[string]string{"README": "read me\n"}, threeFiles())
	sound := meet(t, dir, trouble{name: "none", fault: func(_ llmtest.Request, a llmtest.Answer) llmtest.Answer {
		return a
	}}, false)
	require.Zero(t, sound.Code, sound.Stderr)
	rest := sound.Usage.Cost / 3 * 2 // the prompts are of one size
	list := troubles()
	some := testvolume.Some(list, 5)
	for i, tr := range list {
		same := func(other trouble) bool { return other.name == tr.name }
		list[i].slow = tr.slow || !slices.ContainsFunc(some, same)
	}
	rows := make([][2]string, len(list))
	var group errgroup.Group
	group.SetLimit(10) // processes at one time
	for i, tr := range list {
		for j, always := range []bool{false, true} {
			if tr.slow && !*update || tr.brief && !always {
				continue // a stall that ends is an answer that takes its time
			}
			group.Go(func() error { rows[i][j] = meet(t, dir, tr, always).cell(rest); return nil })
		}
	}
	require.NoError(t, group.Wait())
	var b strings.Builder
	b.WriteString("| what happens to the questions about one file | once | every time |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| nothing | %s | |\n", sound.cell(rest))
	for i, tr := range list {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", tr.name, rows[i][0], rows[i][1])
	}
	golden(t, filepath.Join("testdata", "fault-table.md"), b.String(), list)
}

// cell says what the server and the reader of the draft saw of b.go.
func (m met) cell(rest cost.MicroUSD) string {
	state, reason := m.file("b.go")
	asked := strings.TrimSuffix(fmt.Sprintf("%d requests", m.about), "s")
	if m.about != 1 {
		asked += "s"
	}
	seen := []string{fmt.Sprintf("%s, $%.3f", asked, float64(m.Usage.Cost-rest)/1e6),
		strings.TrimSuffix(state+": "+reason, ": ")}
	if m.Code != 0 {
		seen = append(seen, fmt.Sprintf("exit %d", m.Code))
	}
	return strings.Join(seen, "; ")
}

// golden holds a table against its file. Rows that were not run are left out.
func golden(t *testing.T, path, got string, list []trouble) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
	require.Len(t, have, len(want))
	for i, line := range have {
		if row := i - 3; row >= 0 && row < len(list) && list[row].slow && !*update {
			continue
		}
		require.Equal(t, want[i], line)
	}
}
