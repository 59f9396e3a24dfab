package app_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/local"
)

func TestParkingRepeatsTheChanges(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		"": "Parked. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
		"/drop F1: it's\n/severity F2 nit": "Parked. Decide with your changes:\n" +
			`  pr resume diff:0123456 --command '/drop F1: it'\''s' --command '/severity F2 nit' --approve` +
			"\nOr as it was drafted. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
	} {
		var out strings.Builder
		a := &local.Terminal{Front: &driver.Front{Process: driver.Process{Stdout: &out}}, Options: &local.Options{},
			Name: "pr"}
		require.NoError(t, a.Park(driver.Report{Thread: "diff:0123456789"}, changes))
		require.True(t, strings.HasPrefix(out.String(), want), out.String())
	}
}

func TestALogIsToldEachHalfMinuteHowFarAnEvalIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	a := &local.Terminal{Front: driver.NewFront(driver.Process{Stderr: &out, Now: func() time.Time { return now }})}
	p, mute := a.NewProgress(false), a.NewProgress(true)
	for n := range 70 {
		p.Line("%d of 70 cases", n)
		mute.Line("%d of 70 cases", n)
		now = now.Add(time.Second)
	}
	p.Stop()
	require.Equal(t, "30 of 70 cases\n60 of 70 cases\n", out.String())
}
