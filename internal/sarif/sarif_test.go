package sarif_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/sarif"
	"github.com/org/pr-review-action/internal/testvolume"
)

// written is what a reader of the file takes from it.
type written struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Version        string
				InformationURI string
				Rules          []struct {
					ID, HelpURI          string
					DefaultConfiguration struct{ Level string }
					Properties           map[string]any
				}
			}
		}
		AutomationDetails struct{ ID string }
		Results           []result
	}
}

type result struct {
	RuleID    string
	RuleIndex int
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           *struct {
				StartLine, EndLine int
				Snippet            *struct{ Text string }
			}
		}
	}
	PartialFingerprints map[string]string
	Properties          map[string]any
}

var schemas = sync.OnceValues(func() (all []*jsonschema.Schema, err error) {
	for _, path := range []string{"testdata/subset.schema.json"} {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		s, err := c.Compile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
})

// encode writes a run, holds it against the schemas and reads it.
func encode(t *testing.T, r sarif.Run) (w written, left int) {
	t.Helper()
	file, left, err := sarif.Encode(r)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	require.NoError(t, err)
	all, err := schemas()
	require.NoError(t, err)
	for _, s := range all {
		require.NoError(t, s.Validate(value))
	}
	require.NoError(t, json.Unmarshal(file, &w))
	require.Len(t, w.Runs, 1)
	return w, left
}

func one(change func(*finding.Finding)) finding.Finding {
	f := finding.Finding{ID: "F1", Path: "a.go", Side: finding.Right, StartLine: 3, Line: 4, Severity: finding.Major,
		Category:   "bug",
		Confidence: 0.5, Title: "The error is dropped", Body: "Because of `f()`.", Fingerprint: "0123456789abcdef",
		Source: finding.Model}
	if change != nil {
		change(&f)
	}
	return f
}

func TestTheFileHoldsWhatTheDecisionKept(t *testing.T) {
	t.Parallel()
	w, left := encode(t, sarif.Run{Version: "v1.2.3", Page: "https://github.com/org/pr-review-action", Instance: "docs",
		Head: "ab12", Findings: []finding.Finding{
			one(nil), one(func(f *finding.Finding) {
				f.Severity, f.Category, f.StartLine = finding.Nit, "Security: 100 %", 4
			}),
			one(func(f *finding.Finding) {
				f.Severity, f.Category, f.Source = finding.Blocker, "security", finding.Rule
			}),
		}})
	require.Zero(t, left)
	run := w.Runs[0]
	require.Equal(t, []string{"v1.2.3", "https://github.com/org/pr-review-action", "pr-review/docs/ab12"},
		[]string{run.Tool.Driver.Version, run.Tool.Driver.InformationURI, run.AutomationDetails.ID})
	ids := []string{}
	for _, r := range run.Tool.Driver.Rules {
		ids = append(ids, r.ID)
		require.Equal(t, "warning", r.DefaultConfiguration.Level)
		require.Equal(t, "https://github.com/org/pr-review-action/blob/v1/.github/DECIDING.md#categories", r.HelpURI)
		severity := map[string]any{"security": "9.5"}[r.ID]
		require.Equal(t, severity, r.Properties["security-severity"], r.ID)
	}
	require.Equal(t, []string{"bug", "security", "security-100"}, ids)
	var got []string
	for i, r := range run.Results {
		require.Equal(t, ids[r.RuleIndex], r.RuleID)
		require.Equal(t, fmt.Sprintf("0123456789abcdef:%d", i+1), r.PartialFingerprints["primaryLocationLineHash"],
			"those with equal words are told apart")
		require.Equal(t, "0123456789abcdef", r.PartialFingerprints["prReview/v1"])
		require.Equal(t, "The error is dropped.\n\nBecause of `f()`.", r.Message.Text)
		at := r.Locations[0].PhysicalLocation.Region
		got = append(got, fmt.Sprint(r.RuleID, " ", r.Level, " ", at.StartLine, "-", at.EndLine, " ", r.Properties))
	}
	require.Equal(t, []string{
		"security error 3-4 map[confidence:0.5 severity:blocker source:rule]",
		"bug error 3-4 map[confidence:0.5 severity:major source:model]",
		"security-100 note 4-4 map[confidence:0.5 severity:nit source:model]",
	}, got)
}

func TestAFileWithoutFindingsIsWhole(t *testing.T) {
	t.Parallel()
	w, left := encode(t, sarif.Run{})
	require.Zero(t, left)
	require.NotNil(t, w.Runs[0].Results)
	require.Equal(t, "pr-review/", w.Runs[0].AutomationDetails.ID)
}

func TestPlacesAreAddressesWithinTheRepository(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*finding.Finding)
		uri    string
		region bool
	}{
		"plain": {func(f *finding.Finding) { f.Path = "a-b/c_d.e~f" }, "a-b/c_d.e~f", true},
		"odd": {func(f *finding.Finding) {
			f.Path = "a b/ü%2F#?[x].go"
		}, "a%20b/%C3%BC%252F%23%3F%5Bx%5D.go", true},
		"scheme": {func(f *finding.Finding) {
			f.Path = "javascript:alert(1)"
		}, "javascript%3Aalert%281%29", true},
		"host":          {func(f *finding.Finding) { f.Path = "//evil.example/x" }, "%2F/evil.example/x", true},
		"broken UTF-8":  {func(f *finding.Finding) { f.Path = "a\xff\u202e\n" }, "a%FF%E2%80%AE%0A", true},
		"old side":      {func(f *finding.Finding) { f.Side = finding.Left }, "a.go", false},
		"whole file":    {func(f *finding.Finding) { f.Line, f.StartLine = 0, 0 }, "a.go", false},
		"no file":       {func(f *finding.Finding) { f.Path = "" }, "pull-request", false},
		"lying start":   {func(f *finding.Finding) { f.StartLine = 9 }, "a.go", true},
		"lying numbers": {func(f *finding.Finding) { f.Confidence, f.StartLine = math.NaN(), -1 }, "a.go", true},
		"no words":      {func(f *finding.Finding) { f.Title, f.Body, f.Category = "", " ", "\u202e" }, "a.go", true},
	} {
		w, _ := encode(t, sarif.Run{Findings: []finding.Finding{one(tc.change)}})
		at := w.Runs[0].Results[0].Locations[0].PhysicalLocation
		require.Equal(t, tc.uri, at.ArtifactLocation.URI, name)
		require.Equal(t, tc.region, at.Region != nil, name)
	}
}

func TestP11_EqualRunsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 200 {
		all = append(all, one(func(f *finding.Finding) { f.Category, f.Line = fmt.Sprint("c", i%37), i+3 }))
	}
	first, _, err := sarif.Encode(sarif.Run{Findings: all})
	require.NoError(t, err)
	for range 5 {
		again, _, err := sarif.Encode(sarif.Run{Findings: slices.Clone(all)})
		require.NoError(t, err)
		require.True(t, bytes.Equal(first, again))
	}
}

func TestMoreThanCodeScanningTakesIsCounted(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	many := slices.Repeat([]finding.Finding{{Title: "t", Severity: finding.Nit}}, sarif.MaxResults+3)
	many[len(many)-1].Severity = finding.Blocker
	file, left, err := sarif.Encode(sarif.Run{Findings: many})
	require.NoError(t, err)
	require.Equal(t, 3, left)
	var w written
	require.NoError(t, json.Unmarshal(file, &w))
	require.Len(t, w.Runs[0].Results, sarif.MaxResults)
	require.Equal(t, "blocker", w.Runs[0].Results[0].Properties["severity"], "the gravest are kept")

	long := slices.Repeat([]finding.Finding{one(func(f *finding.Finding) {
		f.Body = strings.Repeat("\u202e", 3_000)
	})}, 2_000)
	file, left, err = sarif.Encode(sarif.Run{Findings: long})
	require.NoError(t, err)
	require.Less(t, len(file), 10<<20)
	require.Positive(t, left)
	require.Contains(t, string(file), "Cut here: 1000 more characters.")
}

func TestHonestCodeStaysReadable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"`a[i] = m[\"k\"](x)` and {{.Name}}":  "`a[i] = m[\"k\"](x)` and {{.Name}}",
		"```go\nif a < b { f(\"{0}\") }\n```": "```go\nif a < b { f(\"{{0}}\") }\n```",
	} {
		w, _ := encode(t, sarif.Run{Findings: []finding.Finding{one(func(f *finding.Finding) { f.Body = body })}})
		require.Equal(t, "The error is dropped.\n\n"+want, w.Runs[0].Results[0].Message.Text)
	}
}

func TestT10_T11_T12_HostileTextIsInertInSARIF(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"See ![c](https://collect.example/c.png?d=1)", "[x][r]\n\n[r]: https://collect.example",
		"<img src=//collect.example>", "see [here](1) or [there](sarif:/runs/0)",
		"@org/team closes #12, GH-12", "/merge", "https://collect.example/x", "<!-- pr-review:v1 -->",
		"a\u202eb\x1b[31m",
	}
	for _, payload := range append(hostile, answers(t)...) {
		w, _ := encode(t, sarif.Run{Version: "v1", Findings: []finding.Finding{
			one(func(f *finding.Finding) {
				f.Title, f.Body, f.Category = strings.ReplaceAll(payload, "\n", " "), payload, payload
			}),
		}})
		message := w.Runs[0].Results[0].Message.Text
		require.Empty(t, live(message), message)
		require.NotRegexp(t, "[\\x00-\\x08\\x0b-\\x1f\u202e\u200b]", message)
		require.Regexp(t, "^[a-z0-9-]+$", w.Runs[0].Results[0].RuleID)
	}
}

// answers are the hostile answers of models among the known attacks.
func answers(t *testing.T) (payloads []string) {
	t.Helper()
	for _, row := range llmtest.Attacks(t) {
		var answer struct {
			Findings []struct{ Title, Body string }
		}
		if row.Channel == "model-output" && json.Unmarshal([]byte(row.Payload), &answer) == nil {
			for _, f := range answer.Findings {
				payloads = append(payloads, f.Title+f.Body)
			}
		}
	}
	require.NotEmpty(t, payloads)
	return payloads
}

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))

// live lists what a viewer that reads the message as Markdown would act on.
func live(message string) (found []string) {
	root := parser.Parser().Parse(text.NewReader([]byte(message)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock:
			found = append(found, n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return found
}

func TestAResultOnOneLineShowsTheLineAndACredentialItsScore(t *testing.T) {
	t.Parallel()
	w, _ := encode(t, sarif.Run{Findings: []finding.Finding{one(func(f *finding.Finding) {
		f.StartLine, f.Quote, f.Category, f.Severity = f.Line, "\tkey := \"<redacted AWS key>\"\x1b", "secret",
			finding.Major
	})}})
	require.Equal(t, "key := \"<redacted AWS key>\"<U+001B>",
		w.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.Snippet.Text)
	require.Equal(t, "8.0", w.Runs[0].Tool.Driver.Rules[0].Properties["security-severity"])
}
