package decision

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileOfAChangeIsDroppedByItsPathAlone(t *testing.T) {
	t.Parallel()
	const only = "files of a proposed change are dropped by their paths, or kept as they are"
	files := []Item{
		{ID: "F1", Path: "pay/half.go", File: true}, {ID: "F2", Path: "pay/half_test.go", File: true},
		{ID: "F3", Path: "api/api.go", File: true},
	}
	for text, want := range map[string]string{
		"/drop F1: not true":           only,
		"/drop f1":                     only,
		"/drop F9":                     only,
		"/drop F1-F2":                  only,
		"/drop pay/half_test.go F1":    only,
		"/keep F1":                     only,
		"/drop minor":                  only,
		"/edit F1: x":                  only,
		"/keep pay/half.go":            "did you mean /drop api/api.go: REASON",
		"/drop blocker":                "did you mean /drop api/api.go: REASON",
		"/drop pay/half_test.go":       "",
		"/drop pay/**, api.go: later.": "nothing is left to apply",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d, err := Parse(text)
			if err == nil {
				d, err = d.Check(files)
			}
			if want == "" {
				require.NoError(t, err)
				require.Equal(t, []Drop{{"F2", "", ByGlob}}, d.Drop)
				return
			}
			var refused *Error
			require.ErrorAs(t, err, &refused)
			refused.About(files)
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "this draft has F")
			require.Len(t, refused.Lines, 1)
		})
	}
}
