package dataset_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

func sample() []dataset.Case {
	return []dataset.Case{
		{
			ID: "queue-7", Language: "go", Kind: dataset.Bug, Repo: "org/queue", Base: "b1", Head: "h1", PR: 7,
			Date:  "2024-02-03",
			Title: "Count <taken> jobs\u2028", Description: "as asked\x00", Diff: change, Licence: "MIT",
			SourceDataset: "own", Injection: true,
			Golden: []dataset.Golden{
				{Path: "queue.go", LineStart: 11, LineEnd: 12, Severity: finding.Blocker, Visibility: dataset.Local,
					Category: "data", Issue: "It panics.", Source: "f1",
					Also: []dataset.Place{{Path: "queue.go", LineStart: 13, LineEnd: 14}}},
				{Path: "queue.go", LineStart: 14, LineEnd: 14, Severity: finding.Nit, Visibility: dataset.Context,
					Issue: "It miscounts."},
			},
		},
		{ID: "queue-8", Language: "go", Kind: dataset.Clean, Title: "t", Diff: change},
	}
}

func encoded(t testing.TB, cases []dataset.Case) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, dataset.Encode(&out, cases))
	return out.String()
}

func TestCasesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	want := append(sample(), starter...)
	text := encoded(t, want)
	got, err := dataset.Read(write(t, filepath.Join(t.TempDir(), "cases.jsonl"), text))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, text, encoded(t, got))
	require.Equal(t, dataset.Fingerprint(want), dataset.Fingerprint(got))
}

func TestCasesAreWrittenInTheWordsOfTheFormat(t *testing.T) {
	t.Parallel()
	cases := sample()
	text := encoded(t, cases)
	require.Contains(t, text, `"severity":"critical"`)
	require.NotContains(t, text, "blocker")
	require.Contains(t, text, `"golden":[]`)
	require.Contains(t, text, "Count <taken> jobs")
	require.Equal(t, finding.Blocker, cases[0].Golden[0].Severity, "the case itself stays")
	bad := dataset.Case{ID: "latin", Diff: "caf\xe9"}
	require.ErrorContains(t, dataset.Encode(&bytes.Buffer{}, []dataset.Case{bad}), "writing case latin")
}

func TestTheFingerprintIsOverWhatIsReviewedAndScored(t *testing.T) {
	t.Parallel()
	first := dataset.Fingerprint(sample())
	require.Regexp(t, "^[0-9a-f]{64}$", first)
	for name, edit := range map[string]func(*dataset.Case){
		"repo": func(c *dataset.Case) {
			c.Repo = ""
		}, "base": func(c *dataset.Case) { c.Base = "" }, "head": func(c *dataset.Case) { c.Head = "" },
		"pr": func(c *dataset.Case) {
			c.PR = 0
		}, "date": func(c *dataset.Case) { c.Date = "" }, "licence": func(c *dataset.Case) { c.Licence = "" },
		"source_dataset": func(c *dataset.Case) {
			c.SourceDataset = ""
		}, "source": func(c *dataset.Case) { c.Golden[0].Source = "" },
	} {
		cases := sample()
		edit(&cases[0])
		require.Equal(t, first, dataset.Fingerprint(cases), name)
	}
	seen := map[string]string{first: "none"}
	for name, edit := range map[string]func(*dataset.Case){
		"id": func(c *dataset.Case) {
			c.ID = "x"
		}, "language": func(c *dataset.Case) { c.Language = "x" }, "kind": func(c *dataset.Case) { c.Kind = "" },
		"title": func(c *dataset.Case) {
			c.Title = ""
		}, "description": func(c *dataset.Case) {
			c.Description = ""
		}, "diff": func(c *dataset.Case) { c.Diff += "\n" },
		"border":   func(c *dataset.Case) { c.Title, c.Description = "a,0:b", "c" },
		"border 2": func(c *dataset.Case) { c.Title, c.Description = "a", "0:b,c" },
		"border 3": func(c *dataset.Case) { c.Title, c.Description = "a,b", "c" },
		"border 4": func(c *dataset.Case) { c.Title, c.Description = "a", "b,c" },
		"injection": func(c *dataset.Case) {
			c.Injection = false
		}, "no golden": func(c *dataset.Case) { c.Golden = nil },
		"order": func(c *dataset.Case) { slices.Reverse(c.Golden) },
		"path":  func(c *dataset.Case) { c.Golden[0].Path = "x" },
		"start": func(c *dataset.Case) { c.Golden[0].LineStart-- },
		"end":   func(c *dataset.Case) { c.Golden[0].LineEnd++ },
		"severity": func(c *dataset.Case) {
			c.Golden[0].Severity = finding.Minor
		}, "visibility": func(c *dataset.Case) { c.Golden[0].Visibility = "" },
		"category": func(c *dataset.Case) {
			c.Golden[0].Category = ""
		}, "issue": func(c *dataset.Case) { c.Golden[0].Issue = "" },
		"also": func(c *dataset.Case) {
			c.Golden[0].Also[0].LineEnd++
		}, "no also": func(c *dataset.Case) { c.Golden[0].Also = nil },
	} {
		cases := sample()
		edit(&cases[0])
		print := dataset.Fingerprint(cases)
		require.NotContains(t, seen, print, "%s and %s", name, seen[print])
		seen[print] = name
	}
	cases := sample()
	slices.Reverse(cases)
	require.NotContains(t, seen, dataset.Fingerprint(cases))
}

func TestTheSharedCasesAreReadWithoutAProblem(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "..", "shared", "evals", "cases.jsonl")
	if _, err := os.Stat(file); err != nil {
		t.Skip("left out: the shared cases are not beside this checkout")
	}
	cases, err := dataset.Read(file)
	require.NoError(t, err)
	require.Len(t, cases, 93)
	for _, c := range cases {
		_, err := c.Change()
		require.NoError(t, err)
	}
	again, err := dataset.Read(write(t, filepath.Join(t.TempDir(), "cases.jsonl"), encoded(t, cases)))
	require.NoError(t, err)
	require.Equal(t, cases, again)
}
