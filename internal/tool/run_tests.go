package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/secret"
)

// Limits of what run_tests shows of checks.
const (
	maxChecks      = 60 // check runs and statuses that are listed; the failed ones first
	maxAnnotated   = 10 // failed checks whose annotations are read
	maxAnnotations = 20 // of one check
	maxReport      = 32 << 10
)

// TestSources configures where run_tests looks. Empty sources are skipped.
type TestSources struct {
	API              *github.Client
	Owner, Repo, SHA string // the head commit whose checks and statuses API reads

	Workspace string // folder that is searched for Glob
	Glob      string // of JUnit XML and go test -json files; "" reads none
}

// RunTests returns the tool run_tests. It reports what checks and result files tell about the head
// commit's tests, and runs nothing. A source that fails is reported as failed among the others.
// The result is the same for every call.
func RunTests(o TestSources) Tool {
	var (
		turn   sync.Mutex
		report string
	)
	return New("run_tests", "Reports the tests of the change: check runs and statuses of the head commit with their "+
		"annotations, and result files of the job.",
		func(ctx context.Context, _ struct{}) (string, error) {
			turn.Lock()
			defer turn.Unlock()
			if report != "" {
				return report, nil
			}
			text, err := o.report(ctx)
			if err == nil {
				report = text
			}
			return text, err
		},
	).Within(maxReport)
}

func (o TestSources) report(ctx context.Context) (string, error) {
	var b strings.Builder
	part := func(what string, read func() (string, error)) {
		text, err := read()
		b.WriteString(text)
		if err != nil {
			fmt.Fprintf(&b, "%s cannot be told: %s\n", what, safeLine(err.Error()))
		}
	}
	if o.API != nil {
		part("Check runs", func() (string, error) { return o.checks(ctx) })
		part("Commit statuses", func() (string, error) { return o.statuses(ctx) })
	}
	if o.Glob != "" {
		part("Result files", o.files)
	}
	if b.Len() == 0 {
		return "", errors.New("nothing is known of the tests here: no checks, no result files")
	}
	return b.String(), ctx.Err()
}

// checks lists the check runs, failed ones first and with annotations.
func (o TestSources) checks(ctx context.Context) (string, error) {
	all, more, err := o.API.Checks(ctx, o.Owner, o.Repo, o.SHA)
	if err != nil {
		return "", err
	}
	var failed, others []string
	for _, k := range all {
		line := checkLine(k)
		if !k.Failed() {
			others = append(others, line)
			continue
		}
		if k.Annotations > 0 && len(failed) < maxAnnotated {
			line += o.annotations(ctx, k.ID)
		}
		failed = append(failed, line)
	}
	return formatList("Check runs of the head commit", append(failed, others...), more), nil
}

func checkLine(k github.Check) string {
	line := fmt.Sprintf("- %s: %q", guard.Line(cmp.Or(k.Conclusion, k.Status), 40),
		guard.Line(secret.Redact(k.Name), 200))
	if k.App != "" {
		line += fmt.Sprintf(" by %q", guard.Line(secret.Redact(k.App), 60))
	}
	line += "\n"
	if text := strings.TrimSpace(k.Title + "\n" + k.Summary); k.Failed() && text != "" {
		line += withBars(text, maxMessage)
	}
	return line
}

func (o TestSources) annotations(ctx context.Context, check int64) string {
	notes, more, err := o.API.Annotations(ctx, o.Owner, o.Repo, check)
	if err != nil {
		return fmt.Sprintf("  its annotations cannot be told: %s\n", safeLine(err.Error()))
	}
	var b strings.Builder
	shown := min(len(notes), maxAnnotations)
	for _, a := range notes[:shown] {
		fmt.Fprintf(&b, "  - %s on %q line %d\n", guard.Line(a.Level, 20), safeLine(a.Path), a.StartLine)
		b.WriteString(withBars(strings.TrimSpace(a.Title+"\n"+a.Message), maxMessage))
	}
	if more || shown < len(notes) {
		b.WriteString("  - and more annotations\n")
	}
	return b.String()
}

func (o TestSources) statuses(ctx context.Context) (string, error) {
	all, more, err := o.API.CommitStatuses(ctx, o.Owner, o.Repo, o.SHA)
	if err != nil {
		return "", err
	}
	var bad, others []string
	for _, s := range all {
		line := fmt.Sprintf("- %s: %q, %q\n", guard.Line(s.State, 40), guard.Line(secret.Redact(s.Context), 200),
			guard.Line(secret.Redact(s.Description), 200))
		if s.State == "failure" || s.State == "error" {
			bad = append(bad, line)
			continue
		}
		others = append(others, line)
	}
	return formatList("Statuses of the head commit", append(bad, others...), more), nil
}

// formatList formats the first maxChecks entries of a list.
func formatList(title string, entries []string, more bool) string {
	shown := min(len(entries), maxChecks)
	text := fmt.Sprintf("%s (%d):\n%s", title, len(entries), strings.Join(entries[:shown], ""))
	if more || shown < len(entries) {
		text += "- and others, which are not shown\n"
	}
	return text
}

// files reads the result files. The workspace is opened as a root that no path and no link can
// leave.
func (o TestSources) files() (string, error) {
	root, err := os.OpenRoot(o.Workspace)
	if err != nil {
		return "", errors.New("the workspace cannot be opened")
	}
	defer root.Close()
	glob := o.Glob
	if dir, err := filepath.Abs(o.Workspace); err == nil && filepath.IsAbs(glob) {
		if inside, err := filepath.Rel(dir, glob); err == nil {
			glob = inside
		}
	}
	return readResults(root.FS(), path.Clean(filepath.ToSlash(glob)))
}
