package local

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
)

func TestALogIsToldEachHalfMinuteHowFarAnEvalIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	a := &Terminal{Front: driver.NewFront(driver.Process{Stderr: &out, Now: func() time.Time { return now }})}
	p, mute := a.NewProgress(false), a.NewProgress(true)
	for n := range 70 {
		p.Line("%d of 70 cases", n)
		mute.Line("%d of 70 cases", n)
		now = now.Add(time.Second)
	}
	p.Stop()
	require.Equal(t, "30 of 70 cases\n60 of 70 cases\n", out.String())
}
