package score

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/wording"
)

// FileAnswers are the texts of all answers about a reviewed file in the order in
// which they were asked for, and what the reviewer made of them.
type FileAnswers struct {
	Answers []string // untrusted text
	Review  finding.FileReview
}

// Pipeline is what the stages had before them, and what there was to be found.
type Pipeline struct {
	Golden     []dataset.Golden
	Files      []FileAnswers
	Aggregated []finding.Finding // of all files, the filtered ones marked
	Cut        []finding.Finding // those kept that the posted review does not hold; render.Cut gives them
}

// Trace gives the findings that were lost, in the order of the stages, and those
// that were moved. A finding is in one of the two at most, and in none where it
// stands in the review as the model placed it.
func Trace(in Pipeline) (lost, moved []Loss) {
	for _, f := range in.Files {
		lost = append(lost, unread(f)...)
	}
	for _, f := range in.Aggregated {
		switch l := in.fate(f); l.Stage {
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

// StageOf is the earliest stage at which a finding near a known one was lost, ""
// for none. Whether the two mean the same defect nobody has judged.
func StageOf(lost []Loss, g dataset.Golden) string {
	if i := slices.IndexFunc(lost, func(l Loss) bool { return near(l, g) }); i >= 0 {
		return lost[i].Stage
	}
	return ""
}

// near is the matching rule's. A loss without a line stood nowhere.
func near(l Loss, g dataset.Golden) bool {
	distance, _ := apart(g, l.Path, l.StartLine, l.Line)
	return l.Line > 0 && distance <= margin
}

// fate says which stage took a finding out or moved it; none has no stage.
func (in Pipeline) fate(f finding.Finding) Loss {
	l := Loss{Path: f.Path, StartLine: cmp.Or(f.StartLine, f.Line), Line: f.Line, Severity: f.Severity, Title: f.Title,
		Why: f.Note}
	switch {
	case f.Filtered == finding.Misquoted:
		l.Stage = StageQuote
	case f.Filtered == finding.Refuted:
		l.Stage = StageVerify
	case f.Filtered == finding.LowConfidence:
		l.Stage = StageThreshold
	case f.Filtered == finding.Duplicate && in.byRule(f): // it is said, by a rule
	case f.Filtered == finding.Duplicate:
		l.Stage = StageDedupe
	case f.Filtered == finding.Repeat: // it is said, with others
	case f.Filtered != "": // dropped by a person, which no stage can help
	case slices.ContainsFunc(in.Cut, func(c finding.Finding) bool { return c.ID == f.ID }):
		l.Stage, l.Why = StageCap, "the review's body has no room for it"
	case f.Placement == finding.Body:
		l.Stage = StageAnchor
	}
	return l
}

func (in Pipeline) byRule(f finding.Finding) bool {
	return slices.ContainsFunc(in.Aggregated, func(r finding.Finding) bool {
		return r.Source == finding.Rule && r.Filtered == "" && r.Path == f.Path && r.StartLine <= f.Line &&
			f.StartLine <= r.Line
	})
}

// unread gives the findings in a file's answers that its review does not hold.
func unread(f FileAnswers) (lost []Loss) {
	if len(f.Answers) == 1 && f.Review.State == finding.Reviewed {
		return nil // the one answer was read to its end
	}
	for _, c := range without(produced(f.Answers), slices.Clone(f.Review.Findings)) {
		lost = append(lost, Loss{
			Stage: StageParse, Path: f.Review.Path, StartLine: c.start, Line: c.line, Severity: c.severity,
			Title: c.title,
			Why:   cmp.Or(string(f.Review.Reason), "the answer that was used does not contain it"),
		})
	}
	return lost
}

// produced gives the findings of the answer that holds most. Of equals it is the
// last: a broken answer written again counts once.
func produced(answers []string) (most []claim) {
	for _, text := range answers {
		if found := scan(text); len(found) >= len(most) {
			most = found
		}
	}
	return most
}

// without takes out the claims that stand among the findings, each for one, and
// the surest matches first: an answer that was written again may have other
// words or another line.
func without(claims []claim, read []finding.Finding) []claim {
	title := func(c claim, f finding.Finding) bool { return c.title == oneLine(f.Title) }
	line := func(c claim, f finding.Finding) bool { return c.line == f.Line }
	for _, same := range []func(claim, finding.Finding) bool{
		func(c claim, f finding.Finding) bool { return title(c, f) && line(c, f) }, title, line,
	} {
		claims = slices.DeleteFunc(claims, func(c claim) bool {
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

// The bounds of a scan. An answer of the reviewer's model is no longer, and one
// with more than 100 findings is refused; further ones are not counted.
const (
	maxText   = 2 << 20 // bytes
	maxClaims = 1_000
	maxTitle  = 400 // characters
	maxLine   = 10_000_000
)

// claim is a finding as an answer holds it, as far as it can be read.
type claim struct {
	title       string // on one line
	start, line int    // 0 for none
	severity    finding.Severity
}

// member fits a member of a finding that tells it from others. What is quoted inside a
// text has its quotes escaped and does not fit. A value that is no whole text is taken as it begins.
var member = regexp.MustCompile(`"(title|line|start_line|severity)"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}\s]*)`)

// scan reads the findings out of an answer, whatever else is wrong with it, also where it
// was cut off. A finding begins where a member stands for the second time, and has a title
// or a line. What stands before a list of findings is none.
func scan(text string) (found []claim) {
	var c claim
	var has map[string]bool
	end := func() {
		if c.start == 0 || c.start > c.line {
			c.start = c.line
		}
		if has["title"] || has["line"] {
			found = append(found, c)
		}
		c, has = claim{}, map[string]bool{}
	}
	end()
	text = text[:min(len(text), maxText)]
	if _, list, ok := strings.Cut(text, `"findings"`); ok {
		text = list
	}
	for _, m := range member.FindAllStringSubmatch(text, 4*maxClaims) {
		if has[m[1]] {
			end()
		}
		has[m[1]] = true
		c.set(m[1], m[2])
	}
	end()
	return found[:min(len(found), maxClaims)]
}

// set takes in the value of a member, a text or a number.
func (c *claim) set(key, value string) {
	if strings.HasPrefix(value, `"`) {
		text, _ := jsontext.AppendUnquote(nil, value) // of a broken one, what can be read
		value = string(text)
	}
	switch key {
	case "title":
		title, _ := wording.Clip(value, maxTitle)
		c.title = oneLine(title)
	case "line":
		c.line = lineNumber(value)
	case "start_line":
		c.start = lineNumber(value)
	case "severity":
		c.severity, _ = finding.ParseSeverity(value)
	}
}

// lineNumber reads a line number, 0 for what is none.
func lineNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > maxLine {
		return 0
	}
	return n
}
