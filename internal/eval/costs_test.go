package eval_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// What is made up in the table of costs; the prompts and the tools' results are real.
const (
	bytesPerToken = 4
	atOnce        = 8    // files: as many first calls find no prefix in the cache
	leastCached   = 1024 // tokens of a prefix that is cached
)

// scriptedModel looks around so many times about each file, then tells a case's known
// defects, and stands by them. It counts what a provider would bill.
type scriptedModel struct {
	looks  int
	golden []dataset.Golden
	first  int            // opening calls so far
	known  map[string]int // what of a conversation is in the cache, in tokens, by its first turn
	plain  cost.Usage     // nothing is cached
	cached cost.Usage
	calls  []int // about each file, and about the change as a whole

	path string // of the file that is asked about
	told int    // findings in the last answer
}

var costCases = flag.String("cases", "", "a file of cases whose costs are printed, instead of the starter set")

func (m *scriptedModel) Identity() string { return "scripted" }

func (m *scriptedModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	text, looked := m.say(r)
	front, rest := len(r.System)+len(r.Schema), len(r.User)
	for _, t := range r.Tools {
		front += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, t := range r.Turns {
		rest += len(t.Text)
		for _, c := range t.ToolCalls {
			rest += len(c.Name) + len(c.Arguments)
		}
	}
	u := cost.Usage{Calls: 1, InputTokens: int64((front + rest) / bytesPerToken),
		OutputTokens: int64(len(text) / bytesPerToken)}
	m.plain = cost.Add(m.plain, u)
	u.CachedTokens, u.CacheWriteTokens = m.split(r, front/bytesPerToken, (front+rest)/bytesPerToken)
	m.cached = cost.Add(m.cached, u)
	if looked {
		return llm.Answer{ToolCalls: []llm.Call{{ID: fmt.Sprint(len(r.Turns)), Name: "read_file", Arguments: text}}},
			nil
	}
	return llm.Answer{Text: text}, nil
}

// split is what of a request is read from the cache and written to it, by the marks that
// llm sets: behind the system turn with the tools, and behind the last turn where there are tools.
func (m *scriptedModel) split(r llm.Request, front, all int) (read, written int64) {
	key := r.SchemaName + "\x00" + r.User
	if len(r.Turns) == 0 {
		if m.first++; m.first > atOnce {
			key = r.SchemaName
		}
	}
	before, until := m.known[key], front
	if len(r.Tools) > 0 {
		until = all
	}
	if until < leastCached {
		return 0, 0
	}
	m.known[r.SchemaName] = front
	m.known[r.SchemaName+"\x00"+r.User] = until
	return int64(before), int64(until - before)
}

// say is an answer, or the arguments of a look.
func (m *scriptedModel) say(r llm.Request) (text string, looked bool) {
	if r.SchemaName == prompt.SchemaName && len(r.Turns) < 2*m.looks {
		return fmt.Sprintf(`{"path":"look%d.go","side":"head","start_line":1,"end_line":150}`, len(r.Turns)/2), true
	}
	m.calls[len(m.calls)-1] += len(r.Turns)/2 + 1
	switch r.SchemaName {
	case prompt.Verifying().SchemaName:
		var said []string
		for i := range m.told {
			said = append(said, fmt.Sprintf(`{"id":%q,"holds":true,"reason":"A script says so."}`, prompt.ClaimID(i)))
		}
		return `{"verdicts":[` + strings.Join(said, ",") + `]}`, false
	case prompt.Whole{}.Overviewing().SchemaName:
		return `{"overview":"` + strings.Repeat("x", 400) + `","findings":[]}`, false
	}
	var found []llmtest.Finding
	for _, g := range m.golden {
		if g.Path == m.path {
			found = append(found, llmtest.Finding{Side: "RIGHT", StartLine: g.LineStart, Line: g.LineStart,
				Title: g.Issue,
				Body:  g.Issue, Category: "correctness", Severity: "major", Confidence: 0.9})
		}
	}
	m.told = len(found)
	return llmtest.Findings(found...).Text, false
}

// reviewed asks about the files that triage leaves, one after the other, and about the
// change as a whole; each look shows the same text.
func reviewed(t *testing.T, change ingest.Change, golden []dataset.Golden, looks int, shown string) *scriptedModel {
	t.Helper()
	text := map[string]string{}
	for i := range looks {
		text[fmt.Sprintf("look%d.go", i)] = shown
	}
	files := tree.Files(text)
	m := &scriptedModel{looks: looks, golden: golden, known: map[string]int{}}
	reviewer := review.NewModel(review.Options{Review: m, Verify: m, Limits: agent.Limits{Turns: 6},
		Random: rand.Reader,
		Tools:  tool.NewSet(tool.ReadFile(files, nil), tool.SearchCode(files, nil), tool.FindReferences(files))})
	if looks == 0 {
		reviewer.Limits.Turns = 1
	}
	whole := review.Whole{Files: change.Files}
	for _, f := range change.Files {
		if f.Patch == "" || f.Status == diff.Removed {
			continue
		}
		m.path, m.calls = f.Path, append(m.calls, 0)
		r, err := reviewer.Review(t.Context(), f)
		require.NoError(t, err)
		require.Contains(t, []finding.State{finding.Reviewed, finding.Skipped}, r.State, r.Reason)
		whole.Reviews, whole.Found = append(whole.Reviews, r), append(whole.Found, r.Findings...)
	}
	m.calls = append(m.calls, 0)
	_, err := reviewer.Overview(t.Context(), whole)
	require.NoError(t, err)
	return m
}

// answers is how many answers a run waits for, one behind the other, with so many files
// at one time: the whole change comes last.
func (m *scriptedModel) answers() int {
	lanes := make([]int, atOnce)
	for _, n := range m.calls[:len(m.calls)-1] {
		next := slices.Index(lanes, slices.Min(lanes))
		lanes[next] += n
	}
	return slices.Max(lanes) + m.calls[len(m.calls)-1]
}

// figures are mean, median and 95th percentile.
func figures(list []float64) [3]float64 {
	slices.Sort(list)
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	at := func(share float64) float64 { return list[int(math.Ceil(share*float64(len(list))))-1] }
	return [3]float64{sum / float64(len(list)), at(0.5), at(0.95)}
}

// TestCachingMakesLookingAroundAffordable prints, with -v, the table of costs in
// .github/MODELS.md: the prompts are real, model and tokens (bytes by four) are not.
func TestCachingMakesLookingAroundAffordable(t *testing.T) {
	names := []string{dataset.StarterName}
	if *costCases != "" {
		names = []string{*costCases}
	}
	cases, err := dataset.Read(names...)
	require.NoError(t, err)
	models := []string{"gpt-6.2-sol", "gpt-6.1-terra", "gpt-6-luna"}
	for _, looks := range []int{0, 1, 3} {
		plain, cached := map[string][]float64{}, map[string][]float64{}
		waits := []float64{}
		for _, c := range cases {
			change, err := c.Change()
			require.NoError(t, err)
			m := reviewed(t, change, c.Golden, looks,
				strings.Repeat("\tif err := step(ctx, name, value); err != nil {\n", 150))
			waits = append(waits, float64(m.answers()))
			for _, name := range models {
				p, ok := cost.PriceOf(name)
				require.True(t, ok)
				plain[name] = append(plain[name], float64(p.Of(m.plain))/1e6)
				cached[name] = append(cached[name], float64(p.Of(m.cached))/1e6)
			}
		}
		for _, name := range models {
			p, q := figures(plain[name]), figures(cached[name])
			t.Logf("| %s | %d | $%.3f, $%.3f, $%.3f | $%.3f, $%.3f, $%.3f |", name, looks, p[0], p[1], p[2], q[0], q[1],
				q[2])
			if looks == 3 {
				require.Less(t, q[0], 0.8*p[0], "looking around is paid for once")
			}
		}
		w := figures(waits)
		for _, seconds := range []float64{1, 2.5, 5} {
			t.Logf("%d looks, %.1f s an answer: %.1f s, %.1f s, %.1f s", looks, seconds, w[0]*seconds, w[1]*seconds,
				w[2]*seconds)
		}
	}
}

func TestTwentyFiveFilesWithThreeLooksStayBelowHalfADollar(t *testing.T) {
	t.Parallel()
	change, patch, text := ingest.Change{}, "", ""
	for i := range 25 {
		patch, text = "@@ -0,0 +1,60 @@", ""
		for line := range 60 {
			patch += fmt.Sprintf("\n+\tv += v * %d", line+i)
			text += fmt.Sprintf("\tv += v * %d\n", line+i)
		}
		change.Files = append(change.Files, diff.File{Path: fmt.Sprintf("f%03d.go", i), Status: diff.Added,
			Additions: 60,
			Patch:     patch})
	}
	m := reviewed(t, change, nil, 3, text)
	p, ok := cost.PriceOf("gpt-6.2-sol")
	require.True(t, ok)
	t.Logf("%d calls, $%.2f, cached $%.2f", m.plain.Calls, float64(p.Of(m.plain))/1e6, float64(p.Of(m.cached))/1e6)
	require.Equal(t, 101, int(m.plain.Calls))
	require.Less(t, p.Of(m.cached), cost.MicroUSD(500_000))
}
