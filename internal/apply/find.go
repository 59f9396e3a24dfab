package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// place is a branch that has the change, or on which it may be committed.
type place struct {
	Applied      // without a commit until there is one
	empty   bool // it exists and points to the base
}

// Stands reports whether any draft of the request's thread was carried out, whatever its files,
// on which branch, and whether it is the request's own draft.
func (a Applier) Stands(ctx context.Context, q Request) (where string, own, found bool, err error) {
	q.Files = nil
	p, err := a.findChange(ctx, q)
	switch {
	case err == nil && p.Commit != "":
		return p.Branch, true, true, nil
	case problem.Check(err) == 13:
		return p.Branch, false, true, nil
	}
	return "", false, false, err
}

// findChange searches for the change: on the branch of its name and the numbered ones, up to the first
// that does not exist, even if commits were added since, or in a pull request, since closing or merging
// one may have deleted the branch. It returns a place to commit to if there is none, and refuses if it
// finds another draft of the same thread.
func (a Applier) findChange(ctx context.Context, q Request) (place, error) {
	p, err := a.findBranch(ctx, q)
	if err != nil || p.Commit != "" {
		return p, err
	}
	o, found, err := Earlier(ctx, a.Read, q.Ref, q.Digest, q.Thread)
	if found {
		m := parseMark(o.Body)
		if p = (place{Applied: Applied{o.Branch, m.commit}}); m.digest != q.Digest {
			err = AlreadyApplied(o.URL)
		}
	}
	return p, err
}

func (a Applier) findBranch(ctx context.Context, q Request) (place, error) {
	for n := 1; n <= maxBranches; n++ {
		p := place{Applied: Applied{Branch: q.Branch}}
		if n > 1 {
			p.Branch = fmt.Sprintf("%s-%d", q.Branch, n)
		}
		tip, err := a.Read.Tip(ctx, q.Ref.Owner, q.Ref.Repo, p.Branch)
		if errors.Is(err, github.ErrNotFound) {
			return p, nil
		}
		if p.empty = tip.SHA == q.Base; err != nil || p.empty {
			return p, err
		}
		made, err := a.firstCommit(ctx, q, tip)
		switch {
		case err != nil:
			return place{}, err
		case q.Digest != "" && trailer(made.Message, draftTrailer) == q.Digest:
			p.Commit = made.SHA
			return p, a.checkSameFiles(ctx, q, p.Applied)
		case trailer(made.Message, threadTrailer) == q.Thread:
			return p, AlreadyApplied(p.Branch)
		}
	}
	return place{}, problem.New(fmt.Sprintf("%d branches have the name that this change would get", maxBranches),
		q.Branch, "delete those that are not needed any more, then "+q.Again)
}

// firstCommit returns the commit on a branch whose only parent is the base, or a zero Tip if there is
// none.
func (a Applier) firstCommit(ctx context.Context, q Request, tip github.Tip) (github.Tip, error) {
	added, err := a.Read.Since(ctx, q.Ref.Owner, q.Ref.Repo, q.Base, tip.SHA)
	if errors.Is(err, github.ErrNotFound) { // no common history
		return github.Tip{}, nil
	}
	for _, k := range added {
		if slices.Equal(k.Parents, []string{q.Base}) {
			return k, err
		}
	}
	return github.Tip{}, err
}

// checkSameFiles refuses a commit whose files differ from the approved ones: anyone with write access can
// make a commit that claims to be this draft's.
func (a Applier) checkSameFiles(ctx context.Context, q Request, at Applied) error {
	if q.Files == nil { // the caller does not ask about files
		return nil
	}
	want, err := a.Read.AllEntries(ctx, q.Ref.Owner, q.Ref.Repo, q.Base)
	if err != nil {
		return err
	}
	for _, f := range q.Files {
		want[f.Path] = diff.Entry{Mode: "100644", Blob: blob(f.Content)}
	}
	made, err := a.Read.AllEntries(ctx, q.Ref.Owner, q.Ref.Repo, at.Commit)
	if err == nil && !maps.Equal(made, want) {
		err = problem.Refuse(13, "a commit says that it is of this draft, and has other files than those that were "+
			"approved", "find out who pushed it; delete or rename its branch, then "+q.Again,
			problem.At(fmt.Sprintf("branch %s, commit %.7s", at.Branch, at.Commit)))
	}
	return err
}

// AlreadyApplied is resume check 13: it refuses a draft of a ticket that was carried out before.
func AlreadyApplied(where string) error {
	return problem.Refuse(13, "another draft of this ticket, on the same commit, has already been carried out",
		"look at that one, and draft the ticket again once the base branch has moved on", problem.At(where))
}

// trailer returns the value of the last trailer of that name in a commit's message, or "".
func trailer(message, name string) (value string) {
	for line := range strings.Lines(message) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			value = v
		}
	}
	return value
}

// mark makes a pull request findable. It is an HTML comment on the description's last line and
// holds no text from outside.
type mark struct{ thread, digest, commit string }

var markForm = pattern.Lazy(`(?m)^<!-- pr-implement:v1 thread=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+~[A-Za-z0-9_-]+:` +
	`[0-9a-f]{40,64}) digest=([0-9a-f]{64}) commit=([0-9a-f]{40,64}) -->\s*$`)

// withMark returns a pull request's description with its mark.
func withMark(text string, q Request, at Applied) string {
	return fmt.Sprintf("%s\n\n<!-- pr-implement:v1 thread=%s digest=%s commit=%s -->", strings.TrimSpace(text),
		q.Thread, q.Digest, at.Commit)
}

// parseMark reads the last mark of a description, or a zero mark.
func parseMark(body string) (m mark) {
	for _, parts := range markForm().FindAllStringSubmatch(body, -1) {
		m = mark{parts[1], parts[2], parts[3]}
	}
	return m
}

// Open opens the draft pull request of a committed change, or finds the existing one, and returns
// its address. With Link it opens none, and returns the address of the form where a person opens
// it. If GitHub refuses it, the error names the branch, which stays.
func (a Applier) Open(ctx context.Context, q Request, at Applied) (address string, err error) {
	if address, err = a.Opened(ctx, q, at); address != "" || err != nil {
		return address, err
	}
	if q.Link {
		return FormAddress(q, at), nil
	}
	address, err = a.Write.OpenPull(ctx, q.Ref, write.NewPull{Title: q.Title, Branch: at.Branch, Base: q.Into,
		Body: withMark(q.Text, q, at)})
	if err == nil {
		return address, nil
	}
	if there, _ := a.Opened(ctx, q, at); there != "" { // another job's, or this one's whose answer was lost
		return there, nil
	}
	told := problem.Of(err)
	told.What = fmt.Sprintf("the change is on branch %s, commit %.7s, and its pull request could not be opened: %s",
		at.Branch, at.Commit, told.What)
	return "", told
}

// Opened returns the address of a committed change's pull request, or "": the one with its mark,
// else any open one from its branch, which a person may have opened.
func (a Applier) Opened(ctx context.Context, q Request, at Applied) (address string, err error) {
	opened, err := a.Read.OpenedFrom(ctx, q.Ref.Owner, q.Ref.Repo, at.Branch)
	for _, o := range opened {
		if q.Digest != "" && parseMark(o.Body).digest == q.Digest {
			return o.URL, err
		}
		if o.Open {
			address = cmp.Or(address, o.URL)
		}
	}
	return address, err
}

// Earlier searches the newest hundred pull requests of a repository for that of a draft, by its
// digest or code in shown, or of any draft of a thread.
func Earlier(ctx context.Context, r *github.Client, ref pull.Ref, shown, thread string) (o github.Opened, found bool,
	err error) {
	opened, err := r.OpenedFrom(ctx, ref.Owner, ref.Repo, "")
	for _, o := range opened {
		m := parseMark(o.Body)
		if shown != "" && strings.HasPrefix(m.digest, shown) || thread != "" && m.thread == thread {
			return o, true, nil
		}
	}
	return github.Opened{}, false, err
}

// FormAddress returns the address where a person opens the pull request, without title and text.
func FormAddress(q Request, at Applied) string {
	path := url.URL{Path: "/compare/" + q.Into + "..." + at.Branch}
	return q.Ref.Web() + path.EscapedPath() + "?expand=1"
}

// maxForm bounds an address, in bytes; servers refuse longer ones.
const maxForm = 7000

// Form returns the address of the form with title and description filled in. A description that
// does not fit is cut.
func Form(q Request, at Applied) string {
	form := FormAddress(q, at) + "&title=" + url.QueryEscape(q.Title) + "&body="
	for text := []rune(q.Text); ; text = text[:len(text)*9/10] {
		body := url.QueryEscape(withMark(string(text), q, at))
		if len(form)+len(body) <= maxForm || len(text) == 0 {
			return form + body
		}
	}
}
