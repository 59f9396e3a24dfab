package linter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/linter"
)

func read(t testing.TB, name, text string) (*linter.Reader, error) {
	t.Helper()
	r := linter.NewReader(changed(t), "by ci.yml of this change")
	return r, r.Read(name, []byte(text))
}

// result is a SARIF log with one result.
func result(path string, line int, message, more string) string {
	return fmt.Sprintf(`{"runs":[{"tool":{"driver":{"name":"t"}},"results":[{"ruleId":"r","message":{"text":%s},`+
		`"locations":[{"physicalLocation":{"artifactLocation":{"uri":%s},"region":{"startLine":%d%s}}}]}]}]}`,
		quoted(message), quoted(path), line, more)
}

func quoted(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

func TestT40_AResultCountsOnlyForAChangedFileAndAnAddedLine(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"web/cart.js":   "web/cart.js",
		"./web/cart.js": "web/cart.js",
		"/home/runner/work/shop/shop/web/cart.js":   "web/cart.js",
		"file:///home/runner/work/shop/web/cart.js": "web/cart.js",
		"file:///D:/a/shop/web/cart.js":             "web/cart.js",
		`D:\a\shop\web\cart.js`:                     "web/cart.js",
		"../../shop/web/cart.js":                    "web/cart.js",
		"web/../web/cart.js":                        "web/cart.js",
		"web/sub/../cart.js":                        "web/cart.js",
		"web%2Fcart.js":                             "web/cart.js",
		"cart.js":                                   "",
		"xweb/cart.js":                              "",
		"../../../etc/passwd":                       "",
		"web/cart.js/../../.git/config":             "",
		"":                                          "",
		strings.Repeat("a/", 5000) + "web/cart.js":  "",
	} {
		r, err := read(t, "x.sarif", result(path, 3, "m", ""))
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, r.Findings, path)
			continue
		}
		require.Len(t, r.Findings, 1, path)
		require.Equal(t, want, r.Findings[0].Path)
	}
	for _, line := range []int{-1, 0, 10, 1 << 40} {
		r, err := read(t, "x.sarif", result("web/cart.js", line, "m", `,"endLine":9223372036854775807`))
		require.NoError(t, err)
		require.Empty(t, r.Findings, line)
	}
}

func TestLinesAreHeldAgainstTheHead(t *testing.T) {
	t.Parallel()
	files := []diff.File{{Path: "a.go", Status: diff.Modified, Additions: 2,
		Patch: "@@ -10,4 +10,6 @@\n one()\n+two()\n three()\n four()\n+two(2)\n five()\n"}}
	for name, c := range map[string]struct {
		line, end int
		snippet   string
		want      int
	}{
		"an added line":               {line: 11, want: 11},
		"an unchanged line":           {line: 12},
		"a line outside of the diff":  {line: 40},
		"a range with an added line":  {line: 12, end: 14, want: 14},
		"a range that is too long":    {line: 12, end: 4000, want: 14},
		"the text is there":           {line: 11, snippet: "\ttwo()\n", want: 11},
		"of a merge, moved back":      {line: 31, snippet: "two(2)", want: 14},
		"of a merge, not in the diff": {line: 11, snippet: "six()"},
		"two lines read so":           {line: 31, snippet: "two("},
		"what stands there is hidden": {line: 11, snippet: "REDACTED", want: 11},
		"moved to an unchanged line":  {line: 11, snippet: "three()"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := linter.NewReader(files, "")
			require.NoError(t, r.Read("x.sarif", []byte(result("a.go", c.line, "m",
				fmt.Sprintf(`,"endLine":%d,"snippet":{"text":%q}`, max(c.line, c.end), c.snippet)))))
			if c.want == 0 {
				require.Empty(t, r.Findings)
				require.Equal(t, linter.Left{Elsewhere: 1}, r.Left)
				return
			}
			require.Len(t, r.Findings, 1)
			require.Equal(t, c.want, r.Findings[0].Line)
		})
	}
}

func TestT40_NoLinterMakesABlockerOrASuggestion(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]finding.Severity{
		"error": finding.Major, "warning": finding.Minor, "note": finding.Nit, "none": finding.Nit,
		"blocker": finding.Minor,
	} {
		r, err := read(t, "x.sarif", `{"runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r","properties":`+
			`{"security-severity":"1.0"}}]}},"results":[{"ruleId":"r","level":"`+level+`","message":{"text":"m"},`+
			`"fixes":[{"artifactChanges":[]}],"locations":[{"physicalLocation":{"artifactLocation":`+
			`{"uri":"web/cart.js"},"region":{"startLine":1}}}]}]}]}`)
		require.NoError(t, err)
		require.Equal(t, want, r.Findings[0].Severity, level)
		require.Empty(t, r.Findings[0].Suggestion)
	}
	for score, want := range map[string]finding.Severity{
		`"10.0"`: finding.Major, `9.9`: finding.Major, `"5.0"`: finding.Minor, `"x"`: finding.Nit,
		`"1e999"`: finding.Nit,
	} {
		r, err := read(t, "x.sarif", `{"runs":[{"results":[{"ruleId":"r","level":"note","message":{"text":"m"}`+
			`,"locations":`+
			`[{"physicalLocation":{"artifactLocation":{"uri":"web/cart.js"},"region":{"startLine":1}}}]}]`+
			`,"tool":{"driver":`+
			`{"rules":[{"id":"r","properties":{"security-severity":`+score+`}}]}}}]}`)
		require.NoError(t, err)
		require.Equal(t, want, r.Findings[0].Severity, score)
	}
}

func TestT40_WhatAMessageSaysIsBoundedRedactedAndVisible(t *testing.T) {
	t.Parallel()
	r, err := read(t, "x.sarif", result("web/cart.js", 3, "a\x00\x1b[31m\u202eb "+credential+" "+
		strings.Repeat("long ", 100_000), ""))
	require.NoError(t, err)
	f := r.Findings[0]
	require.NotContains(t, f.Title+f.Body, credential)
	require.NotContains(t, f.Title+f.Body, "\x1b")
	require.NotContains(t, f.Title+f.Body, "\u202e")
	require.Less(t, len(f.Title+f.Body), 3000)
	r, err = read(t, "x.sarif", result("web/cart.js", 3, strings.Repeat("long ", 40)+"\n\n\n\n\nbelow", ""))
	require.NoError(t, err)
	require.Regexp(t, `long\n\nbelow$`, strings.ReplaceAll(r.Findings[0].Body, " ", ""))
	for _, help := range []string{"http://x.dev", "javascript:alert(1)", "https://u:p@x.dev", "https://",
		"https://x.dev/\u202e"} {
		r, err := read(t, "x.sarif", `{"runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r","helpUri":"`+help+
			`"}]}},`+
			`"results":[{"ruleId":"r","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":`+
			`{"uri":"web/cart.js"},"region":{"startLine":1}}}]}]}]}`)
		require.NoError(t, err)
		require.Empty(t, r.Findings[0].Origin.Help, help)
	}
	r, err = read(t, "x.sarif", strings.ReplaceAll(result("web/cart.js", 6, "found hunter2isgone",
		`,"snippet":{"text":"XX"}`),
		"XX", "hunter2isgone"))
	require.NoError(t, err)
	require.Empty(t, r.Findings, "what it saw is not there")
	r, err = read(t, "gitleaks.sarif", strings.ReplaceAll(result("web/cart.js", 6, "found eval(item.price)",
		`,"snippet":{"text":"eval(item.price)"}`), `"ruleId":"r"`, `"ruleId":"generic-api-key"`))
	require.NoError(t, err)
	require.Equal(t, "found <redacted>", r.Findings[0].Title, "a scanner of credentials that repeats what it found")
}

func TestT40_AFloodIsBounded(t *testing.T) {
	t.Parallel()
	one := `{"ruleId":"r%d","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":` +
		`"web/cart.js"},"region":{"startLine":3}}}]}`
	var all []string
	for i := range 10_000 {
		all = append(all, fmt.Sprintf(one, i))
	}
	r, err := read(t, "x.sarif", `{"runs":[{"tool":{"driver":{"name":"t"}},"results":[`+strings.Join(all, ",")+`]}]}`)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1000)
	require.Equal(t, 9000, r.Left.Beyond)
	same := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(one, 1)+",", 25_000), ",")
	r, err = read(t, "x.sarif", `{"runs":[{"tool":{"driver":{"name":"t"}},"results":[`+same+`]}]}`)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	require.Zero(t, r.Left)
	_, err = read(t, "big.sarif", strings.Repeat(" x", 26<<20))
	require.EqualError(t, err, "big.sarif: it is larger than 10 MB")
	many := strings.Repeat("{},", 1<<18) + "{}"
	for list, looked := range map[string]int{
		`{"runs":[` + many + `]}`: 0,
		`{"runs":[{"tool":{"driver":{"rules":[` + many + `]}},"results":[]}]}`: 0,
		`{"runs":[{"results":[` + many + `]}]}`:                                100_000,
		`{"diagnostics":[` + many + `]}`:                                       100_000,
	} {
		r, err := read(t, "x.json", list)
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		if looked > 0 {
			require.Equal(t, linter.Left{Unreadable: looked, Beyond: 1<<18 + 1 - looked}, r.Left, "%.40s", list)
		}
	}
}

// TestT40_ALongBaseIsNotCopiedForEachResult is not parallel, since it counts what is allocated.
func TestT40_ALongBaseIsNotCopiedForEachResult(t *testing.T) {
	one := `{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"cart.js",` +
		`"uriBaseId":"B"},"region":{"startLine":3}}}]},`
	log := `{"runs":[{"originalUriBaseIds":{"B":{"uri":"` + strings.Repeat("a/", 50_000) + `","uriBaseId":"B"}},` +
		`"results":[` + strings.TrimSuffix(strings.Repeat(one, 2_000), ",") + `]}]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := read(t, "x.sarif", log)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, linter.Left{Outside: 2_000}, r.Left)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
}

func TestCheckstyleOfADeclaredEncodingIsRead(t *testing.T) {
	t.Parallel()
	r, err := read(t, "x", `<?xml version="1.0" encoding="ISO-8859-1"?><checkstyle><file name="web/cart.js">`+
		"<error line=\"4\" severity=\"error\" message=\"gr\xf6\xdfer\"/></file></checkstyle>")
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	require.Contains(t, fmt.Sprint(r.Findings[0]), "größer")
}

func TestErrorsNameTheFileAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	const noJSON = "x: it is not JSON with the runs of SARIF or the diagnostics of rdjson"
	for text, want := range map[string]string{
		"":                            "x: it is empty",
		"\ufeff  \n":                  "x: it is empty",
		"[]":                          "x: it is neither SARIF nor rdjson nor checkstyle",
		"PK\x03\x04":                  "x: it is neither SARIF nor rdjson nor checkstyle",
		"{}":                          noJSON,
		"{\n \"runs\": [\n  }":        noJSON,
		"{\"diagnostics\": [1,}":      noJSON,
		`{"runs":null}`:               noJSON,
		`{"runs":{}}`:                 noJSON,
		`{"diagnostics":{}}`:          noJSON,
		"<checkstyle><file name='a'>": "x: XML syntax error on line 1: ",
		"<html><body/></html>":        "x: expected element type <checkstyle> but have <html>",
		`<!DOCTYPE c [<!ENTITY a "aaaa">]><checkstyle><file name="&a;"/></checkstyle>`: "x: XML syntax error on line 1: ",
		`<?xml version="1.0" encoding="utf-7"?><checkstyle/>`: `x: xml: opening charset "utf-7": ` +
			`only UTF-8 and encodings of one byte`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, "x", text)
			require.ErrorContains(t, err, want)
		})
	}
	for _, odd := range []string{`{"runs":[1,"x",null]}`, `{"runs":[{"results":{},"tool":7}]}`} {
		t.Run(odd, func(t *testing.T) {
			t.Parallel()
			r, err := read(t, "x", odd)
			require.NoError(t, err)
			require.Empty(t, r.Findings)
		})
	}
}

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(result("web/cart.js", 3, "m", "")))
	files := changed(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		r := linter.NewReader(files, "")
		_ = r.Read("x", text) // whether it can be read is not the question
		for _, one := range r.Findings {
			require.NotEqual(t, finding.Blocker, one.Severity)
			require.True(t, strings.HasPrefix(one.Path, "web/") || one.Path != "" && !strings.Contains(one.Path, ".."))
			require.Positive(t, one.Line)
			require.NotContains(t, one.Title+one.Rule+one.Origin.Tool, "\n")
			require.Less(t, len(one.Title)+len(one.Body)+len(one.Rule), 12_000)
		}
	})
}
