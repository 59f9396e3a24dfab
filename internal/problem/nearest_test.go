package problem_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
)

func TestTheNearestNameHasSomethingInCommon(t *testing.T) {
	known := []string{"on", "off", "auto"}
	for name, want := range map[string]string{
		"offf": "off", "atuo": "auto", "autoo": "auto", "": "", " ": "", "0s": "", strings.Repeat("x", 300): "",
		strings.Repeat("auto", 60): "",
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, problem.Nearest(name, known)) })
	}
}
