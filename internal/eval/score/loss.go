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
	"github.com/org/pr-review-action/internal/wording"
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
	case f.Filtered == finding.Misquoted:
		l.Stage = StageQuote
	case f.Filtered == finding.Refuted:
		l.Stage = StageVerify
	case f.Filtered == finding.LowConfidence:
		l.Stage = StageThreshold
	case f.Filtered == finding.Duplicate && in.byRule(f): // posted as a rule's finding
	case f.Filtered == finding.Duplicate:
		l.Stage = StageDedupe
	case f.Filtered == finding.Repeat: // posted together with others
	case f.Filtered != "": // dropped by a person, not by a stage
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

// lostInParse returns the findings in a file's answers that its review does not contain.
func lostInParse(f FileAnswers) (lost []Loss) {
	if len(f.Answers) == 1 && f.Review.State == finding.Reviewed {
		return nil // the only answer was parsed completely
	}
	for _, c := range unmatched(mostClaims(f.Answers), slices.Clone(f.Review.Findings)) {
		lost = append(lost, Loss{
			Stage: StageParse, Path: f.Review.Path, StartLine: c.start, Line: c.line, Severity: c.severity,
			Title: c.title,
			Why:   cmp.Or(string(f.Review.Reason), "the answer that was used does not contain it"),
		})
	}
	return lost
}

// mostClaims returns the findings of the answer with the most; ties go to the last.
// So a broken answer and its retry count once.
func mostClaims(answers []string) (most []claim) {
	for _, text := range answers {
		if found := scan(text); len(found) >= len(most) {
			most = found
		}
	}
	return most
}

// unmatched removes the claims that match a finding, one finding each, with the most
// certain matches first: a retried answer may have other words or another line.
func unmatched(claims []claim, read []finding.Finding) []claim {
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

// The bounds of a scan. No answer of the reviewer's model is longer than maxText, and
// one with more than 100 findings is refused. scan ignores claims beyond maxClaims.
const (
	maxText   = 2 << 20 // bytes
	maxClaims = 1_000
	maxTitle  = 400 // characters
	maxLine   = 10_000_000
)

// claim is a finding as an answer contains it, as far as it can be parsed.
type claim struct {
	title       string // on one line
	start, line int    // 0 for none
	severity    finding.Severity
}

// member matches the JSON members that tell findings apart. Members quoted inside a string
// have escaped quotes and do not match. A value that is not a complete string matches partly.
var member = pattern.Lazy(`"(title|line|start_line|severity)"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}\s]*)`)

// scan extracts the findings from an answer even if it is broken or cut off. A new finding
// begins where a member occurs for the second time. Only one with a title or a line counts.
// scan skips what precedes the list of findings.
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
	for _, m := range member().FindAllStringSubmatch(text, 4*maxClaims) {
		if has[m[1]] {
			end()
		}
		has[m[1]] = true
		c.set(m[1], m[2])
	}
	end()
	return found[:min(len(found), maxClaims)]
}

// set sets the field for a member. The value is a JSON string or number.
func (c *claim) set(key, value string) {
	if strings.HasPrefix(value, `"`) {
		text, _ := jsontext.AppendUnquote(nil, value) // a broken string gives what can be read
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

// lineNumber parses a line number. It returns 0 if text is none.
func lineNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > maxLine {
		return 0
	}
	return n
}
