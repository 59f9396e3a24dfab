package score

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
)

// FileAnswers holds the texts of all answers about a reviewed file, in the order in
// which they were requested, and the review that the reviewer made of them.
type FileAnswers struct {
	Answers []string // untrusted text
	Review  finding.FileReview
}

// Pipeline holds what the stages worked on, and the known findings.
type Pipeline struct {
	Golden     []dataset.Golden
	Files      []FileAnswers
	Aggregated []finding.Finding // of all files; filtered ones are marked
	Cut        []finding.Finding // kept findings that the posted review does not contain, from render.Cut
}

// Trace returns the findings that were lost, in the order of the stages, and those
// that were moved. A finding is in at most one of the lists, and in neither if the
// review has it where the model placed it.
func Trace(in Pipeline) (lost, moved []Loss) {
	for _, f := range in.Files {
		lost = append(lost, lostInParse(f)...)
	}
	for _, f := range in.Aggregated {
		switch l := in.lossOf(f); l.Stage {
		case "":
		case StageAnchor:
			moved = append(moved, l)
		default:
			lost = append(lost, l)
		}
	}
	order.Stable(lost, func(a, b Loss) int {
		return slices.Index(Stages(), a.Stage) - slices.Index(Stages(), b.Stage)
	})
	for _, all := range [][]Loss{lost, moved} {
		for i := range all {
			all[i].Known = slices.ContainsFunc(in.Golden, func(g dataset.Golden) bool { return near(all[i], g) })
		}
	}
	return lost, moved
}

// StageOf returns the earliest stage at which a finding near a known one was lost,
// or "" for none. Nobody has judged whether the two mean the same defect.
func StageOf(lost []Loss, g dataset.Golden) string {
	if i := slices.IndexFunc(lost, func(l Loss) bool { return near(l, g) }); i >= 0 {
		return lost[i].Stage
	}
	return ""
}

// near reports whether the matching rule pairs the two. A loss without a line is near nothing.
func near(l Loss, g dataset.Golden) bool {
	distance, _ := nearestPlace(g, l.Path, l.StartLine, l.Line)
	return l.Line > 0 && distance <= margin
}

// lossOf returns the stage that removed or moved a finding. Stage is empty if none did.
func (in Pipeline) lossOf(f finding.Finding) Loss {
	l := Loss{Path: f.Path, StartLine: cmp.Or(f.StartLine, f.Line), Line: f.Line, Severity: f.Severity, Title: f.Title,
		Why: f.Note}
	switch {
	case f.Filtered == finding.Duplicate && in.byRule(f): // posted as a rule's finding
	case f.Filtered != "":
		l.Stage = stages[f.Filtered]
	case slices.ContainsFunc(in.Cut, func(c finding.Finding) bool { return c.ID == f.ID }):
		l.Stage, l.Why = StageCap, "the review's body has no room for it"
	case f.Placement == finding.Body:
		l.Stage = StageAnchor
	}
	return l
}

// stages lacks the filters that lose nothing: posted together with others, or left out by the settings.
var stages = map[finding.Filter]string{finding.Misquoted: StageQuote, finding.Refuted: StageVerify,
	finding.LowConfidence: StageThreshold, finding.Duplicate: StageDedupe}

func (in Pipeline) byRule(f finding.Finding) bool {
	return slices.ContainsFunc(in.Aggregated, func(r finding.Finding) bool {
		return r.Source == finding.Rule && r.Filtered == "" && r.Path == f.Path && r.StartLine <= f.Line &&
			f.StartLine <= r.Line
	})
}

// lostInParse returns the findings in a file's answers that its review does not contain.
func lostInParse(f FileAnswers) (lost []Loss) {
	if len(f.Answers) == 1 && f.Review.State == finding.Reviewed {
		return nil // the only answer was parsed completely
	}
	var most []Loss // of the answer with the most; ties go to the last: a broken answer and its retry count once
	for _, text := range f.Answers {
		if found := scan(text); len(found) >= len(most) {
			most = found
		}
	}
	lost = unmatched(most, slices.Clone(f.Review.Findings))
	for i := range lost {
		lost[i].Stage, lost[i].Path = StageParse, f.Review.Path
		lost[i].Why = cmp.Or(string(f.Review.Reason), "the answer that was used does not contain it")
	}
	return lost
}

// unmatched removes the claims that match a finding, one finding each, with the most
// certain matches first: a retried answer may have other words or another line.
func unmatched(claims []Loss, read []finding.Finding) []Loss {
	title := func(c Loss, f finding.Finding) bool { return c.Title == oneLine(f.Title) }
	line := func(c Loss, f finding.Finding) bool { return c.Line == f.Line }
	for _, same := range []func(Loss, finding.Finding) bool{
		func(c Loss, f finding.Finding) bool { return title(c, f) && line(c, f) }, title, line,
	} {
		claims = slices.DeleteFunc(claims, func(c Loss) bool {
			i := slices.IndexFunc(read, func(f finding.Finding) bool { return same(c, f) })
			if i >= 0 {
				read = slices.Delete(read, i, i+1)
			}
			return i >= 0
		})
	}
	return claims
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// member matches the JSON members that tell findings apart. Members quoted inside a string
// have escaped quotes and do not match. A value that is not a complete string matches partly.
var member = pattern.Lazy(`"(title|line|start_line|severity)"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}\s]*)`)

// scan extracts the findings from an answer even if it is broken or cut off. A new finding
// begins where a member occurs for the second time. Only one with a title or a line counts.
// scan skips what precedes the list of findings.
func scan(text string) (found []Loss) {
	if _, list, ok := strings.Cut(text, `"findings"`); ok {
		text = list
	}
	one, has := Loss{}, map[string]bool{}
	end := func() {
		if one.StartLine == 0 || one.StartLine > one.Line {
			one.StartLine = one.Line
		}
		if has["title"] || has["line"] {
			found = append(found, one)
		}
		one, has = Loss{}, map[string]bool{}
	}
	for _, m := range member().FindAllStringSubmatch(text, -1) {
		if has[m[1]] {
			end()
		}
		has[m[1]] = true
		one.set(m[1], m[2])
	}
	end()
	return found
}

// set sets the field for a member. The value is a JSON string or number.
func (l *Loss) set(key, value string) {
	if strings.HasPrefix(value, `"`) {
		text, _ := jsontext.AppendUnquote(nil, value) // a broken string gives what can be read
		value = string(text)
	}
	number, _ := strconv.ParseInt(value, 10, 32)
	switch key {
	case "title":
		l.Title = oneLine(value)
	case "line":
		l.Line = max(0, int(number))
	case "start_line":
		l.StartLine = max(0, int(number))
	case "severity":
		l.Severity, _ = finding.ParseSeverity(value)
	}
}
