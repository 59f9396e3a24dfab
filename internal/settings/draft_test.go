package settings

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDraftNamesPullRequestAndCode(t *testing.T) {
	t.Parallel()
	const code = "0123456789abcdef"
	for name, c := range map[string]struct {
		given map[string]string
		want  string // of the error; empty for none
	}{
		"alone":           {map[string]string{"draft": "42-" + code}, ""},
		"beside the same": {map[string]string{"draft": "42-" + code, "pull-request": "42", "code": code}, ""},
		"no number":       {map[string]string{"draft": code}, "is not a pull request's number and a draft's code"},
		"a zero":          {map[string]string{"draft": "0-" + code}, "is not"},
		"a leading zero":  {map[string]string{"draft": "042-" + code}, "is not"},
		"a huge number":   {map[string]string{"draft": "9999999999-" + code}, "is not"},
		"an artifact":     {map[string]string{"draft": "pr-review-42-" + code}, "such as 42-3f9c2a71be04d855"},
		"a digest":        {map[string]string{"draft": "42-" + strings.Repeat(code, 4)}, "is not"},
		"upper case":      {map[string]string{"draft": "42-0123456789ABCDEF"}, ""},
		"both cases":      {map[string]string{"draft": "42-0123456789abcDEF", "code": "0123456789ABCdef"}, ""},
		"a second line":   {map[string]string{"draft": "42-" + code + "\n"}, "is not"},
		"another number":  {map[string]string{"draft": "42-" + code, "pull-request": "43"}, "pull-request says 43"},
		"another code": {map[string]string{"draft": "42-" + code, "code": "f" + code[1:]},
			"than that of the input code"},
		"far too much text": {map[string]string{"draft": strings.Repeat("4", 1<<20)}, `444444" is not`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Defaults()
			err := s.Apply(c.given)
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, 42, s.PullRequest)
				require.Equal(t, code, s.Code)
				return
			}
			require.ErrorContains(t, err, "input draft: ")
			require.ErrorContains(t, err, c.want)
			require.Less(t, len(err.Error()), 300)
		})
	}
}
