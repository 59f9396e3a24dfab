package triage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/triage"
)

// facts are those of a label that a maintainer set, the only one who may write.
type facts struct {
	login          string
	permission     string
	setter, rights error
	asked          int
}

func labelled() *facts { return &facts{login: "rita", permission: "write"} }

func (f *facts) LabelSetter(context.Context, pull.Ref, string) (string, error) {
	f.asked++
	return f.login, f.setter
}

func (f *facts) Permission(_ context.Context, _, _, login string) (string, error) {
	if login != f.login {
		return "read", f.rights
	}
	return f.permission, f.rights
}

const (
	plain  = "pull_request"
	target = "pull_request_target"
)

func TestAdmissionGivesItsReason(t *testing.T) {
	t.Parallel()
	label := []string{"bug", "ai-review"}
	for name, c := range map[string]struct {
		pull   pull.Pull
		event  triage.Event
		config func(*config.Admission)
		want   string // "" admits
	}{
		"anybody on pull_request": {pull.Pull{Association: "NONE"}, triage.Event{Name: plain}, nil, ""},
		"draft":                   {pull.Pull{Draft: true}, triage.Event{Name: plain}, nil, "it is a draft"},
		"draft, asked for":        {pull.Pull{Draft: true}, triage.Event{Explicit: true}, nil, "it is a draft"},
		"draft, labelled": {pull.Pull{Draft: true, Labels: label}, triage.Event{Name: plain}, nil,
			"it is a draft"},
		"draft, allowed": {pull.Pull{Draft: true}, triage.Event{Name: plain}, func(a *config.Admission) {
			a.Drafts = config.Review
		}, ""},
		"bot": {pull.Pull{AuthorBot: true}, triage.Event{Name: plain}, nil,
			"its author is a bot"},
		"bot, allowed": {pull.Pull{AuthorBot: true}, triage.Event{Name: plain}, func(a *config.Admission) {
			a.Bots = config.Review
		}, ""},
		"opt-out": {pull.Pull{Labels: []string{"no-ai-review"}, Association: "OWNER"},
			triage.Event{Explicit: true}, nil, `the label "no-ai-review" opts out`},
		"opt-out beats the other label": {pull.Pull{Labels: append(label, "no-ai-review")}, triage.Event{Name: plain},
			nil, `the label "no-ai-review" opts out`},
		"no opt-out label": {pull.Pull{Labels: []string{"no-ai-review", ""}}, triage.Event{Name: plain},
			func(a *config.Admission) {
				a.SkipLabel = ""
			}, ""},
		"target, owner":       {pull.Pull{Association: "OWNER"}, triage.Event{Name: target}, nil, ""},
		"target, contributor": {pull.Pull{Association: "CONTRIBUTOR"}, triage.Event{Name: target}, nil, ""},
		"target, first timer": {pull.Pull{Association: "FIRST_TIME_CONTRIBUTOR"}, triage.Event{Name: target}, nil,
			`its author's association with the repository is first_time_contributor, and nobody with write access` +
				` has set the label` +
				` "ai-review"`},
		"target, unknown": {pull.Pull{}, triage.Event{Name: target}, nil,
			`its author's association with the repository is none, and nobody with write access has set the label` +
				` "ai-review"`},
		"target, first timer label": {pull.Pull{Association: "NONE", Labels: label, HeadSHA: "abc"}, labelEvent, nil,
			""},
		"target, asked for": {pull.Pull{Association: "NONE"}, triage.Event{Name: target, Explicit: true}, nil, ""},
		"target, all": {pull.Pull{Association: "NONE"}, triage.Event{Name: target}, func(a *config.Admission) {
			a.Authors = []string{"all"}
		}, ""},
		"authors narrowed": {pull.Pull{Association: "CONTRIBUTOR"}, triage.Event{Name: plain},
			func(a *config.Admission) {
				a.Authors = []string{"member"}
			},
			`its author's association with the repository is contributor, and nobody with write access has set the` +
				` label "ai-review"`},
		"target, hidden member": {pull.Pull{Author: "rita", Association: "NONE"}, triage.Event{Name: target}, nil, ""},
		"target, hidden member who contributed": {pull.Pull{Author: "rita", Association: "CONTRIBUTOR"},
			triage.Event{Name: target}, members, ""},
		"target, writer, no member": {pull.Pull{Author: "rita", Association: "COLLABORATOR"}, triage.Event{Name: target},
			members, `its author's association with the repository is collaborator, and nobody with write access has` +
				` set the label "ai-review"`},
		"target, writer, owners alone": {pull.Pull{Author: "rita", Association: "NONE"}, triage.Event{Name: target},
			func(a *config.Admission) { a.Authors = []string{"owner"} },
			`its author's association with the repository is none, and nobody with write access has set the label` +
				` "ai-review"`},
		"on demand": {pull.Pull{Association: "OWNER"}, triage.Event{Name: plain}, onDemand,
			`reviews are on demand here, and nobody with write access has set the label "ai-review"`},
		"on demand, labelled": {pull.Pull{Labels: label, HeadSHA: "abc"}, labelEvent, onDemand, ""},
		"on demand, asked":    {pull.Pull{}, triage.Event{Name: "workflow_dispatch", Explicit: true}, onDemand, ""},
		"on demand, no label": {pull.Pull{Labels: []string{""}}, triage.Event{Name: plain}, func(a *config.Admission) {
			a.OnDemand, a.Label = true, ""
		}, `reviews are on demand here, and nobody with write access has set the label ""`},
	} {
		a := config.Default().Admission
		if c.config != nil {
			c.config(&a)
		}
		got, err := triage.Admit(t.Context(), c.pull, c.event, a, labelled())
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func onDemand(a *config.Admission) { a.OnDemand = true }

func members(a *config.Admission) { a.Authors = []string{"owner", "member"} }

// stranger is a labelled pull request by somebody who is not allowed.
var stranger = pull.Pull{Association: "NONE", Labels: []string{"ai-review"}, HeadSHA: "abc"}

// labelEvent is that a label was set on its head.
var labelEvent = triage.Event{Name: target, Labeled: "ai-review", Head: "abc"}

func admitStranger(t *testing.T, f *facts) (string, error) {
	t.Helper()
	return triage.Admit(t.Context(), stranger, labelEvent, config.Default().Admission, f)
}

func TestALabelCountsFromAWriter(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*facts){
		"":                                     func(f *facts) { f.permission = "admin" },
		"set by somebody without write access": func(f *facts) { f.permission = "read" },
		"by somebody without write access":     func(f *facts) { f.permission = "" },
		"without write access":                 func(f *facts) { f.permission, f.rights = "", github.ErrNotFound },
		"it is not known who set the label":    func(f *facts) { f.setter = github.ErrNotFound },
	} {
		f := labelled()
		change(f)
		got, err := admitStranger(t, f)
		require.NoError(t, err)
		require.Contains(t, got, want)
		require.Equal(t, want == "", got == "", got)
	}
}

func TestAFactThatCannotBeReadAdmitsNobody(t *testing.T) {
	t.Parallel()
	broken := errors.New("502")
	for what, change := range map[string]func(*facts){
		"who set the label": func(f *facts) { f.setter = broken },
		"permission of":     func(f *facts) { f.rights = broken },
	} {
		f := labelled()
		change(f)
		got, err := admitStranger(t, f)
		require.ErrorIs(t, err, broken, what)
		require.Empty(t, got)
	}
	f := labelled()
	f.rights = github.ErrNoAccess // a fork's token reads nobody's permission
	got, err := triage.Admit(t.Context(), pull.Pull{Association: "NONE"}, triage.Event{Name: target},
		config.Default().Admission, f)
	require.NoError(t, err)
	require.Contains(t, got, "association")
}

func TestFactsAreReadOnlyWhereTheyMatter(t *testing.T) {
	t.Parallel()
	f := labelled()
	_, err := triage.Admit(t.Context(), pull.Pull{Association: "OWNER", Labels: []string{"ai-review"}},
		triage.Event{Name: target}, config.Default().Admission, f)
	require.NoError(t, err)
	require.Zero(t, f.asked)
	_, err = admitStranger(t, f)
	require.NoError(t, err)
	require.Equal(t, 1, f.asked)
}

func TestAPushVoidsALabelWhateverTheHistorySays(t *testing.T) {
	t.Parallel()
	got, err := triage.Admit(t.Context(), stranger, triage.Event{Name: target, Pushed: true},
		config.Default().Admission, labelled())
	require.NoError(t, err)
	require.Contains(t, got, `the label "ai-review" was set before this push`)
}

func TestT26_ALabelCountsForTheHeadThatItWasSetOnAlone(t *testing.T) {
	t.Parallel()
	const void = "was set before the last push, or nothing tells"
	for name, c := range map[string]struct {
		event triage.Event
		head  string
		want  string
	}{
		"this head":                   {labelEvent, "abc", ""},
		"another head":                {labelEvent, "def", void},
		"another label":               {triage.Event{Name: target, Labeled: "bug", Head: "abc"}, "abc", void},
		"another event at this head":  {triage.Event{Name: target, Head: "abc"}, "abc", void},
		"an event that names no head": {triage.Event{Name: target, Labeled: "ai-review"}, "", void},
		"a push with the label's name": {triage.Event{Name: target, Labeled: "ai-review", Head: "abc", Pushed: true},
			"abc", "before this push"},
	} {
		p := stranger
		p.HeadSHA = c.head
		got, err := triage.Admit(t.Context(), p, c.event, config.Default().Admission, labelled())
		require.NoError(t, err, name)
		require.Equal(t, c.want == "", got == "", "%s: %s", name, got)
		require.Contains(t, got, c.want, name)
	}
}
