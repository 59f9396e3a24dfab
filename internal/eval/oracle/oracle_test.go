package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/prompt"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// changed shows the lines 10 to 14 and 40 to 42 of a file; 11 to 13 and 41 were added.
var changed = diff.File{
	Path: "a.go", Status: diff.Modified, Additions: 4, Deletions: 1,
	Patch: "@@ -10,2 +10,5 @@\n ten\n+eleven\n+twelve <b>\r\n+thirteen\n fourteen\n@@ -37,3 +40,3 @@ func\n " +
		"forty\n-old\n+forty-one\n forty-two",
}

func at(path string, start, end int) dataset.Golden {
	return dataset.Golden{Path: path, LineStart: start, LineEnd: end, Severity: finding.Major,
		Issue: "The count is off by one for an empty list."}
}

func read(t testing.TB, answer string) []claim {
	t.Helper()
	var all struct {
		Findings []claim `json:"findings"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &all))
	require.NotNil(t, all.Findings, answer)
	return all.Findings
}

func TestAnAnswerHasExactlyTheKeysOfTheSchema(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties struct {
			Findings struct {
				Items struct{ Required []string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(prompt.Reviewing(false).Schema, &schema))
	want := slices.Sorted(slices.Values(schema.Properties.Findings.Items.Required))
	require.Len(t, want, 10)

	var answer map[string][]map[string]any
	text := Answer(Options{Recall: 1, Noise: 20}, "c", []dataset.Golden{at("a.go", 11, 12)}, changed)
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.Equal(t, []string{"findings"}, slices.Collect(maps.Keys(answer)))
	require.Greater(t, len(answer["findings"]), 5)
	for _, f := range answer["findings"] {
		require.Equal(t, want, slices.Sorted(maps.Keys(f)))
	}
}

func TestAKnownDefectIsReportedAsItIs(t *testing.T) {
	t.Parallel()
	g := at("a.go", 11, 12)
	g.Category, g.Severity = "security", finding.Blocker
	text := Answer(Options{Recall: 1, Seed: 7}, "c", []dataset.Golden{at("b.go", 11, 11), g}, changed)
	require.Contains(t, text, "<b>", "as it is in the file")
	require.NotContains(t, text, "\n")
	got := read(t, text)
	require.Len(t, got, 1, "and the other file's defect is not")
	require.GreaterOrEqual(t, got[0].Confidence, 0.6)
	require.Less(t, got[0].Confidence, 1.0)
	got[0].Confidence = 0
	require.Equal(t, claim{
		Side: finding.Right, StartLine: 11, Line: 12, Quote: "twelve <b>",
		Title: "The count is off by one for an empty list",
		Body:  g.Issue, Category: "security", Severity: finding.Blocker,
	}, got[0])

	plain := read(t, Answer(Options{Recall: 1}, "c", []dataset.Golden{at("a.go", 11, 11)}, changed))
	require.Equal(t, "other", plain[0].Category)
}

func TestADefectIsReportedOnLinesOfOneHunk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ start, end, from, to int }{
		"inside a hunk":      {11, 13, 11, 13},
		"a whole hunk":       {10, 14, 10, 14},
		"on unchanged lines": {42, 42, 42, 42},
		"over a hunk's end":  {13, 20, 13, 14},
		"before and in it":   {30, 40, 40, 40},
		"over two hunks":     {14, 41, 14, 14},
		"before the diff":    {1, 3, 10, 10},
		"nearer to the end":  {15, 20, 14, 14},
		"nearer to the next": {30, 39, 40, 40},
		"behind the diff":    {50, 60, 42, 42},
	} {
		got := read(t, Answer(Options{Recall: 1}, "c", []dataset.Golden{at("a.go", c.start, c.end)}, changed))
		require.Len(t, got, 1, name)
		require.Equal(t, []int{c.from, c.to}, []int{got[0].StartLine, got[0].Line}, name)
		require.NotEmpty(t, got[0].Quote, name)
	}
}

func TestAFileWithoutLinesOfTheNewSideHasNoFindings(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no patch":         "",
		"broken":           "@@ -1,9 +1,9 @@\n one",
		"only lines gone":  "@@ -1,2 +0,0 @@\n-a\n-b",
		"not a patch":      "hello",
		"a line that went": "@@ -4 +3,0 @@\n-a",
	} {
		f := diff.File{Path: "a.go", Patch: text}
		require.Equal(t, `{"findings":[]}`, Answer(Options{Recall: 1, Noise: 20}, "c",
			[]dataset.Golden{at("a.go", 1, 2)}, f), name)
	}
}

func TestNoRecallAndNoNoiseAreNoFindings(t *testing.T) {
	t.Parallel()
	known := []dataset.Golden{at("a.go", 11, 11)}
	for _, o := range []Options{{}, {Recall: -1, Noise: -1}, {Recall: math.NaN(), Noise: math.NaN()}} {
		require.Equal(t, `{"findings":[]}`, Answer(o, "c", known, changed))
	}
	require.Len(t, read(t, Answer(Options{Recall: 9}, "c", known, changed)), 1)
}

// TestRecallIsAShareOfTheDefects allows four standard deviations.
func TestRecallIsAShareOfTheDefects(t *testing.T) {
	t.Parallel()
	const cases = 2000
	for _, recall := range []float64{0.1, 0.5, 0.9} {
		found := 0
		for i := range cases {
			found += len(read(t, Answer(Options{Recall: recall}, fmt.Sprint(i), []dataset.Golden{at("a.go", 11, 11)},
				changed)))
		}
		require.InDelta(t, recall, float64(found)/cases, 4*math.Sqrt(recall*(1-recall)/cases))
	}
}

func TestAHigherRecallOnlyAdds(t *testing.T) {
	t.Parallel()
	var known []dataset.Golden
	for i := range 60 {
		known = append(known, at("a.go", 11, 11))
		known[i].Issue = fmt.Sprintf("Defect %d.", i)
	}
	before := read(t, Answer(Options{}, "c", known, changed))
	for tenths := 1; tenths <= 10; tenths++ {
		found := read(t, Answer(Options{Recall: float64(tenths) / 10}, "c", known, changed))
		require.Subset(t, found, before)
		require.GreaterOrEqual(t, len(found), len(before))
		before = found
	}
	require.Len(t, before, 60)
	half := read(t, Answer(Options{Recall: 0.5}, "c", known, changed))
	require.InDelta(t, 30, len(half), 16, "each is drawn by itself")
	noisy := read(t, Answer(Options{Recall: 0.5, Noise: 3}, "c", known, changed))
	require.Equal(t, half, noisy[:len(half)], "noise comes behind and changes none")
	require.NotEqual(t, half, read(t, Answer(Options{Recall: 0.5, Seed: 1}, "c", known, changed)))
	require.NotEqual(t, half, read(t, Answer(Options{Recall: 0.5}, "d", known, changed)))
}

// TestAnswersStayTheSame holds one answer that was written down, so that a run can
// be repeated with another version of Go.
func TestAnswersStayTheSame(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"findings":[{"side":"RIGHT","start_line":10,"line":10,"quote":"ten","title":"The count is off`+
		` by one for an empty list",`+
		`"body":"The count is off by one for an empty list.","category":"other","severity":"major","confidence":0.86`+
		`,"suggestion":""},`+
		`{"side":"RIGHT","start_line":42,"line":42,"quote":"forty-two","title":"A booked seat is sold again",`+
		`"body":"Two buyers that pay in the same second get the same seat.","category":"concurrency"`+
		`,"severity":"nit","confidence":0.63,"suggestion":""}]}`,
		Answer(Options{Recall: 1, Noise: 1, Seed: 6}, "c", []dataset.Golden{at("a.go", 1, 1)}, changed))
}

func TestATitleIsAShortSentence(t *testing.T) {
	t.Parallel()
	for issue, want := range map[string]string{
		"The lock is not held.":                      "The lock is not held",
		"A read past the end. It happens for n = 0.": "A read past the end",
		" two\n lines ":                              "two lines",
		"a version such as 1.2.3":                    "a version such as 1.2.3",
		strings.Repeat("éight be ", 40): strings.TrimSpace(strings.Repeat("éight be ",
			11)),
		strings.Repeat("x", 150): strings.Repeat("x", 100),
		strings.Repeat("x", 50) + " " + strings.Repeat("y", 49) + " z": strings.Repeat("x", 50) + " " +
			strings.Repeat("y", 49),
		strings.Repeat("x", 100) + " y":   strings.Repeat("x", 100),
		strings.Repeat("x", 98) + ", yes": strings.Repeat("x", 98),
	} {
		require.Equal(t, want, title(issue))
		require.LessOrEqual(t, utf8.RuneCountInString(title(issue)), maxTitle)
	}
}
