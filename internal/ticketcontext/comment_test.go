package ticketcontext_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// wall is a tracker that keeps comments, and may lose an answer.
type wall struct {
	said   []string
	before error // of a comment that is not taken
	lost   error // of a comment that was taken
	blind  error // of a look
}

func (w *wall) Mentions(_ context.Context, _, text string) (bool, error) {
	for _, s := range w.said {
		if s == text {
			return true, nil
		}
	}
	return false, w.blind
}

func (w *wall) Comment(_ context.Context, _, _, address string) error {
	if w.before != nil {
		return w.before
	}
	w.said = append(w.said, address)
	return w.lost
}

func TestATicketIsCommentedOnOnce(t *testing.T) {
	t.Parallel()
	const address = "https://github.com/o/r/pull/57"
	lost := &atlassian.Failure{Note: "could not be reached", Temporary: true, Err: errors.New("reset")}
	for name, c := range map[string]struct {
		wall wall
		said bool
		says string
		want int
	}{
		"new":             {said: true, want: 1},
		"there already":   {wall: wall{said: []string{address}}, want: 1},
		"its answer lost": {wall: wall{lost: lost}, said: true, want: 1},
		"not taken": {wall: wall{before: atlassian.Fail("refused the credentials (401)")},
			says: "refused the credentials"},
		"cannot be looked": {wall: wall{blind: atlassian.Fail("is failing (500)")},
			says: "was not asked for a comment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := ticketcontext.Options{Projects: []string{"PAY"},
				Sleep: func(context.Context, time.Duration) error { return nil },
				Sources: []ticketcontext.Source{{Name: "github", Issues: true, Comments: &wall{}},
					{Name: "jira", Title: "Jira", Comments: &c.wall}, {Name: "mcp", Comments: &wall{}}}}
			said, err := ticketcontext.Comment(t.Context(), "PAY-7", "Draft pull request:", address, o)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.said, said)
			require.Len(t, c.wall.said, c.want)
		})
	}
}

func TestACommentNeedsASourceAndAListedProject(t *testing.T) {
	t.Parallel()
	o := ticketcontext.Options{Projects: []string{"PAY"}, Sources: []ticketcontext.Source{
		{Name: "jira", Title: "Jira", Comments: &wall{}, Lacks: "JIRA_TOKEN is not set"}}}
	for key, want := range map[string]string{"PAY-7": "Jira: JIRA_TOKEN is not set", "OPS-7": "do not list the project",
		"o/r#7": "no source under context.sources"} {
		_, err := ticketcontext.Comment(t.Context(), key, "x", "https://a.b", o)
		require.ErrorContains(t, err, want)
		require.Equal(t, problem.Misuse, problem.KindOf(err))
	}
}
