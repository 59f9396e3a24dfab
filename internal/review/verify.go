package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/prompt"
)

// verify has the findings of severity major or higher looked at again, with the code in view, and
// filters those that the answer refutes. Without a usable answer they stay, with a note. The
// error says that the file was not reached.
func (t *task) verify(ctx context.Context, in prompt.Input, found []finding.Finding) ([]finding.Finding, error) {
	return t.verifyWith(ctx, found, func(claims []finding.Finding, said []string) question {
		in.Pack = slices.Concat(in.Pack, t.cited(ctx, in, claims))
		return question{
			key:     Hash(append(said, t.key, verifying, in.Patch)...),
			request: t.request(prompt.Verifying()),
			user:    func(b guard.Boundary) string { return prompt.Verify(b, in, claims) },
		}
	})
}

// verifyWith verifies the findings of severity major or higher. about builds the question from
// them and the texts that identify them in its key.
func (t *task) verifyWith(ctx context.Context, found []finding.Finding,
	about func(claims []finding.Finding, said []string) question) ([]finding.Finding, error) {
	claims, said, at := severeFindings(found)
	if t.Verify == nil || len(claims) == 0 {
		return found, nil
	}
	q := about(claims, said)
	q.task, q.chat = verifying, t.Options.Verify
	c := &conversation{task: t, next: q}
	text, err := c.run(ctx)
	switch {
	case errors.Is(err, cost.ErrSpent), errors.Is(err, cost.ErrFileSpent):
		t.out.Incomplete = true
		return markUnverified(found, at, "the budget was spent"), nil
	case t.stopError(ctx, err) != nil:
		return nil, t.stopError(ctx, err)
	case err != nil:
		return markUnverified(found, at, "no answer from the second look"), nil
	}
	var v struct {
		Verdicts []verdict `json:"verdicts"`
	}
	if !readJSON(text, &v) {
		return markUnverified(found, at, "the answer cannot be read"), nil
	}
	return t.applyVerdicts(found, at, v.Verdicts), nil
}

// severeFindings returns the findings to verify, the texts that identify them in a key, and their indexes.
func severeFindings(found []finding.Finding) (claims []finding.Finding, said []string, at []int) {
	for i, f := range found {
		if f.Filtered == "" && f.Severity.Rank() >= finding.Major.Rank() {
			claims, at = append(claims, f), append(at, i)
			said = append(said, fmt.Sprintf("%s %d %d %q %q %q", f.Side, f.StartLine, f.Line, f.Quote, f.Title, f.Body))
		}
	}
	return claims, said, at
}

// verdict is a verdict as a model writes it; a nil pointer means a missing key.
type verdict struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Holds  *bool  `json:"holds"`
}

// applyVerdicts filters what a verdict refutes, with its reason as the note. A finding without a verdict, or with
// several, stays.
func (t *task) applyVerdicts(found []finding.Finding, at []int, verdicts []verdict) []finding.Finding {
	for claim, i := range at {
		switch v := verdictOn(prompt.ClaimID(claim), verdicts); {
		case v.Holds == nil:
			markUnverified(found, []int{i}, "the answer has no verdict on it")
		case !*v.Holds:
			found[i].Filtered = finding.Refuted
			addNote(&found[i], cmp.Or(guard.Line(t.Redact.Redact(v.Reason), maxReason), "no reason was given"))
		}
	}
	return found
}

const maxReason = 300 // characters of the reason for a verdict

// verdictOn returns the only verdict on a claim, or an empty one.
func verdictOn(id string, verdicts []verdict) verdict {
	on := slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool { return v.ID != id })
	if len(on) != 1 {
		return verdict{}
	}
	return on[0]
}

func markUnverified(found []finding.Finding, at []int, why string) []finding.Finding {
	for _, i := range at {
		addNote(&found[i], "not verified: "+why)
	}
	return found
}

func addNote(f *finding.Finding, text string) {
	f.Note = strings.TrimPrefix(f.Note+"; "+text, "; ")
}

// readJSON parses a small answer without unknown keys and reports whether it could.
func readJSON(text string, into any) bool {
	return json.Unmarshal([]byte(Unfence(text)), into, json.RejectUnknownMembers(true)) == nil
}

// The limits of what is shown of the places that findings name.
const (
	maxCited   = 6  // places
	citedLines = 40 // of one
	around     = 6  // lines before and after it
)

// places matches path:12 and path:12-18 in a finding's text, and line 12 and lines 12-18 of its own file.
var places = pattern.Lazy(`(?:([\w./@+-]*\w\.\w+):|\blines? )(\d{1,7})(?:[-–](\d{1,7}))?`)

// cited returns the pieces of the new tree that findings name and that neither the diff nor the pack shows, so that
// what proves a finding is there when it is verified.
func (t *task) cited(ctx context.Context, in prompt.Input, claims []finding.Finding) (pieces []prompt.Piece) {
	hunks, _ := diff.Hunks(in.Patch)
	shown := func(path string, line int) bool {
		return path == in.Path && slices.ContainsFunc(hunks, func(h diff.Hunk) bool {
			return slices.ContainsFunc(h.Lines, func(l diff.Line) bool { return l.New == line })
		}) || slices.ContainsFunc(slices.Concat(in.Pack, pieces), func(p prompt.Piece) bool {
			return p.Path == path && p.StartLine <= line && line <= p.EndLine()
		})
	}
	for _, c := range claims {
		for _, m := range places().FindAllStringSubmatch(c.Body, -1) {
			path := cmp.Or(strings.TrimPrefix(m[1], "./"), in.Path)
			first, _ := strconv.Atoi(m[2])
			last, _ := strconv.Atoi(cmp.Or(m[3], m[2]))
			if t.Head == nil || len(pieces) == maxCited || shown(path, first) && shown(path, last) {
				continue
			}
			text, err := t.Head(ctx, path)
			lines := strings.SplitAfter(t.Redact.Redact(string(text)), "\n") // whole: a key's middle looks like text
			if err != nil || first < 1 || last < first || len(lines) < last {
				continue
			}
			from, to := max(1, first-around), min(last+around, first+citedLines, len(lines))
			pieces = append(pieces, prompt.Piece{Path: path, StartLine: from, Why: "cited",
				Text: strings.Join(lines[from-1:to], "")})
		}
	}
	return pieces
}
