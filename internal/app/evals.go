package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/history"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

func evalShowFlags(f *pflag.FlagSet, o *options) {
	f.StringVar(&o.out, "out", "", "folder of the run")
}

// evalShow prints one case of a run as a page.
func (a *app) evalShow(ctx context.Context, args []string, o *options) error {
	if len(args) != 1 || o.out == "" {
		return problem.Usage("eval show takes one case, and --out the folder of the run", a.name+" eval show CASE --out DIR")
	}
	page, err := eval.Page(ctx, o.out, args[0])
	if errors.Is(err, eval.ErrNoRun) || errors.Is(err, eval.ErrNoCase) {
		return problem.Usage(err.Error(), "cases.jsonl in that folder has the names; eval run makes a run")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Stdout, page)
	return err
}

func evalDiffFlags(f *pflag.FlagSet, o *options) {
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

// evalDiff compares two runs.
func (a *app) evalDiff(_ context.Context, args []string, o *options) error {
	if len(args) != 2 {
		return problem.Usage("eval diff takes the folders of two runs", "the earlier one first")
	}
	var runs [2]eval.Kept
	for i, dir := range args {
		var err error
		if runs[i], err = eval.ReadRun(dir); errors.Is(err, eval.ErrNoRun) {
			return problem.Usage(err.Error(), "name a folder that eval run --out has filled")
		} else if err != nil {
			return problem.New(err.Error(), "", "run those cases again in the same folder: what was paid is kept there")
		}
	}
	c := score.Compare(runs[0].Scores(), runs[1].Scores())
	c.Differs = score.Differing(runs[0].Report, runs[1].Report)
	if o.json {
		return printJSON(a.Stdout, c)
	}
	_, err := fmt.Fprint(a.Stdout, c.Markdown())
	return err
}

func evalImportFlags(f *pflag.FlagSet, o *options) {
	mirror(f, &o.settings, "github-token", "allow-http")
	f.IntVar(&o.eval.last, "last", 50, "how many merged pull requests are looked at, the newest first")
	f.BoolVar(&o.eval.all, "all", false, "take comments too under which the code did not change later")
	f.StringVar(&o.out, "out", "", "write the cases to a file")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

// evalImport makes cases of a repository's merged pull requests.
func (a *app) evalImport(ctx context.Context, args []string, o *options) error {
	var owner, repo string
	err := errors.New("no repository")
	if len(args) == 1 {
		owner, repo, err = pull.ParseRepository(args[0])
	}
	if err != nil || o.eval.last < 1 || o.eval.last > history.MaxLast {
		return problem.Usage(fmt.Sprintf("eval import takes one owner/repo, and --last 1 to %d", history.MaxLast), a.name+" eval import owner/repo --last 50 --out cases.jsonl")
	}
	api, err := a.github(pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo}.On(a.getenv("GITHUB_SERVER_URL")), o.settings)
	if err != nil {
		return err
	}
	out, err := a.caseFile(o.out)
	if err != nil {
		return err
	}
	tell := a.tell(o)
	tell(fmt.Sprintf("At most %d requests to GitHub's API, and none to a model.", history.Estimate(o.eval.last)))
	p := a.newProgress(o)
	cases, notes, err := history.Build(ctx, api, owner, repo, history.Options{Last: o.eval.last, All: o.eval.all, OnProgress: p.pulls})
	p.stop()
	if err != nil {
		return errors.Join(err, out.discard())
	}
	for _, note := range notes {
		tell(guard.Line(note, 0))
	}
	tell(fmt.Sprintf("%s. Read them, grade their severities, and take out what is no defect: %s eval run takes them then.", render.Count(len(cases), "case"), a.name))
	return errors.Join(dataset.Encode(out, cases), out.Close())
}

// result is where a command writes what it is for. It is opened before the work,
// so that a bad place is found while nothing is paid.
type result struct {
	io.Writer
	file *os.File // nil for standard output
}

// Close ends the file.
func (r result) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// discard takes away a file in which nothing whole stands.
func (r result) discard() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
}

// caseFile opens a file for cases, which must not be there yet: people grade them.
func (a *app) caseFile(path string) (result, error) {
	if path == "" {
		return result{Writer: a.Stdout}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return result{}, problem.Usage("the cases cannot be written: "+err.Error(), "name a file that is not there yet")
	}
	return result{Writer: f, file: f}, nil
}
