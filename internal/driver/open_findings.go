package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/sarif"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// WriteSARIF writes the SARIF file of a decision if the settings ask for one: the findings that are open after it. Its
// path is relative to folder unless that is empty.
func WriteSARIF(s settings.Settings, r *Report, folder string, warn func(string)) {
	if s.Sarif == "" {
		return
	}
	file := filepath.Join(folder, s.Sarif)
	run := sarif.Run{Version: wire.Version(), Page: homepage, Instance: r.State.Draft.Subject.Instance,
		Head: r.State.Draft.Subject.Head}
	run.Findings = slices.DeleteFunc(r.OpenFindings(), func(f finding.Finding) bool {
		return f.Path == "" && f.Title == "" // nothing more is known of an earlier one
	})
	text, left, err := sarif.Encode(run)
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
	}
	if err != nil {
		r.Failed = problem.New("the SARIF file could not be written", err.Error(),
			"name another file with sarif; the decision is carried out, and the same decision again writes the file")
	} else if left > 0 {
		warn(fmt.Sprintf("the SARIF file leaves out %s, which are more than code scanning takes",
			wording.Count(left, "finding")))
	}
}

const homepage = "https://github.com/org/pr-review-action"

// Open counts posted findings that are open; its fields are nil if these could not be read.
type Open struct {
	Findings *int `json:"findings"`
	Blockers *int `json:"blockers"`
}

// Open counts the findings that OpenFindings returns.
func (r Report) Open() Open {
	if !r.Read {
		return Open{}
	}
	all := r.OpenFindings()
	n, blockers := len(all), finding.Count(all, finding.Blocker)
	return Open{&n, &blockers}
}

// OpenFindings returns the open findings of the pull request: those kept by an
// approval, and those posted by earlier reviews, in the present wording if this review
// found them again. It does not include findings that wait for a decision.
func (r Report) OpenFindings() (all []finding.Finding) {
	if r.Outcome == reviewpr.Posted {
		all = slices.Clone(r.Findings)
	}
	for _, e := range r.Standing {
		f := e.Finding()
		if i := slices.IndexFunc(r.Filtered, func(f finding.Finding) bool {
			return f.Filtered == finding.AlreadyPosted && f.ID == e.ID && e.ID != ""
		}); i >= 0 {
			f = r.Filtered[i]
			f.Severity = e.Severity
		}
		all = append(all, f)
	}
	return slices.DeleteFunc(all, func(f finding.Finding) bool { return r.Closed[f.Fingerprint] })
}

// CloseThreads records the findings whose threads were closed by someone entitled to. If
// several have one fingerprint, all of them must be closed. earlier is what was said so far.
func (r *Report) CloseThreads(earlier []finding.Earlier) {
	r.Closed = map[string]bool{}
	for _, e := range earlier {
		closed, known := r.Closed[e.Fingerprint]
		if e.Fate == finding.WasPosted {
			r.Closed[e.Fingerprint] = e.Closed != "" && (closed || !known)
		}
	}
}

// FailOn fails a run whose standing findings reach the threshold. A paused draft never fails.
func FailOn(s settings.Settings, r *Report) {
	ended := []string{reviewpr.Clean, reviewpr.Kept, reviewpr.Skipped, reviewpr.Posted, reviewpr.Aborted}
	n := finding.Reaching(r.OpenFindings(), s.FailOn)
	if r.Failed != nil || n == 0 || !slices.Contains(ended, r.Outcome) {
		return
	}
	next := "push a fix; or where a finding is wrong, have somebody who may write, not the author, resolve its " +
		"thread and run this job again, or drop it from the next draft: /drop F1: REASON"
	if strings.HasPrefix(r.Thread, "local/") { // no pull request, no threads
		next = "fix it and review again; or where a finding is wrong, draft again with --again, and drop it there " +
			`by its new id: --command "/drop ID: REASON"`
	}
	r.Failed = problem.New(fmt.Sprintf("%s of severity %s or higher, and fail-on is %s",
		wording.Count(n, "posted finding"), s.FailOn, s.FailOn), r.Place, next)
}
