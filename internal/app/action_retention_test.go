package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
)

// Decision records live on their own, as long as the repository keeps artifacts. A review
// that is younger needs its record, an older one counts by its account.
func TestT39_RecordsOutliveTheirDrafts(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		keeps string // the repository, in days
		input string // record-retention-days
		lives time.Duration
		after time.Duration
	}{
		"after the draft's artifact is gone": {"90", "", 90 * day, 40 * day},
		"as the input says":                  {"400", "200", 200 * day, 150 * day},
		"as the repository keeps them":       {"30", "", 30 * day, 25 * day},
		"gone with the repository's days":    {"30", "", 30 * day, 35 * day}, // by its account
		"shorter than the draft's":           {"90", "14", 14 * day, 10 * day},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{})
			set := func(j *job) *job {
				if c.input != "" {
					j.with("record-retention-days", c.input)
				}
				return j.set("GITHUB_RETENTION_DAYS", c.keeps)
			}
			first := set(s.draftJob()).start().is(0, "PAUSED")
			s.approved("/drop " + s.idOf(first, titleOf(badCommit)) + ": as intended")
			set(s.postJob(first.digest())).start().is(0, "POSTED")
			for _, a := range s.run.Artifacts() {
				lives := 15 * day
				if strings.HasPrefix(a.Name, "pr-review-decision-") {
					lives = c.lives
				}
				require.InDelta(t, lives.Hours(), a.ExpiresAt.Sub(a.CreatedAt).Hours(), 1, a.Name)
			}
			s.hub.Advance(c.after)
			s.pushed(moved(s.pull.Tree()).With(githubtest.Tree{"more.go": goFile(1, badRange)}))
			next := set(s.draftJob()).set("NOW", time.Now().Add(c.after).UTC().Format(time.RFC3339)).start().
				is(0, "PAUSED")
			_, held := s.told(next)
			require.Equal(t, finding.DroppedBefore, held[titleOf(badCommit)].Filtered, "the review is ours")
		})
	}
}
