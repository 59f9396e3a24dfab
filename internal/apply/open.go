package apply

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// Open opens the draft pull request of a change that stands, or finds the one that is
// there, and gives its address; with Link that of the form in which a person opens it.
// Where it fails the error names the branch, which stays.
func (a Applier) Open(ctx context.Context, q Request, at Applied) (address string, err error) {
	if q.Link {
		return formAddress(q, at), nil
	}
	address, found, err := a.pull(ctx, q, at)
	if found || err != nil {
		return address, err
	}
	address, err = a.Write.OpenPull(ctx, q.Ref, write.NewPull{Title: q.Title, Branch: at.Branch, Base: q.Into,
		Body: strings.TrimSpace(q.Text) + "\n\n" + mark{q.Thread, q.Digest, at.Commit}.String()})
	if err == nil {
		return address, nil
	}
	if errors.Is(err, write.ErrExists) || errors.Is(err, write.ErrUncertain) {
		if there, found, looked := a.pull(ctx, q, at); looked == nil && found {
			return there, nil
		}
	}
	told := problem.Of(err)
	told.What = fmt.Sprintf("the change is on branch %s, commit %.7s, and its pull request could not be opened: %s",
		at.Branch, at.Commit, told.What)
	return "", told
}

// pull looks for the pull request of a change that stands: the one with its mark, else any
// open one of its branch, which a person may have opened.
func (a Applier) pull(ctx context.Context, q Request, at Applied) (address string, found bool, err error) {
	opened, err := a.Read.OpenedFrom(ctx, q.Ref.Owner, q.Ref.Repo, at.Branch)
	for _, o := range opened {
		if m, ours := parseMark(o.Body); o.Own && ours && m.digest == q.Digest {
			return o.URL, true, err
		}
	}
	for _, o := range opened {
		if o.Own && o.Open {
			return o.URL, true, err
		}
	}
	return "", false, err
}

// Earlier looks among the newest hundred pull requests of a repository for the one of a
// draft, by its digest or code, or of any draft of a thread.
func Earlier(ctx context.Context, r *github.Client, ref pull.Ref, shown, thread string) (o github.Opened, found bool,
	err error) {
	opened, err := r.OpenedFrom(ctx, ref.Owner, ref.Repo, "")
	for _, o := range opened {
		m, ours := parseMark(o.Body)
		if o.Own && ours && (shown != "" && strings.HasPrefix(m.digest, shown) || thread != "" && m.thread == thread) {
			return o, true, nil
		}
	}
	return github.Opened{}, false, err
}

// formAddress is where a person opens the pull request: built by us, without the text.
func formAddress(q Request, at Applied) string {
	return fmt.Sprintf("%s/compare/%s...%s?expand=1", q.Ref.Web(), escaped(q.Into), escaped(at.Branch))
}

// maxForm bounds an address, in bytes: servers refuse longer ones.
const maxForm = 7000

// Form is the address of the form with title and description filled in, as much of the
// latter as an address holds.
func Form(q Request, at Applied) string {
	form := formAddress(q, at) + "&title=" + url.QueryEscape(q.Title) + "&body="
	text := []rune(q.Text)
	for len(form)+len(url.QueryEscape(string(text))) > maxForm && len(text) > 0 {
		text = text[:len(text)*9/10]
	}
	return form + url.QueryEscape(string(text))
}

// escaped is a branch in a path, in which slashes stand as they are.
func escaped(branch string) string {
	parts := strings.Split(branch, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
