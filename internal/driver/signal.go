package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/sarif"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// Signal writes the SARIF file of a decision, where one is asked for: relative to folder,
// unless it says itself where it is.
func Signal(s settings.Settings, r *Report, folder string, warn func(string)) {
	if s.Sarif == "" {
		return
	}
	file := s.Sarif
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	r.Failed = writeSarif(file, *r, warn)
}

// writeSarif writes what the decision kept: nothing of a draft that was rejected.
func writeSarif(file string, r Report, warn func(string)) error {
	run := sarif.Run{Version: wire.Version(), Page: homepage, Instance: r.State.Draft.Instance,
		Head: r.State.Draft.Head}
	if r.Outcome == reviewpr.Posted {
		run.Findings = slices.DeleteFunc(r.OpenFindings(), func(f finding.Finding) bool {
			return f.Path == "" && f.Title == "" // of an earlier one no more is known
		})
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
			wording.Count(left, "finding")))
	}
	return nil
}

const homepage = "https://github.com/org/pr-review-action"
