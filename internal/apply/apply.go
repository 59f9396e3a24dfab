// Package apply carries out an approved change: it makes a branch, one commit on it, and a draft
// pull request, each only once.
//
// It looks for its own result before it writes, whoever made it: a commit with the draft's
// digest and exactly the approved files, in bytes and modes, counts as done. It commits only
// to a branch that points to the base, and never forces a push. It knows neither graph nor
// ticket. Start reading at Applier.Commit.
package apply

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/scope"
)

// Request is an approved change to carry out.
type Request struct {
	Ref            pull.Ref      // the repository
	Base           string        // the commit that the change was drafted on
	Into           string        // the branch whose tip Base was, and that the pull request targets
	Branch         string        // the name wanted; a number is added if another draft has it
	Files          []change.File // each differs from the base
	Headline, Body string        // of the commit
	CoAuthor       string        // in a trailer's form: maya <7+maya@users.noreply.github.com>; or empty
	Title, Text    string        // of the pull request
	Link           bool          // a person opens the pull request, through a link
	Thread, Digest string        // of the approved draft
	Race           *handoff.Race
	Again          string // what a person does to continue: re-run the failed jobs
}

// Applied says where a change was committed.
type Applied struct {
	Branch string `json:"branch,omitzero"`
	Commit string `json:"commit,omitzero"` // full hash
}

// Applier writes to one repository.
type Applier struct {
	Read  *github.Client
	Write *write.Client
}

// maxBranches bounds the numbers tried for a branch's name, and maxTries the attempts while
// others write at the same time.
const (
	maxBranches = 9
	maxTries    = 10
)

// Commit makes the branch and its commit, or finds those of an earlier try or of another job
// with the same draft. It refuses if the base has moved (check 9), if a file is not what the
// change was drafted on or a commit would not keep its mode, or if another draft of the thread
// was carried out (13). If GitHub refuses the commit, the error names the branch that was made.
func (a Applier) Commit(ctx context.Context, q Request) (Applied, error) {
	p, err := a.findChange(ctx, q)
	if err != nil || p.Commit != "" {
		return p.Applied, err
	}
	for _, may := range []func(context.Context, Request) error{a.Unmoved, a.checkOrdinary, recordApproval} {
		if err := may(ctx, q); err != nil {
			return Applied{}, err
		}
	}
	for range maxTries {
		if p, err = a.findChange(ctx, q); err != nil || p.Commit != "" {
			return p.Applied, err
		}
		if err = a.push(ctx, q, p); err == nil {
			if p, err = a.findChange(ctx, q); err == nil && p.Commit == "" {
				err = write.ErrUncertain // pushed again, it might be on two branches
			}
			return p.Applied, err
		} else if !isRetryable(err) {
			break
		}
	}
	return Applied{}, err
}

// recordApproval records the approval and waits for this job's turn.
func recordApproval(ctx context.Context, q Request) error {
	if q.Race == nil {
		return nil
	}
	if err := q.Race.Claim(ctx, q.Race.Record); err != nil {
		return err
	}
	return handoff.Turn(ctx, *q.Race)
}

// push makes the branch if it is missing, then the commit.
func (a Applier) push(ctx context.Context, q Request, p place) error {
	err := a.Unmoved(ctx, q)
	if err == nil && !p.empty {
		err = a.Write.Branch(ctx, q.Ref, p.Branch, q.Base)
	}
	if err != nil {
		return err
	}
	_, err = a.Write.Commit(ctx, q.Ref, q.commit(p.Branch))
	if err != nil && !isRetryable(err) {
		err = problem.New("the branch "+p.Branch+" was made, and the commit was refused: it is empty",
			err.Error(), "fix what GitHub names, then "+q.Again+": it continues from there; or delete it")
	}
	return err
}

// isRetryable reports whether another writer was faster or the outcome of a write is unknown. The
// caller then looks for the result again.
func isRetryable(err error) bool {
	return errors.Is(err, write.ErrExists) || errors.Is(err, write.ErrMoved) || errors.Is(err, write.ErrUncertain)
}

// commit returns the commit to request from GitHub. Its trailers make it findable.
func (q Request) commit(branch string) write.Commit {
	k := write.Commit{Branch: branch, Parent: q.Base, Headline: q.Headline, Files: q.Files,
		Body: strings.TrimSpace(q.Body) + "\n\n" + threadTrailer + q.Thread + "\n" + draftTrailer + q.Digest}
	if q.CoAuthor != "" {
		k.Body += "\nCo-authored-by: " + q.CoAuthor
	}
	return k
}

const (
	threadTrailer = "PR-Review-Thread: "
	draftTrailer  = "PR-Review-Draft: "
)

// blob returns Git's hash of a file's content, in a SHA-1 repository.
func blob(content string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
}

// Unmoved is check 9: it refuses if the target branch has moved since the change was drafted, unless a
// run that then stopped has already pushed this draft.
func (a Applier) Unmoved(ctx context.Context, q Request) error {
	tip, err := a.Read.Tip(ctx, q.Ref.Owner, q.Ref.Repo, q.Into)
	if err != nil || tip.SHA == q.Base {
		return err
	}
	if _, own, _, err := a.Stands(ctx, q); err != nil || own {
		return err
	}
	return problem.Refuse(9, fmt.Sprintf("%s has moved since this change was drafted", q.Into),
		"draft the ticket again",
		[2]string{"draft", fmt.Sprintf("on commit %.7s", q.Base)},
		[2]string{"now", fmt.Sprintf("commit %.7s", tip.SHA)})
}

// checkOrdinary refuses files that differ from what the change was drafted on, or that the commit
// would turn into something else: links, submodules, executables.
func (a Applier) checkOrdinary(ctx context.Context, q Request) error {
	on, err := a.Read.AllEntries(ctx, q.Ref.Owner, q.Ref.Repo, q.Base)
	if err != nil {
		return err
	}
	base := scope.Rules{Entries: on}
	for _, f := range q.Files {
		wrong := base.Ordinary(f.Path)
		if wrong == "" && on[f.Path].Blob != f.Base {
			wrong = "it is not what the change was drafted on"
		}
		if wrong != "" {
			return problem.Refuse(9, "a file cannot be changed as it was approved, nothing was pushed: "+wrong,
				"draft the ticket again, or drop the file with /drop "+f.Path, problem.At(f.Path))
		}
	}
	return nil
}
