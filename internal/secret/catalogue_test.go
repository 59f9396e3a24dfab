package secret

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryFormCompilesAndHasItsGroupsAndKeywords(t *testing.T) {
	t.Parallel()
	kind := regexp.MustCompile(`^[a-z0-9-]{1,60}$`)
	for _, f := range forms().forms {
		require.NotPanics(t, func() { f.re() }, f.kind)
		require.LessOrEqual(t, max(f.group, f.name), f.re().NumSubexp(), f.kind)
		require.Regexp(t, kind, f.kind)
		require.NotEmpty(t, f.keywords, f.kind)
		for _, k := range f.keywords {
			require.Equal(t, strings.ToLower(k), k, f.kind)
		}
		for _, a := range f.allow {
			for _, re := range a.regexes {
				require.NotPanics(t, func() { re() }, f.kind)
			}
		}
	}
	require.GreaterOrEqual(t, len(forms().forms), 220)
}

func TestGradesOfTheLibrarysRules(t *testing.T) {
	t.Parallel()
	grades := map[string]Grade{}
	for _, f := range gitleaksForms() {
		grades[f.kind] = f.grade
	}
	for kind, want := range map[string]Grade{"github-pat": Issued, "adafruit-api-key": Named,
		"okta-access-token": Named, "generic-api-key": Guess} {
		require.Equal(t, want, grades[kind], kind)
	}
	for _, id := range slices.Concat(replacedRules(), []string{"pkcs12-file", "kubernetes-secret-yaml"}) {
		require.NotContains(t, grades, id)
	}
	for _, id := range looseRules() {
		require.Equal(t, Named, grades[id], id)
	}
}

func TestAllowances(t *testing.T) {
	t.Parallel()
	m := match{text: "one\nkey = abc1 # seen\n", whole: "key = abc1", start: 10, end: 14}
	for name, c := range map[string]struct {
		list allowlist
		want bool
	}{
		"value":       {allowlist{Regexes: []string{`^abc`}}, true},
		"not match":   {allowlist{Regexes: []string{`^key`}}, false},
		"match":       {allowlist{Regexes: []string{`^key`}, RegexTarget: "match"}, true},
		"line":        {allowlist{Regexes: []string{`^key.*seen$`}, RegexTarget: "line"}, true},
		"word":        {allowlist{Stopwords: []string{"BC"}}, true},
		"either":      {allowlist{Regexes: []string{`^no`}, Stopwords: []string{"bc"}}, true},
		"both":        {allowlist{Condition: "AND", Regexes: []string{`^abc`}, Stopwords: []string{"bc"}}, true},
		"one of both": {allowlist{Condition: "AND", Regexes: []string{`^abc`}, Stopwords: []string{"zz"}}, false},
		"other one":   {allowlist{Condition: "AND", Regexes: []string{`^no`}, Stopwords: []string{"bc"}}, false},
	} {
		require.Equal(t, c.want, allowances([]allowlist{c.list})[0].holds(m), name)
	}
	require.Empty(t, allowances([]allowlist{{Paths: []string{"x"}},
		{Condition: "AND", Paths: []string{"x"}, Regexes: []string{"y"}}}), "no path is known")
}
