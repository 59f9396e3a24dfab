package app_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
)

// billed is a command line before a model that bills at its built-in price.
func billed(t *testing.T, files map[string]string, script llmtest.Script) (shell, *llmtest.Server) {
	price, ok := cost.PriceOf(pricedModel)
	require.True(t, ok)
	model := llmtest.Start(t, script, func(s *llmtest.Server) { s.Price = &price })
	return shell{t: t, dir: clone(t, nil, files), model: model.URL}, model
}

// files are so many, with a defect each.
func filesOf(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%02d.go", i)] = fmt.Sprintf("package p\n\nvar v%d = 1 // DEFECT: v%d is never read\n", i, i)
	}
	return files
}

func (r spoken) states() map[finding.State]int {
	n := map[finding.State]int{}
	for _, f := range r.Files {
		n[f.State]++
	}
	return n
}

func TestP9_ACapBelowTheFirstCallEndsWithExit4(t *testing.T) {
	t.Parallel()
	s, model := billed(t, filesOf(12), llmtest.Honest)
	store := t.TempDir()
	r := s.review("--model", pricedModel, "--store", store, "--max-cost", "0.001")
	require.Equal(t, 4, r.Code)
	require.Equal(t, "FAILED", r.Outcome)
	require.Regexp(t, `^no file was reviewed: the budget was spent: the cap of \$0\.0010 is less than the \$0\.04`+
		` that the next call may take; raise it`, r.Message)
	require.Equal(t, map[finding.State]int{finding.NotReached: 12}, r.states())
	require.Zero(t, model.Calls())

	r = s.review("--model", pricedModel, "--store", store, "--max-cost", "0.04", "--concurrency", "2")
	require.Zero(t, r.Code, "with more money it is begun: %s", r.Stderr)
	require.Equal(t, "PAUSED", r.Outcome)
	require.True(t, r.Partial)
	require.Len(t, r.Files, 12)
	n := r.states()
	require.Positive(t, n[finding.Reviewed])
	require.Equal(t, 12, n[finding.Reviewed]+n[finding.NotReached])
	require.LessOrEqual(t, r.Usage.Cost, cost.MicroUSD(40_000))
	require.Equal(t, model.Bill().Cost, r.Usage.Cost)
	for _, f := range r.Files {
		if f.State == finding.NotReached {
			require.EqualValues(t, finding.OverBudget, f.Reason)
			require.Contains(t, r.Body, f.Path, "the draft names what was not reached")
		}
	}
}

func TestP9_APartialDraftGoesOnUnderAHigherCap(t *testing.T) {
	t.Parallel()
	s, model := billed(t, filesOf(12), llmtest.Honest)
	store := t.TempDir()
	review := func(cap string) spoken {
		return s.review("--model", pricedModel, "--store", store, "--max-cost", cap, "--concurrency", "1")
	}
	partial := review("0.04")
	require.True(t, partial.Partial)
	asked := model.Calls()
	require.Equal(t, partial.Files, review("0.04").Files, "the same cap is the same draft")
	require.Equal(t, asked, model.Calls())
	whole := review("1")
	require.False(t, whole.Partial)
	require.Equal(t, map[finding.State]int{finding.Reviewed: 12}, whole.states())
	once := map[string]int{}
	for _, r := range model.Requests() {
		if once[r.Path+r.Question]++; once[r.Path+r.Question] > 1 {
			require.Fail(t, "paid twice", r.Path)
		}
	}
}

func TestP9_ACapNeedsThePriceOfTheModel(t *testing.T) {
	t.Parallel()
	s, model := billed(t, filesOf(1), llmtest.Honest)
	r := s.review("--model", "strange", "--store", t.TempDir(), "--max-cost", "1")
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, `a cost cap is set and the price of the model "strange" is not known`)
	require.Contains(t, r.Stderr, `"strange": { input: 0.25, output: 2 }`, "it says how to price it")
	require.Zero(t, model.Calls())

	r = s.review("--model", "strange", "--store", t.TempDir())
	require.Zero(t, r.Code)
	require.Contains(t, r.Stderr, `The price of the model "strange" is not known, so the default cap of $1.00 does`+
		` not hold`)
	require.Positive(t, model.Calls())

	sums := "example.com/a v1.0.0 h1:x=\n"
	s.dir = clone(t, map[string]string{"go.mod": "module m\n", "go.sum": sums}, map[string]string{"go.sum": sums + sums})
	asked := model.Calls()
	for _, args := range [][]string{{}, {"--max-cost", "1"}} {
		r = s.review(append(args, "--model", "strange", "--store", t.TempDir())...)
		require.Zero(t, r.Code, r.Stderr)
		require.NotContains(t, r.Stderr, "price", "nothing is asked")
	}
	require.Equal(t, asked, model.Calls())
}

func TestP9_TheCapOfAPullHoldsAcrossHeads(t *testing.T) {
	t.Parallel()
	s, model := billed(t, filesOf(4), llmtest.Honest)
	store := t.TempDir()
	args := []string{"--model", pricedModel, "--store", store, "--max-cost-per-pull"}
	first := s.review(append(args, "0.1")...)
	require.Zero(t, first.Code, first.Stderr)
	asked := model.Calls()

	s.commit("g.go", "package p\n\nvar g = 1\n")
	r := s.review(append(args, "0.004")...)
	require.Equal(t, 4, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "the reviews of this pull request have cost "+first.Usage.Cost.String()+
		", and max-cost-per-pull is $0.0040")
	require.Equal(t, asked, model.Calls(), "refused before the first call")

	r = s.review(append(args, "0.1")...)
	require.Zero(t, r.Code, r.Stderr)
	require.Equal(t, asked+1, model.Calls())
}

// commit adds a file in its own commit.
func (s shell) commit(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	for _, args := range [][]string{{"add", "--all"},
		{"-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--message=more"}} {
		cmd := exec.CommandContext(s.t.Context(), "git", args...)
		cmd.Dir = s.dir
		out, err := cmd.CombinedOutput()
		require.NoError(s.t, err, "%s", out)
	}
}

// TestP9_AKilledRunCountsInTheNext kills a run in the middle of its calls. What
// both parts cost stays under the cap, but for the answers that nobody was left to keep.
func TestP9_AKilledRunCountsInTheNext(t *testing.T) {
	t.Parallel()
	const each, cap, sideBySide = 10_000, 200_000, 2
	for _, at := range []int64{1, 4, 9} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			reached, held := make(chan struct{}), make(chan struct{})
			s, model := billed(t, filesOf(30), func(r llmtest.Request) llmtest.Answer {
				if n := asked.Add(1); n == at {
					close(reached)
					<-held
				}
				a := llmtest.Honest(r)
				a.Cost = each / 1e6
				return a
			})
			args := []string{"--model", pricedModel, "--store", t.TempDir(), "--max-cost", "0.2", "--concurrency",
				fmt.Sprint(sideBySide)}
			cmd := s.command(append([]string{"review", "main~1..main", "--quiet"}, args...)...)
			require.NoError(t, cmd.Start())
			<-reached
			require.NoError(t, cmd.Process.Kill())
			require.True(t, errors.As(cmd.Wait(), new(*exec.ExitError)))
			close(held)

			r := s.review(args...)
			require.Zero(t, r.Code, r.Stderr)
			require.True(t, r.Partial)
			require.LessOrEqual(t, r.Usage.Cost, cost.MicroUSD(cap))
			require.LessOrEqual(t, model.Bill().Cost, r.Usage.Cost+sideBySide*each,
				"answers that were kept are in the draft's usage")
			require.Greater(t, model.Bill().Cost, cost.MicroUSD(cap-50_000), "what was left of the cap was used")
		})
	}
}
