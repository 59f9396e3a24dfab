package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
)

// Decider is the account that decided, as reported by GitHub. Permission is
// admin, maintain, write, triage, read or none in the repository; it may be empty
// if something else vouches for the account.
type Decider struct {
	Login      string
	Bot        bool // the account's type is Bot
	Permission string
	Dispatched bool // the excluded person is the draft's requester, not a pull request's author
}

// loginPattern matches GitHub logins: letters, digits and hyphens, plus underscores in
// accounts that a company manages.
var loginPattern = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// MayDecide is resume check 12 for the person: not a bot, not the author of the
// pull request unless allowAuthor, and with write permission unless vouched for, by
// an environment's approval or by settings that name who decides.
func MayDecide(d Decider, author string, allowAuthor, vouched bool) error {
	who := [2]string{"who", d.Login}
	switch {
	case d.Login == "":
		return refuse("nobody is named who decided", "decide with an account that still exists")
	case d.Bot || strings.HasSuffix(strings.ToLower(d.Login), "[bot]"):
		return refuse("a bot decided", "a person decides; let somebody with write access do it", who)
	case !loginPattern().MatchString(d.Login):
		return refuse("the decision was not made by an account", "let somebody with write access decide", who)
	case strings.EqualFold(d.Login, author) && !allowAuthor && d.Dispatched:
		return refuse("the person who asked for the draft decided",
			"let somebody else decide, or set allow-author: true", who)
	case strings.EqualFold(d.Login, author) && !allowAuthor:
		return refuse("the author of the pull request decided", "let somebody else decide, or set allow-author: true",
			who)
	case !vouched && !slices.Contains([]string{"admin", "maintain", "write"}, d.Permission):
		return refuse("the decision is by somebody who may not write here", "let somebody with write access decide",
			who, [2]string{"found", "permission \"" + d.Permission + "\""},
			[2]string{"wanted", "write, maintain or admin"})
	}
	return nil
}

// CheckDeciders is resume check 12 for settings that name who decides by dispatch. Those need no write
// permission.
func CheckDeciders(login string, deciders []string) error {
	if len(deciders) == 0 || slices.ContainsFunc(deciders, func(d string) bool { return strings.EqualFold(d, login) }) {
		return nil
	}
	return refuse("the settings name who decides, and this is somebody else", "let one of them decide",
		[2]string{"who", login}, [2]string{"wanted", strings.Join(deciders, ", ")})
}

// CheckPoster is resume check 12 for the token that posts. A person's token posts in their name, so
// it may only post what they decided; account is empty for a job's own token, or an app's.
func CheckPoster(account string, decided []string) error {
	if account == "" || slices.ContainsFunc(decided, func(d string) bool { return strings.EqualFold(d, account) }) {
		return nil
	}
	return refuse("the job's token is "+account+"'s own, and somebody else decided",
		"leave out github-token, so that the job posts as github-actions; or let "+account+" decide",
		[2]string{"decided", strings.Join(decided, ", ")}, [2]string{"token", account})
}

// CheckDispatchable is resume check 12 for the dispatch itself: a draft that waits for an
// environment is decided by that environment's reviewers, in its dialog, unless
// the drafting job allowed dispatch.
func CheckDispatchable(m checkpoint.Manifest) error {
	if !m.Waits() || m.AllowDispatch {
		return nil
	}
	return refuse("the draft waits for an environment, so no dispatch decides it",
		"decide in the dialog of the run that drafted it, or set allow-dispatch: true in the drafting job for the "+
			"next draft",
		[2]string{"where", fmt.Sprintf("environment %q, run %d", m.Environment, m.RunID)})
}

// Dispatch is resume check 12 for the run of a dispatched decision: the person
// who dispatched it also started this attempt, and the workflow is the default
// branch's (T39). ref is the full name, refs/heads/main, because a tag may be
// named like the branch.
func Dispatch(actor, triggering, ref, defaultBranch string) error {
	switch {
	case actor == "" || !strings.EqualFold(actor, triggering):
		return refuse("the decision was dispatched by one person and started again by another",
			"dispatch it again under your own name: Run workflow, not Re-run",
			[2]string{"who", "dispatched by \"" + actor + "\", started by \"" + triggering + "\""})
	case defaultBranch == "" || ref != "refs/heads/"+defaultBranch:
		return refuse("the decision was dispatched from a branch other than the default",
			"dispatch it with the default branch chosen, without --ref",
			[2]string{"found", ref}, [2]string{"wanted", "refs/heads/" + defaultBranch})
	}
	return nil
}

// refuse returns a refusal of check 12; the last row is what to do next.
func refuse(what, next string, rows ...[2]string) error {
	return problem.Refuse(12, what+", nothing was posted", next, rows...)
}
