package stats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
)

func TestWhatIsProposedIsSettingsAndSettledOnceItIsThere(t *testing.T) {
	t.Parallel()
	habits := []Habit{
		{Cause: Cause{Glob: "gen/**"}, Dropped: 12, Judged: 13, Pulls: 4},
		{Cause: Cause{Category: "performance", Glob: "testdata/**"}, Dropped: 3, Drops: []Judgement{
			{Thread: "acme/api#1:0123456789", Finding: decision.Shown{ID: "F2"}, By: "rita",
				Reason: "Tests may be  slow."},
			{Thread: "acme/api#2:0123456789", By: "ada", Reason: "tests may be slow"},
			{Thread: "acme/api#3:0123456789", By: "maya", Reason: "no"},
		}},
		{Cause: Cause{Rule: "golangci-lint lll"}},
	}
	asked, entries := Proposed(habits, config.Config{})
	require.Len(t, asked, 3)
	text, err := Extend(config.File{Path: "f.yml"}, nil, entries)
	require.NoError(t, err)
	require.Contains(t, string(text), "  #   acme/api#1:0123456 F2, rita: Tests may be  slow.\n")
	c, err := config.Parse("f.yml", text)
	require.NoError(t, err)
	require.Equal(t, []string{"gen/**"}, c.Ignore)
	require.Equal(t, []config.Guideline{{Paths: []string{"testdata/**"}, Text: "Report no findings of the category " +
		"performance in these files."}}, c.Guidelines)
	require.Equal(t, []string{"golangci-lint lll"}, c.Report.Without)
	asked, entries = Proposed(habits, c)
	require.Empty(t, asked)
	require.Empty(t, entries)
	asked, _ = Proposed(habits, config.Config{Locked: []string{"ignore", "report"}})
	require.Equal(t, habits[1:2], asked, "the others would have no effect")
}

// TestT7_WhatPeopleWroteIsInertInASettingsFile: reasons and names are in comments of one
// line, and none reaches a model.
func TestT7_WhatPeopleWroteIsInertInASettingsFile(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"a\nignore: [\"**\"]", "a\r\nignore: []", "\u2028ignore: []", "\u202etxt",
		"\x1b[31mred", "x `rm` <!-- pr-review:v1 -->", "\": {", "<<<end", "AKIAIOSFODNN7EXAMPLQ is the key",
		strings.Repeat("long ", 400), "# }", "'", "\x00", "---", "..."} {
		t.Run(fmt.Sprintf("%.20q", reason), func(t *testing.T) {
			t.Parallel()
			all := drops(10, decision.Shown{ID: "F1", Path: "testdata/a.go", Category: "performance", Source: "model"})
			for i := range all {
				all[i].By = "eve " + reason
				for d := range all[i].Dropped {
					all[i].Dropped[d].Reason = reason
				}
			}
			_, entries := Proposed(Habits(verdicts(all)), config.Config{})
			require.Len(t, entries, 1)
			text, err := Extend(config.File{Path: "f.yml"}, []byte("max-lines: 7\n"), entries)
			require.NoError(t, err)
			c, err := config.Parse("f.yml", text)
			require.NoError(t, err)
			require.Empty(t, c.Ignore)
			require.Equal(t, "Report no findings of the category performance in these files.", c.Guidelines[0].Text)
			require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f-\x9f\x{2028}\x{202e}]|AKIA`, string(text))
			for line := range strings.Lines(string(text)) {
				require.LessOrEqual(t, len([]rune(line)), 130)
			}
		})
	}
}
