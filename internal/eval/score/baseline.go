package score

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotComparable reports that two reports are about different cases or had
// different judges, so that a hit does not mean the same in both.
var ErrNotComparable = errors.New("the baseline was measured differently")

// ReadReport reads from the JSON object of an earlier run what a baseline needs:
// counts, fingerprints and judge. It ignores other keys, which another version may
// have written, and requires only the eight counts.
func ReadReport(text []byte) (Report, error) {
	var keys map[string]jsontext.Value
	if err := json.Unmarshal(text, &keys); err != nil {
		return Report{}, fmt.Errorf("the report is not a JSON object: %w", err)
	}
	for _, key := range []string{"cases", "passed", "golden", "hit", "posted", "matched", "clean_cases",
		"clean_false_positives"} {
		if keys[key].Kind() != '0' {
			return Report{}, fmt.Errorf("the report has no number %q; take the object that \"eval run --json\" printed",
				key)
		}
	}
	var kept struct {
		Counts
		Fingerprints map[string]string `json:"fingerprints"`
		Judge        string            `json:"judge"`
		Asked        TicketScore       `json:"asked"`
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return Report{}, fmt.Errorf("the report is off its form: %w", err)
	}
	about := About{Fingerprints: kept.Fingerprints, Judge: kept.Judge}
	return Report{Counts: kept.Counts, About: about, Asked: &kept.Asked}, nil
}

// Comparable returns ErrNotComparable if a run with these fingerprints has other cases or another
// judge than r.
func (r Report) Comparable(fingerprints map[string]string) error {
	for _, what := range []string{"cases", "judge"} {
		was, is := r.Fingerprints[what], fingerprints[what]
		if len(r.Fingerprints) > 0 && was != is {
			return fmt.Errorf("%w: its %s is %.12q, not %.12q", ErrNotComparable, what, was, is)
		}
	}
	return nil
}

// Missed returns a sentence for each figure that is worse than in the baseline by more than
// the tolerance, in percentage points. It does not compare a figure that is undefined on one
// side.
func (r Report) Missed(baseline Report, tolerance float64) (missed []string) {
	now, was := r.Counts, baseline.Counts
	asked, before := cmp.Or(r.Asked, &TicketScore{}), cmp.Or(baseline.Asked, &TicketScore{})
	for _, figure := range []struct {
		name               string
		n, of, wasN, wasOf int
		better             float64 // 1 where more is better, otherwise -1
	}{
		{"pass rate", now.Passed, now.Cases, was.Passed, was.Cases, 1},
		{"recall", now.Hit, now.Golden, was.Hit, was.Golden, 1},
		{"precision", now.Matched, now.Posted, was.Matched, was.Posted, 1},
		{"findings per hundred clean cases", now.CleanFalsePositives, now.CleanCases, was.CleanFalsePositives,
			was.CleanCases, -1},
		{"verdicts on criteria", asked.Right, asked.Criteria, before.Right, before.Criteria, 1},
		{"evidence of criteria", asked.Evidenced, asked.Met, before.Evidenced, before.Met, 1},
		{"parts nobody asked for", asked.Named, asked.Unasked, before.Named, before.Unasked, 1},
	} {
		is, before := 100*float64(figure.n)/float64(figure.of), 100*float64(figure.wasN)/float64(figure.wasOf)
		if figure.of == 0 || figure.wasOf == 0 || figure.better*(before-is) <= tolerance+rounding {
			continue
		}
		missed = append(missed, fmt.Sprintf("%s: %.1f (%d of %d), in the baseline %.1f (%d of %d); %g points are "+
			"tolerated",
			figure.name, is, figure.n, figure.of, before, figure.wasN, figure.wasOf, tolerance))
	}
	return missed
}

// rounding allows for the error of binary fractions: from 80 % to 75 % must not
// count as more than 5 points.
const rounding = 1e-9
