package score

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/guard"
)

// MaxReport bounds the bytes of a report that is read.
const MaxReport = 64 << 20

// ErrOtherCases says that two reports are about different cases, so that their
// figures cannot be held against each other.
var ErrOtherCases = errors.New("the baseline was measured over other cases")

// ErrOtherJudge says that of two reports one was judged and the other was not, or
// by another judge, so that a hit is not the same in both.
var ErrOtherJudge = errors.New("the baseline was judged otherwise")

// ReadReport reads the JSON object of an earlier run. Unknown keys are passed
// over, since a later version may have written them, and only the eight counts
// must be there. A key that stands twice is an error, and so are counts that
// cannot be: the figures decide whether a build passes.
func ReadReport(text []byte) (Report, error) {
	if len(text) > MaxReport {
		return Report{}, fmt.Errorf("the report is larger than %d MiB", MaxReport>>20)
	}
	var keys map[string]jsontext.Value
	if err := json.Unmarshal(text, &keys); err != nil {
		return Report{}, fmt.Errorf("the report is no JSON object: %w", err)
	}
	for _, key := range []string{"cases", "passed", "golden", "hit", "posted", "matched", "clean_cases", "clean_false_positives"} {
		if keys[key].Kind() != '0' {
			return Report{}, fmt.Errorf("the report has no number %q; take the object that \"eval run --json\" printed", key)
		}
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return Report{}, fmt.Errorf("the report is off its form: %w", err)
	}
	r.noJudging = keys["judged"] == nil
	return r, r.possible()
}

// possible refuses parts that are larger than their whole, and numbers below 0.
func (c Counts) possible() error {
	for _, part := range []struct {
		name     string
		n, whole int
	}{
		{"passed", c.Passed, c.Cases},
		{"hit", c.Hit, c.Golden},
		{"matched", c.Matched, c.Posted},
		{"clean_cases", c.CleanCases, c.Cases},
		{"clean_false_positives", c.CleanFalsePositives, c.Posted},
	} {
		if part.n < 0 || part.n > part.whole {
			return fmt.Errorf("the report says %q: %d, which is not from 0 to %d", part.name, part.n, part.whole)
		}
	}
	return nil
}

// Missed says in a sentence each where the report is worse than its baseline by
// more than the tolerance, in percentage points: pass rate, recall, precision,
// and false positives per clean case, of which one point is a hundredth. A
// figure that is undefined on one side is not held against the other. It is
// empty where the baseline is held. It fails with ErrOtherCases or ErrOtherJudge
// where the baseline names cases or a judge and they are others.
func (r Report) Missed(baseline Report, tolerance float64) ([]string, error) {
	if was, is := baseline.Fingerprints["cases"], r.Fingerprints["cases"]; was != "" && is != "" && was != is {
		return nil, fmt.Errorf("%w: %.12s, not %.12s; make a new one with this run's object", ErrOtherCases, was, is)
	}
	if r.otherJudge(baseline) {
		return nil, fmt.Errorf("%w: by %s, and this run by %s; make a new one with this run's object", ErrOtherJudge, baseline.judgedBy(), r.judgedBy())
	}
	now, was := r.Counts, baseline.Counts
	var missed []string
	for _, says := range []string{
		fell("pass rate", share{now.Passed, now.Cases}, share{was.Passed, was.Cases}, tolerance),
		fell("recall", share{now.Hit, now.Golden}, share{was.Hit, was.Golden}, tolerance),
		fell("precision", share{now.Matched, now.Posted}, share{was.Matched, was.Posted}, tolerance),
		rose(share{now.CleanFalsePositives, now.CleanCases}, share{was.CleanFalsePositives, was.CleanCases}, tolerance),
	} {
		if says != "" {
			missed = append(missed, says)
		}
	}
	return missed, nil
}

// otherJudge holds what both reports say of their judges.
func (r Report) otherJudge(baseline Report) bool {
	if !r.noJudging && !baseline.noJudging && r.Judged != baseline.Judged {
		return true
	}
	other := func(was, is string) bool { return was != "" && is != "" && was != is }
	was, is := baseline.Fingerprints, r.Fingerprints
	return other(baseline.Judge, r.Judge) || other(was["judge"], is["judge"]) || other(was["judge_model"], is["judge_model"])
}

func (r Report) judgedBy() string {
	if !r.Judged {
		return "place alone"
	}
	return guard.Line(fmt.Sprintf("%s (%s)", r.Judge, brief(cmp.Or(r.Fingerprints["judge"], "no fingerprint"))), 200)
}

func fell(name string, now, was share, tolerance float64) string {
	if now.of == 0 || was.of == 0 || was.points()-now.points() <= tolerance+slack {
		return ""
	}
	return fmt.Sprintf("%s is %.1f %% (%d of %d), %.1f points below the baseline's %.1f %% (%d of %d); %g are tolerated",
		name, now.points(), now.n, now.of, was.points()-now.points(), was.points(), was.n, was.of, tolerance)
}

func rose(now, was share, tolerance float64) string {
	if now.of == 0 || was.of == 0 || now.points()-was.points() <= tolerance+slack {
		return ""
	}
	return fmt.Sprintf("false positives per clean case are %.2f (%d in %d), above the baseline's %.2f (%d in %d); %.2f more are tolerated",
		now.points()/100, now.n, now.of, was.points()/100, was.n, was.of, tolerance/100)
}
