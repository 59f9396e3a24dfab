package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/secret"
)

// peopleComments returns people's comments on lines that are in the diff now: by authors who may write, are
// not the pull request's author, and did not answer a comment of ours. The API tells who may
// write. A login whose permission cannot be read does not count.
func (c Change) peopleComments(ctx context.Context, s Source, comments []github.ReviewComment,
	m *memory) (all []finding.Earlier, err error) {
	may, err := c.writers(ctx, s, c.candidateLogins(comments, m))
	if err != nil {
		err = fmt.Errorf("not every comment of a person counts as already said: %w", err)
	}
	for _, k := range comments {
		if may[k.User] && c.mayCount(k, m) && len(all) < maxSaid {
			first, _, _ := strings.Cut(strings.TrimSpace(k.Body), "\n")
			all = append(all, finding.Earlier{
				Fate: finding.WasCommented, Path: c.currentPath(k.Path), Side: sideOf(k),
				StartLine: startOf(k), Line: k.Line,
				Title: clip(secret.Redact(first)), By: k.User, URL: cleanURL(k.URL),
			})
		}
	}
	return all, err
}

// writers reports for each login whether it may write. It stops at the first permission that
// cannot be read, because the next would fail too.
func (c Change) writers(ctx context.Context, s Source, logins []string) (map[string]bool, error) {
	may := map[string]bool{}
	for _, login := range logins {
		member, err := s.Member(ctx, c.Pull.Owner, c.Pull.Repo, login)
		if err != nil && !errors.Is(err, github.ErrNotFound) {
			return may, err
		}
		may[login] = err == nil && !member.Bot && github.MayWrite(member.Permission)
	}
	return may, nil
}

// candidateLogins returns the logins whose permission is worth a request, at most 30. Those that GitHub
// associates with the repository come first, so that many strangers cannot crowd them out; the
// others follow, because a hidden membership looks like none.
func (c Change) candidateLogins(comments []github.ReviewComment, m *memory) []string {
	var near, far []string
	for _, k := range comments {
		switch {
		case !c.mayCount(k, m), slices.Contains(near, k.User):
		case slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, k.Association):
			near = append(near, k.User)
		case len(far) < maxLogins && !slices.Contains(far, k.User):
			far = append(far, k.User)
		}
	}
	all := append(near, far...)
	return all[:min(len(all), maxLogins)]
}

// mayCount reports whether a comment already reports something, provided that its author may write.
func (c Change) mayCount(k github.ReviewComment, m *memory) bool {
	_, _, _, drafted := marker.ParseComment(k.Body)
	person := k.User != "" && k.UserType != "Bot" && !strings.EqualFold(k.User, c.Pull.Author)
	return person && !drafted && k.Line > 0 && !k.WholeFile && c.currentPath(k.Path) != "" &&
		strings.TrimSpace(k.Body) != "" && !m.believed[k.ID] && !m.believed[k.ReplyTo]
}
