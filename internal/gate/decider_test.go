package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/gate"
)

func TestCheck12_T26_WhoMayDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who         gate.Decider
		author      string
		allowAuthor bool
		environment bool
		want        string // of the refusal; "" where they may
	}{
		"a writer":                       {who: gate.Decider{Login: "rita", Permission: "write"}},
		"a maintainer":                   {who: gate.Decider{Login: "rita", Permission: "maintain"}},
		"an admin":                       {who: gate.Decider{Login: "rita", Permission: "admin"}},
		"an account that a firm manages": {who: gate.Decider{Login: "rita_corp", Permission: "write"}},
		"a reader":                       {who: gate.Decider{Login: "rita", Permission: "read"}, want: "may not write"},
		"a triager": {who: gate.Decider{Login: "rita", Permission: "triage"},
			want: "may not write"},
		"nobody of the repository": {who: gate.Decider{Login: "rita", Permission: "none"}, want: "may not write"},
		"of unknown permission":    {who: gate.Decider{Login: "rita"}, want: "may not write"},
		"of another case":          {who: gate.Decider{Login: "rita", Permission: "Write"}, want: "may not write"},
		"a reader, by environment": {who: gate.Decider{Login: "rita", Permission: "read"}, environment: true},
		"unread, by environment":   {who: gate.Decider{Login: "rita"}, environment: true},
		"nobody": {who: gate.Decider{Permission: "admin"}, environment: true, allowAuthor: true,
			want: "nobody is named"},
		"a bot by its type": {who: gate.Decider{Login: "deployer", Bot: true, Permission: "admin"},
			environment: true, allowAuthor: true, want: "a bot decided"},
		"a bot by its name": {who: gate.Decider{Login: "dependabot[bot]", Permission: "write"},
			environment: true, want: "a bot decided"},
		"a bot in capitals": {who: gate.Decider{Login: "Dependabot[BOT]", Permission: "write"},
			want: "a bot decided"},
		"the author": {who: gate.Decider{Login: "maya", Permission: "admin"}, author: "maya",
			want: "the author"},
		"the author in capitals": {who: gate.Decider{Login: "Maya", Permission: "admin"}, author: "mAYA",
			want: "the author"},
		"the author, by environment": {who: gate.Decider{Login: "maya", Permission: "admin"}, author: "maya",
			environment: true, want: "the author"},
		"the author, allowed": {who: gate.Decider{Login: "maya", Permission: "write"}, author: "maya",
			allowAuthor: true},
		"the author, allowed to read": {who: gate.Decider{Login: "maya", Permission: "read"}, author: "maya",
			allowAuthor: true, want: "may not write"},
		"the author with a blank": {who: gate.Decider{Login: "maya ", Permission: "write"}, author: "maya",
			want: "not made by an account"},
		"the author, seen alike": {who: gate.Decider{Login: "m\u0430ya", Permission: "write"}, author: "maya",
			want: "not made by an account"},
		"the author with nothing seen": {who: gate.Decider{Login: "may\u200ba", Permission: "write"}, author: "maya",
			environment: true, want: "not made by an account"},
		"of a deleted author": {who: gate.Decider{Login: "rita", Permission: "write"}, author: ""},
	} {
		err := gate.MayDecide(c.who, c.author, c.allowAuthor, c.environment)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, refusal(t, err, 12), c.want, name)
		require.ErrorContains(t, err, "nothing was posted", name)
	}
}

func TestCheck12_WhomSettingsTokenAndEnvironmentAsk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string // of the refusal; "" where it may be decided
	}{
		"nobody is named":        {gate.CheckDeciders("rita", nil), ""},
		"named, in another case": {gate.CheckDeciders("Rita", []string{"eve", "rita"}), ""},
		"somebody else is named": {gate.CheckDeciders("rita", []string{"eve", "sam"}), "this is somebody else"},
		"a job's token":          {gate.CheckPoster("", []string{"rita"}), ""},
		"the decider's token":    {gate.CheckPoster("Rita", []string{"eve", "rita"}), ""},
		"somebody else's token":  {gate.CheckPoster("rita", []string{"eve"}), "somebody else decided"},
		"no environment":         {gate.CheckDispatchable(checkpoint.Manifest{}), ""},
		"an environment": {gate.CheckDispatchable(checkpoint.Manifest{Environment: "ai-review", RunID: 7}),
			`environment "ai-review", run 7`},
		"an environment, or dispatch": {
			gate.CheckDispatchable(checkpoint.Manifest{Environment: "ai-review", AllowDispatch: true}), ""},
	} {
		if c.want == "" {
			require.NoError(t, c.err, name)
			continue
		}
		require.ErrorContains(t, refusal(t, c.err, 12), c.want, name)
	}
}

func TestCheck12_T26_T39_ADispatchIsOneAndTheSamePersons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ actor, triggering, ref, branch, want string }{
		"dispatched":                  {"rita", "rita", "refs/heads/main", "main", ""},
		"in another case":             {"Rita", "rita", "refs/heads/main", "main", ""},
		"a branch with a slash":       {"rita", "rita", "refs/heads/a/main", "a/main", ""},
		"run again by somebody":       {"rita", "eve", "refs/heads/main", "main", "Run workflow, not Re-run"},
		"dispatched by nobody":        {"", "", "refs/heads/main", "main", "by one person"},
		"started by nobody":           {"rita", "", "refs/heads/main", "main", "by one person"},
		"from a feature branch":       {"rita", "rita", "refs/heads/feature", "main", "a branch other"},
		"from a tag of that name":     {"rita", "rita", "refs/tags/main", "main", "a branch other"},
		"from a pull request":         {"rita", "rita", "refs/pull/1/merge", "main", "a branch other"},
		"from a branch of a like end": {"rita", "rita", "refs/heads/feature/main", "main", "a branch other"},
		"a branch alone":              {"rita", "rita", "main", "main", "a branch other"},
		"a branch of another case":    {"rita", "rita", "refs/heads/Main", "main", "a branch other"},
		"the default is not known":    {"rita", "rita", "refs/heads/", "", "a branch other"},
	} {
		err := gate.Dispatch(c.actor, c.triggering, c.ref, c.branch)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, refusal(t, err, 12), c.want, name)
	}
}
