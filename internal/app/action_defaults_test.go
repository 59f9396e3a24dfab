package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/githubtest"
)

// The organization's variable is below the settings file of the base, from the draft to the decision.
func TestT26_LockedDecidersHoldAgainstTheRepository(t *testing.T) {
	base := baseTree().With(githubtest.Tree{config.DefaultPath: "language: German\ndeciders: [maya]\n"})
	s := setUp(t, scene{base: base,
		head: headTree().With(githubtest.Tree{config.DefaultPath: base[config.DefaultPath]})})
	s.repo.Permit("rita", "write")
	s.defaults = "language: French\noverview: post\ndeciders: [rita]\nlocked: [deciders]\n"
	drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED").
		says("::warning::.github/pr-review.yml:2: deciders has no effect here, since the defaults lock it")
	effective := s.read(drafted).effective(t)
	require.Contains(t, effective, `"language":"German"`)
	require.Contains(t, effective, `"overview":"post"`)
	code := drafted.outputs["code"]
	s.refused(s.decideJob(code, "approve").start(), "rita")
	s.decideJob(code, "approve").by("rita").start().is(0, "POSTED")
}

func TestAMistakeInTheDefaultsEndsTheJobBeforeAnythingIsPaid(t *testing.T) {
	s := setUp(t, scene{})
	s.defaults = "admission:\n  draft: skip\n"
	s.draftJob().start().is(2, "").says(`defaults:2:3: unknown key "draft"`, `did you mean "drafts"?`)
	require.Zero(t, s.model.Calls())
}

func TestASettingsFileWithAnotherEndingIsNamedAndNotRead(t *testing.T) {
	misnamed := githubtest.Tree{".github/pr-review.yaml": "nonsense: 1\n"}
	s := setUp(t, scene{base: baseTree().With(misnamed), head: headTree().With(misnamed)})
	s.draftJob().start().is(0, "PAUSED").
		says("::warning::.github/pr-review.yaml is not read: settings are in .github/pr-review.yml")
}
