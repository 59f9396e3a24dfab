package score

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGolden(t *testing.T) {
	placed := aboutSample()
	placed.Judge, placed.Agreement, placed.Reviewer, placed.Model = "", nil, Scripted, Scripted
	poor := aboutSample()
	poor.Agreement = &Agreement{26, 30}
	for name, got := range map[string]string{
		"report.md":          Summarize(sample(), aboutSample()).Markdown(),
		"report-scripted.md": Summarize(sample(), placed).Markdown(),
		"report-silent.md":   Summarize(silent(), About{Reviewer: "offline"}).Markdown(),
		"report-none.md":     Summarize(nil, About{Reviewer: "offline"}).Markdown(),
		"report-hostile.md": Summarize(hostile(), About{Reviewer: "model", Model: "`|</table>@team", Judge: "a|b",
			Fingerprints: map[string]string{"model": "|`x`\n# y"}}).Markdown(),
		"comparison.md":       changed().Markdown(),
		"comparison-equal.md": Compare(sample(), sample()).Markdown(),
	} {
		t.Run(name, func(t *testing.T) { compareGolden(t, name, got) })
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update once")
	require.Equal(t, string(want), got)
}

// silent is a run that posts nothing over 34 bugs and 2 clean cases.
func silent() (all []Result) {
	for i := range 36 {
		r := Result{ID: fmt.Sprintf("case-%02d", i), Language: "go", Kind: dataset.Clean, Outcome: "CLEAN"}
		if i < 34 {
			r.Kind, r.Golden = dataset.Bug, []Known{knownAt("a.go", finding.Major, dataset.Local, "data", "")}
		}
		Grade(&r)
		all = append(all, r)
	}
	return all
}

// hostile is a run whose texts try to get out of their cells.
func hostile() []Result {
	const attack = "`|</table>\n# @everyone [x](https://x.example) ##[error]::x::"
	r := Result{ID: "case-1", Language: attack, Kind: dataset.Bug, Outcome: "PAUSED",
		Golden: []Known{knownAt(attack, finding.Major, dataset.Local, attack, "")},
		Posted: []Posted{post(-1, finding.Major, attack)}, Lost: []Loss{{attack, attack, 1, 1, finding.Major, attack,
			false, attack}}, Moved: []Loss{{attack, attack, 1, 1, finding.Major, attack, false, attack}}}
	Grade(&r)
	all := []Result{r}
	for i := range 25 {
		all = append(all, Result{ID: fmt.Sprint("clean-", i), Language: fmt.Sprint("language-", i), Kind: dataset.Clean,
			Passed: true})
	}
	return all
}

func changed() Comparison {
	first, later := sample(), sample()
	first[3].Golden[0].Hit, later[1].Golden[0].Hit = "F1", "F1"
	later[4].Posted = append(later[4].Posted, post(-1, finding.Major, ""))
	for i := range first {
		Grade(&first[i])
		Grade(&later[i])
	}
	c := Compare(append(first, Result{ID: "gone"}), later)
	c.Differs = []string{"model", "prompt"}
	return c
}

func TestTablesHoldWhateverStandsInThem(t *testing.T) {
	t.Parallel()
	for _, page := range []string{Summarize(hostile(), aboutSample()).Markdown(),
		Summarize(sample(), aboutSample()).Markdown(), changed().Markdown()} {
		columns := 0
		for line := range strings.Lines(page) {
			bars := strings.Count(line, "|")
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			if columns == 0 {
				columns = bars
			}
			require.Equal(t, columns, bars, line)
		}
	}
}

func TestT13_TheReportHoldsNoWorkflowCommand(t *testing.T) {
	t.Parallel()
	about := aboutSample()
	about.Model = "##[error]x"
	for _, page := range []string{Summarize(hostile(), about).Markdown(), Compare(hostile(), nil).Markdown()} {
		require.NotContains(t, page, "##[")
		require.NotRegexp(t, `(?m)^\s*::`, page)
	}
}

func TestNoTimeIsInTheMarkdown(t *testing.T) {
	t.Parallel()
	fast, slow := aboutSample(), aboutSample()
	slow.Seconds, slow.Latency = 9_999, stats.Quantiles([]float64{77, 88})
	require.Equal(t, Summarize(sample(), fast).Markdown(), Summarize(sample(), slow).Markdown())
}

func TestTheReportSaysWhatItsFiguresAreNot(t *testing.T) {
	t.Parallel()
	text := Summarize(silent(), About{Reviewer: Scripted}).Markdown()
	require.Contains(t, text, "not recall to publish")
	require.Contains(t, text, "knows the answers")
	require.Contains(t, text, "passes the clean cases only")
	require.Contains(t, text, "… and 4 more")
	require.NotContains(t, Summarize(sample(), aboutSample()).Markdown(), "not recall to publish")
}
