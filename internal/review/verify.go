package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/prompt"
)

// verify has the findings of severity major or higher looked at again, with the code in view. It filters those that
// the answer refutes, and leaves out suggestions that fix nothing. Without a usable answer they stay, with a note. The
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
	markWithdrawn(found)
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

// withdrawn matches the body of a finding that looks into a suspicion and ends by saying that nothing is wrong.
var withdrawn = pattern.Lazy(`(?i)(?:^|[.;!?,—–-]\s+|\n\s*)` +
	`(?:(?:so|thus|therefore|hence|but|however|actually|overall|in fact|on reflection|conclusion)[,:]?\s+)*` +
	`(?:(?:this|that|it|there)(?:\s+(?:is|was)|'s)\s+)?(?:no|not an?)\s+(?:(?:actual|real|new)\s+)?` +
	`(?:finding|defect|bug|issue|problem)s?(?:\s+(?:here|found|remains?|to report|after all))?[\s\pP\pS]*$`)

// markWithdrawn filters the findings whose own text withdraws them.
func markWithdrawn(found []finding.Finding) {
	for i := range found {
		if f := &found[i]; f.Filtered == "" && withdrawn().MatchString(f.Body) {
			f.Filtered = finding.LowConfidence
			addNote(f, "its own text ends by saying that nothing is wrong")
		}
	}
}

// severeFindings returns the findings to verify, the texts that identify them in a key, and their indexes.
func severeFindings(found []finding.Finding) (claims []finding.Finding, said []string, at []int) {
	for i, f := range found {
		if f.Filtered == "" && f.Severity.Rank() >= finding.Major.Rank() {
			claims, at = append(claims, f), append(at, i)
			said = append(said, fmt.Sprintf("%s %d %d %q", f.Side, f.StartLine, f.Line,
				[]string{f.Quote, f.Title, f.Body, f.Suggestion}))
		}
	}
	return claims, said, at
}

// verdict is a verdict as a model writes it; a nil pointer means a missing key.
type verdict struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Holds  *bool  `json:"holds"`
	Mends  *bool  `json:"suggestion_mends"`
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
		case v.Mends != nil && !*v.Mends && found[i].Suggestion != "" && found[i].SuggestionProblem == "":
			found[i].Suggestion = ""
			addNote(&found[i], "its suggestion was left out: the second look found that it does not fix the defect")
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
