package checkpoint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
)

func TestCheck1_TheArtifactExistsAndIsOurs(t *testing.T) {
	t.Parallel()
	good := github.Artifact{Name: "n", Size: 100, ExpiresAt: made.Add(time.Hour), RepositoryID: 7}
	require.NoError(t, CheckFound("n", &good, 7, made))
	refusal(t, CheckFound("n", nil, 7, made), 1)
	for want, change := range map[string]func(*github.Artifact){
		"no draft of this name":     func(f *github.Artifact) { f.Name = "N" },
		"not decided in time":       func(f *github.Artifact) { f.Expired = true },
		"its artifact is gone":      func(f *github.Artifact) { f.ExpiresAt = made.Add(-1) },
		"another repository":        func(f *github.Artifact) { f.RepositoryID = 8 },
		"does not say which run":    func(f *github.Artifact) { f.RepositoryID = 0 },
		"0 bytes":                   func(f *github.Artifact) { f.Size = 0 },
		"a size that no draft has":  func(f *github.Artifact) { f.Size = MaxZip + 1 },
		"  where   artifact n\n  n": func(f *github.Artifact) { f.Expired = true },
	} {
		f := good
		change(&f)
		r := refusal(t, CheckFound("n", &f, 7, made), 1)
		require.ErrorContains(t, r, want)
		require.Equal(t, strings.Contains(r.What, "not decided in time"), r.Expired)
	}
}

func TestCheck2_TheBytesHaveTheDigestThatCameAnotherWay(t *testing.T) {
	t.Parallel()
	p := packed(t)
	for _, want := range []string{p.Digest, p.Code, "sha256:" + p.Digest} {
		require.NoError(t, CheckDigest(p.Zip, want))
		require.ErrorContains(t, refusal(t, CheckDigest(append(p.Zip, 0), want), 2), "not the draft that was shown")
	}
	for _, want := range []string{"", p.Digest[:15], p.Digest[:17], strings.ToUpper(diff), p.Code + "\n", "sha256:"} {
		require.ErrorContains(t, refusal(t, CheckDigest(p.Zip, want), 2), "not the digest of a draft")
	}
}

func TestCheck2_WhatGitHubReportsMayOnlyRefuse(t *testing.T) {
	t.Parallel()
	p := packed(t)
	for _, want := range []string{p.Digest, p.Code, "sha256:" + p.Digest} {
		require.NoError(t, CheckReported(github.Artifact{Digest: "sha256:" + p.Digest}, want))
		require.NoError(t, CheckReported(github.Artifact{}, want), "not every server tells")
		for _, reported := range []string{"sha256:" + diff, "sha512:" + p.Digest, p.Digest, "sha256:", "\x1b[2J"} {
			r := refusal(t, CheckReported(github.Artifact{Name: "n", Digest: reported}, want), 2)
			require.ErrorContains(t, r, "GitHub reports another digest")
			require.NotContains(t, r.Error(), "\x1b")
		}
	}
	other, err := Protection{}.Pack(manifest(), []byte(`{}`), shown())
	require.NoError(t, err)
	swapped := github.Artifact{Digest: "sha256:" + other.Digest} // the server's digest follows the swap
	require.NoError(t, CheckReported(swapped, Digest(other.Zip)))
	refusal(t, CheckDigest(other.Zip, p.Code), 2)
}

func TestCheck4_T19_TheRunMayMakeDrafts(t *testing.T) {
	t.Parallel()
	const path = ".github/workflows/pr-review.yml"
	want := RunWant{ID: 5, Path: path, Branch: "main", RepositoryID: 7,
		Events: []string{"pull_request", "pull_request_target", "workflow_dispatch"}}
	run := Run{Run: github.Run{ID: 5, Path: path, Event: "pull_request", HeadBranch: "feature", RepoID: 7,
		HeadRepoID: 7}}
	for name, c := range map[string]struct {
		change func(*Run)
		bad    string
	}{
		"as expected":       {func(*Run) {}, ""},
		"path with its ref": {func(r *Run) { r.Path += "@main" }, ""},
		"fork, target":      {func(r *Run) { r.Event, r.HeadRepoID = "pull_request_target", 99 }, ""},
		"dispatch": {func(r *Run) {
			r.Event, r.HeadBranch, r.OnDefault = "workflow_dispatch", "main", true
		}, ""},
		"dispatch of a tag": {func(r *Run) {
			r.Event, r.HeadBranch = "workflow_dispatch", "main"
		}, "a tag of that name does not count"},
		"another run":          {func(r *Run) { r.ID = 6 }, "run 6, id"},
		"another repository":   {func(r *Run) { r.RepoID = 8 }, "repository id"},
		"another workflow":     {func(r *Run) { r.Path = ".github/workflows/evil.yml" }, "workflow file"},
		"no workflow":          {func(r *Run) { r.Path = "" }, "workflow file"},
		"another event":        {func(r *Run) { r.Event = "push" }, "event"},
		"fork's run":           {func(r *Run) { r.HeadRepoID = 99 }, "no fork"},
		"dispatch of a branch": {func(r *Run) { r.Event = "workflow_dispatch" }, "the default branch"},
		"dispatch of a branch at its commit": {func(r *Run) {
			r.Event, r.OnDefault = "workflow_dispatch", true
		}, "the default branch"},
		"schedule": {func(r *Run) {
			r.Event, r.HeadBranch, r.OnDefault = "schedule", "main", true
		}, "event"},
		"dispatch of a fork": {func(r *Run) {
			r.Event, r.HeadBranch, r.HeadRepoID = "workflow_dispatch", "main", 99
		}, "no fork"},
		"path in other case": {func(r *Run) { r.Path = strings.ToUpper(path) }, "workflow file"},
	} {
		r := run
		c.change(&r)
		err := CheckRun(r, want)
		if c.bad == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, refusal(t, err, 4), c.bad, name)
	}
	anyRun := want
	anyRun.ID = 0
	run.ID = 6
	require.NoError(t, CheckRun(run, anyRun))
	refusal(t, CheckRun(Run{Run: github.Run{ID: 5, Event: "pull_request", RepoID: 7, HeadRepoID: 7}},
		RunWant{ID: 5, RepositoryID: 7, Events: want.Events}), 4)
	for _, id := range []int64{0, 5} {
		refusal(t, CheckRun(Run{Run: github.Run{ID: id, Path: path, Event: "pull_request"}},
			RunWant{Path: path, Events: want.Events}), 4)
	}
}

func TestCheck2_ACodeAloneNamesOneDraftOrNone(t *testing.T) {
	t.Parallel()
	one := Draft{Digest: strings.Repeat("a", 64)}
	other := Draft{Digest: strings.Repeat("a", 16) + strings.Repeat("b", 48)}
	require.NoError(t, CheckOne([]Draft{one, one}))
	require.ErrorContains(t, refusal(t, CheckOne([]Draft{one, one, other}), 2), "two drafts have this code")
}

func TestCheck4_T19_TheDraftNamesTheRunThatMadeIt(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckMadeBy(manifest(), manifest().RunID))
	for _, run := range []int64{0, 1, manifest().RunID + 1} {
		require.ErrorContains(t, refusal(t, CheckMadeBy(manifest(), run), 4), "another run than the one that stored it")
	}
	m := manifest()
	m.RunID = 0
	refusal(t, CheckMadeBy(m, 0), 4)
}

func TestCheck6_FormatAndGraphVersionAreKnown(t *testing.T) {
	t.Parallel()
	m := packed(t).Manifest
	require.NoError(t, CheckFormat(m, "reviewpr", 1))
	require.ErrorContains(t, refusal(t, CheckFormat(m, "reviewpr", 2), 6), "version 2")
	refusal(t, CheckFormat(m, "ticketpr", 1), 6)
	for format, known := range map[int]bool{0: false, Format - 1: false, Format: true, Format + 1: false} {
		m.Format = format
		if err := CheckFormat(m, "reviewpr", 1); known {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, refusal(t, err, 6), fmt.Sprintf("format %d", format))
		}
	}
	m.Format, m.Partial = Format, 2
	require.ErrorContains(t, refusal(t, CheckFormat(m, "reviewpr", 1), 6), "a run under way, not a draft")
}

func TestCheck7_RepositoryPullRequestAndInstanceMatch(t *testing.T) {
	t.Parallel()
	want := Subject{Kind: "pull request", Repository: "Org/payments", RepositoryID: 7, Number: 42, Instance: "docs"}
	require.NoError(t, CheckTarget(manifest(), want, manifest().Thread))
	for name, change := range map[string]func(*Subject){
		"kind":          func(s *Subject) { s.Kind = "issue" },
		"number":        func(s *Subject) { s.Number = 43 },
		"repository":    func(s *Subject) { s.Repository = "Org/Payments2" },
		"repository id": func(s *Subject) { s.RepositoryID = 8 },
		"none known":    func(s *Subject) { s.RepositoryID = 0 },
		"instance":      func(s *Subject) { s.Instance = "" },
		"key":           func(s *Subject) { s.Key = "PAY-88" },
	} {
		other := want
		change(&other)
		require.ErrorContains(t, refusal(t, CheckTarget(manifest(), other, manifest().Thread), 7),
			"another "+other.Kind, name)
		m := manifest()
		change(&m.Subject)
		require.ErrorContains(t, refusal(t, CheckTarget(m, want, m.Thread), 7), "another pull request", name)
	}
	refusal(t, CheckTarget(manifest(), want, "org/payments#42@docs:"+base), 7)
	m := manifest()
	m.Subject.RepositoryID, want.RepositoryID = 0, 0
	refusal(t, CheckTarget(m, want, m.Thread), 7)
}

func TestCheck8_WhatGovernsDecidingIsAsItWas(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.Trust = TrustSeal
	now := Settings{TrustSeal, "AI-Review", m.ToolVersion, diff}
	changes, err := CheckSettings(m, now)
	require.NoError(t, err)
	require.Empty(t, changes)
	for name, c := range map[string]struct {
		change func(*Manifest, *Settings)
		bad    string
	}{
		"no environment now":  {func(_ *Manifest, s *Settings) { s.Environment = "" }, ""},
		"none when drafted":   {func(m *Manifest, _ *Settings) { m.Environment = "" }, ""},
		"another environment": {func(_ *Manifest, s *Settings) { s.Environment = "open" }, `environment "open"`},
		"digest now": {func(_ *Manifest, s *Settings) {
			s.Trust = ""
		}, "made under trust: seal, this job says digest"},
		"digest by name": {func(m *Manifest, s *Settings) { m.Trust, s.Trust = "", TrustDigest }, ""},
		"encrypt now": {func(_ *Manifest, s *Settings) {
			s.Trust = TrustEncrypt
		}, "made under trust: seal, this job says encrypt"},
		"digest when drafted": {func(m *Manifest, _ *Settings) {
			m.Trust = ""
		}, "made under trust: digest, this job says seal"},
		"encrypt when drafted": {func(m *Manifest, _ *Settings) {
			m.Trust = TrustEncrypt
		}, "made under trust: encrypt, this job says seal"},
	} {
		m, s := m, now
		c.change(&m, &s)
		_, err := CheckSettings(m, s)
		if c.bad == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, refusal(t, err, 8), c.bad, name)
	}
}

func TestCheck8_OtherChangesAreShownAndInvalidateNothing(t *testing.T) {
	t.Parallel()
	changes, err := CheckSettings(manifest(), Settings{ToolVersion: "v1.1.0", PromptFingerprint: base})
	require.NoError(t, err)
	require.Equal(t, []string{
		`drafted by version "v1.0.0", decided by "v1.1.0"`,
		"the prompts were changed since the draft",
	}, changes)
	changes, err = CheckSettings(manifest(), Settings{})
	require.NoError(t, err)
	require.Empty(t, changes, "what is not known is not compared")
	byRules := manifest()
	byRules.PromptFingerprint = ""
	changes, err = CheckSettings(byRules, Settings{PromptFingerprint: base})
	require.NoError(t, err)
	require.Empty(t, changes, "a draft by rules has no prompts that could have changed")
}

func TestCheck10_NotPastItsExpiry(t *testing.T) {
	t.Parallel()
	m := manifest()
	require.NoError(t, CheckExpiry(m, m.ExpiresAt))
	r := refusal(t, CheckExpiry(m, m.ExpiresAt.Add(1)), 10)
	require.True(t, r.Expired)
	require.ErrorContains(t, r, "draft   waited until 5 December 2026, 14:10 UTC")
}

func TestP8_ARefusalShowsForeignTextSafely(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.Graph.Name = "x\n::add-mask::y\x1b[31m\u202e"
	text := CheckFormat(m, "reviewpr", 1).Error()
	require.Len(t, strings.Split(text, "\n"), 4)
	text += refuse(1, "\u202e", "\x1b[2J\n", row("where", "\n::x")).Error()
	require.Len(t, strings.Split(text, "\n"), 6)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
}
