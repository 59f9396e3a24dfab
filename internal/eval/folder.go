package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	strict "github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
)

// The files of a run's folder, beside its journal. Only keys named for a time
// contain one.
const (
	casesFile    = "cases.jsonl"
	resultsFile  = "results.jsonl"
	reportFile   = "report.json"
	markdownFile = "report.md"
)

// ErrNoRun reports that a folder contains no finished run.
var ErrNoRun = errors.New("it contains no finished run")

// writeRun writes a run's results into its folder. It removes the old report first
// and writes the new one last, so that if there is one, all files belong to its run.
func writeRun(dir string, cases []dataset.Case, results []score.Result, report score.Report) error {
	var all, lines, object bytes.Buffer
	err := dataset.Encode(&all, cases)
	encoder := newEncoder(&lines)
	for _, r := range results {
		err = errors.Join(err, encoder.Encode(r))
	}
	encoder = newEncoder(&object)
	encoder.SetIndent("", "  ")
	if err = errors.Join(err, encoder.Encode(report), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, reportFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{
		{casesFile, all.Bytes()}, {resultsFile, lines.Bytes()}, {markdownFile, []byte(report.Markdown())},
		{reportFile, object.Bytes()},
	} {
		if err := os.WriteFile(filepath.Join(dir, file.name), file.text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func newEncoder(b *bytes.Buffer) *json.Encoder {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e
}

// Kept is a finished run, read from its folder.
type Kept struct {
	Results []score.Result
	Report  score.Report
}

// ReadRun reads a run's results. It returns ErrNoRun if there are none.
func ReadRun(dir string) (Kept, error) {
	text, err := os.ReadFile(filepath.Join(dir, reportFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Kept{}, fmt.Errorf("%s: %w", dir, ErrNoRun)
	}
	if err != nil {
		return Kept{}, fmt.Errorf("reading a run: %w", err)
	}
	var k Kept
	if k.Report, err = score.ReadReport(text); err != nil {
		return Kept{}, fmt.Errorf("reading a run: %s: %w", filepath.Join(dir, reportFile), err)
	}
	k.Results, err = readResults(filepath.Join(dir, resultsFile))
	return k, err
}

func readResults(path string) (all []score.Result, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var r score.Result
		err := strict.Unmarshal(line, &r, strict.RejectUnknownMembers(true))
		if err == nil && r.ID == "" {
			err = errors.New("it names no case")
		}
		if err != nil {
			return nil, fmt.Errorf("reading a run: %s:%d: %w", path, i+1, err)
		}
		all = append(all, r)
	}
	return all, nil
}
