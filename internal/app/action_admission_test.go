package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestAdmission(t *testing.T) {
	t.Parallel()
	settings := func(text string) githubtest.Tree {
		return baseTree().With(githubtest.Tree{".github/pr-review.yml": text})
	}
	onDemand := settings("admission:\n  on-demand: true\n")
	headOf := func(base githubtest.Tree) githubtest.Tree {
		return base.With(githubtest.Tree{"a.go": "x // DEFECT: major: Bad\n"})
	}
	none := func(*stage, *job) {}
	for name, tc := range map[string]struct {
		scene
		arm     func(*stage, *job)
		outcome string
		why     string
	}{
		"draft": {scene{draft: true}, none, "SKIPPED", "It is a draft"},
		"draft, let in": {scene{draft: true, base: settings("admission:\n  drafts: review\n")}, none, "PAUSED",
			""},
		"bot": {scene{author: "renovate[bot]"}, none, "SKIPPED", "Its author is a bot"},
		"opted out": {scene{}, func(s *stage, _ *job) {
			s.pull.Label("lee", "no-ai-review")
		}, "SKIPPED", `label "no-ai-review" opts out`},
		"merge queue": {scene{}, func(_ *stage, j *job) {
			j.on("merge_group", "merge_group")
		}, "SKIPPED", "merge queue"},
		"stranger": {scene{fork: true}, none, "SKIPPED", "association with the repository is none"},
		"stranger, own branch": {scene{fork: true}, func(_ *stage, j *job) {
			j.on("pull_request", "pull_request")
		}, "PAUSED", ""},
		"label by a writer": {scene{fork: true}, func(s *stage, j *job) {
			later(s)
			s.pull.Label("maya", "ai-review")
			j.on("pull_request_target", "labeled")
		},
			"PAUSED", ""},
		"label by a reader": {scene{fork: true}, func(s *stage, _ *job) {
			later(s)
			s.pull.Label("rob", "ai-review")
		}, "SKIPPED", "set by somebody without write access"},
		"label before the push": {scene{fork: true}, func(s *stage, _ *job) {
			later(s)
			s.pull.Label("maya", "ai-review")
			later(s)
			s.pull.Push(headTree())
		}, "SKIPPED", "set before the last push"},
		"on demand": {scene{base: onDemand}, none, "SKIPPED", "on demand"},
		"on demand, labelled": {scene{base: onDemand}, func(s *stage, j *job) {
			s.pull.Label("maya", "ai-review")
			j.on("pull_request_target", "labeled")
		}, "PAUSED", ""},
		"labelled, another event": {scene{base: onDemand}, func(s *stage, _ *job) {
			later(s)
			s.pull.Label("maya", "ai-review")
		}, "SKIPPED", "so set it again"},
		"labelled, then pushed with an old date": {scene{fork: true}, func(s *stage, j *job) {
			s.pull.Label("maya", "ai-review")
			j.on("pull_request_target", "labeled")
			s.hub.Advance(-7200e9) // the outsider's commit says that it is older than the label
			s.pull.Push(headTree())
			later(s)
			later(s)
		}, "SKIPPED", "set before the last push"},
		"pushed with an old date, then reopened": {scene{fork: true}, func(s *stage, _ *job) {
			s.pull.Label("maya", "ai-review")
			s.hub.Advance(-7200e9)
			s.pull.Push(headTree())
			later(s)
			later(s)
		}, "SKIPPED", "set before the last push"},
		"on demand, dispatched": {scene{base: onDemand, fork: true}, func(_ *stage, j *job) {
			j.on("workflow_dispatch", "workflow_dispatch").with("pull-request", "42")
		}, "PAUSED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.base != nil {
				tc.head = headOf(tc.base)
			}
			s := setUp(t, tc.scene)
			j := s.draftJob()
			tc.arm(s, j)
			e := j.start().is(0, tc.outcome)
			if tc.outcome == "SKIPPED" {
				e.shows(tc.why)
				require.Equal(t, "false", e.outputs["partial"])
				require.NotContains(t, e.summary, "Not reached")
				require.Zero(t, s.model.Calls())
				require.Empty(t, s.run.Artifacts())
			}
			s.untouched()
		})
	}
}

// later lets an hour pass on GitHub.
func later(s *stage) { s.hub.Advance(3600e9) }
