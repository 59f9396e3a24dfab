package app_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestNextIsTheWorstDraftThatWaitsOnGitHub(t *testing.T) {
	s := setUp(t, scene{head: headTree().With(githubtest.Tree{"api/client.go": "package api\n\nvar c = " +
		"tls.Config{InsecureSkipVerify: true}\n"})})
	superseded := s.parked().outputs["code"]
	s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "#!/bin/sh\nset -e # DEFECT: nit: Says nothing\n"}))
	s.anew(githubtest.RunOptions{})
	instance := func(name string, more ...string) string {
		return s.draftJob().with("instance", name, "environment", "").with(more...).start().is(0,
			"PAUSED").outputs["code"]
	}
	milder, worst, decided := instance("rules", "provider", "offline"), instance("model"), instance("done")
	s.decideJob(decided, "abort").with("instance", "done").start().is(0, "ABORTED")

	next := s.cli(nil, "resume", "--next", "octo/demo", "--no-input").ends(0)
	const dispatch = "gh workflow run pr-review-decide.yml --repo octo/demo -f draft=42-"
	for _, want := range []string{"Moves money", "Code " + worst, dispatch + worst} {
		require.Contains(t, next.stdout, want)
	}
	require.Contains(t, next.stderr, "1 draft behind it")
	for _, code := range []string{superseded, decided, milder} {
		require.NotContains(t, next.stdout+next.stderr, code, "it is not next")
	}

	var shown struct{ Code string }
	one := s.cli(nil, "resume", "--next", "octo/demo", "--json", "--quiet").ends(0)
	require.NoError(t, json.Unmarshal([]byte(one.stdout), &shown), one.stdout)
	require.Equal(t, worst, shown.Code)
	require.Empty(t, one.stderr)
	s.pull.Close()
	require.Contains(t, s.cli(nil, "resume", "--next", "octo/demo").ends(0).stderr, "No draft waits in octo/demo")
	s.untouched()
}
