package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
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

// verify has the findings of severity major or higher looked at again, with the code in view. It filters those that
// the answer refutes, and leaves out suggestions that mend nothing. Without a usable answer they stay, with a note. The
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
			addNote(&found[i], "its suggestion was left out: the second look found that it does not mend the defect")
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
	maxNamed   = 20 // names of files that are looked for
	citedLines = 60 // of one
	around     = 6  // lines before and after it
)

// places matches path:12 and path:12-18 in a finding's text, line 12 and lines 12-18 of its own file, and the numbers
// that follow, as in `path:12-18`, `30`.
var (
	places = pattern.Lazy("(?:([\\w./@+-]*\\w\\.\\w+):|\\blines? )" +
		"(\\d{1,7}(?:[-–]\\d{1,7})?(?:`?(?:,| and| or) `?\\d{1,7}\\b(?:[-–]\\d{1,7})?)*)")
	ranges = pattern.Lazy(`(\d+)(?:[-–](\d+))?`)
)

// cited returns the pieces of the new tree that findings name and that neither the diff nor the pack shows, so that
// what proves a finding is there when it is verified.
func (t *task) cited(ctx context.Context, in prompt.Input, claims []finding.Finding) (pieces []prompt.Piece) {
	hunks, _ := diff.Hunks(in.Patch)
	shown := func(file string, line int) bool {
		return file == in.Path && slices.ContainsFunc(hunks, func(h diff.Hunk) bool {
			return slices.ContainsFunc(h.Lines, func(l diff.Line) bool { return l.New == line })
		}) || slices.ContainsFunc(slices.Concat(in.Pack, pieces), func(p prompt.Piece) bool {
			return p.Path == file && p.StartLine <= line && line <= p.EndLine()
		})
	}
	read := map[string]namedFile{}
	for _, c := range claims {
		for _, m := range places().FindAllStringSubmatch(c.Body, -1) {
			name := cmp.Or(strings.TrimPrefix(m[1], "./"), in.Path)
			f, ok := read[name]
			if !ok && len(read) < maxNamed && ctx.Err() == nil {
				f = t.named(ctx, in, name)
				read[name] = f
			}
			for _, r := range ranges().FindAllStringSubmatch(m[2], -1) {
				first, _ := strconv.Atoi(r[1])
				last, _ := strconv.Atoi(cmp.Or(r[2], r[1]))
				if len(pieces) == maxCited || first < 1 || last < first || len(f.lines) < last ||
					shown(f.path, first) && shown(f.path, last) {
					continue
				}
				from, to := max(1, first-around), min(last+around, first+citedLines, len(f.lines))
				pieces = append(pieces, prompt.Piece{Path: f.path, StartLine: from, Why: "cited",
					Text: strings.Join(f.lines[from-1:to], "")})
			}
		}
	}
	return pieces
}

// namedFile is a file that a finding names; without lines if there is none.
type namedFile struct {
	path  string
	lines []string
}

// named reads the file of the new tree that a finding means by a name: that path or, as models write it, the end of the
// path of a file that they were shown or read, or the name of one beside theirs.
func (t *task) named(ctx context.Context, in prompt.Input, name string) namedFile {
	known := []string{name, in.Path}
	for _, p := range in.Pack {
		known = append(known, p.Path)
	}
	for _, c := range t.out.Calls {
		for _, made := range c.Tools {
			var read struct {
				Path string `json:"path"`
			}
			_ = json.Unmarshal([]byte(made.Arguments), &read) // a model's words: there may be no path
			known = append(known, read.Path)
		}
	}
	for _, file := range append(known, path.Join(path.Dir(in.Path), name)) {
		if t.Head == nil || !strings.HasSuffix("/"+file, "/"+name) {
			continue
		}
		if text, err := t.Head(ctx, file); err == nil {
			clean := t.Redact.Redact(string(text)) // of the whole file: a key's middle looks like text
			return namedFile{file, strings.SplitAfter(clean, "\n")}
		}
	}
	return namedFile{}
}
