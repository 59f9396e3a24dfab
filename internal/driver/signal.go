package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/sarif"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Signal does what both a job and the command line tell: the SARIF file, and
// whether what was posted is as grave as fail-on. A relative file is of folder.
func Signal(s settings.Settings, r *Report, folder string, warn func(string)) {
	if s.Sarif != "" {
		if err := writeSarif(within(folder, s.Sarif), *r, warn); err != nil {
			r.Failed = err
			return
		}
	}
	if n := finding.Reaching(r.OpenFindings(), s.FailOn); r.Outcome == reviewpr.Posted && n > 0 {
		r.Failed = problem.New(fmt.Sprintf("%s of severity %s or graver, and fail-on is %s",
			render.Count(n, "posted finding"), s.FailOn, s.FailOn),
			r.Place, "answer the review; without fail-on this succeeds whatever was found")
	}
}

// OpenFindings are the findings that the pull request has after a decision: those it
// kept, and those that an earlier review has posted and that are still there.
func (r Report) OpenFindings() []finding.Finding {
	all := slices.Clone(r.Findings)
	for _, f := range r.Filtered {
		if f.Filtered == finding.AlreadyPosted {
			all = append(all, f)
		}
	}
	return all
}

// writeSarif writes what the decision kept: nothing of a draft that was rejected.
func writeSarif(file string, r Report, warn func(string)) error {
	run := sarif.Run{Version: wire.Version(), Page: homepage, Instance: r.State.Draft.Instance,
		Head: r.State.Draft.Head}
	if r.Outcome == reviewpr.Posted {
		run.Findings = r.OpenFindings()
	}
	text, left, err := sarif.Encode(run)
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
	}
	if err != nil {
		return problem.New("the SARIF file could not be written", err.Error(),
			"name another file with sarif; the decision is carried out, and the same decision again writes the file")
	}
	if left > 0 {
		warn(fmt.Sprintf("the SARIF file leaves out %s, which are more than code scanning takes",
			render.Count(left, "finding")))
	}
	return nil
}

const homepage = "https://github.com/org/pr-review-action"

// within is a file of a folder, unless it says itself where it is.
func within(folder, file string) string {
	if folder == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(folder, file)
}
