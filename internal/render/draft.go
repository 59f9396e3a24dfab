package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

const (
	draftBytes = 1_000_000 // GitHub drops a step's summary above 1,048,576
	draftFiles = 150_000   // of its list of files, about
	openFirst  = 3         // findings that are never folded
	openGrave  = 10        // findings of at least major that are not folded
	noticesMax = 10
)

// Decide says how a draft is decided.
type Decide struct {
	Code          string
	Kept          bool      // nothing calls a person; the draft can be decided all the same, by route B
	Expires       time.Time // when the draft can no longer be decided
	RetainedUntil time.Time // when the artifact is deleted; zero where unknown
	Environment   string    // route A: the protected environment; empty means route B
	Dispatch      string    // route B: the whole command that approves
	DispatchAbort string    // route B: the whole command that aborts
	Artifact      string    // the artifact's name; empty where unknown
	Elapsed       time.Duration
	Trust         string        // digest, seal or encrypt; empty means digest
	Counts        bool          // nothing of a finding is shown but how many there are
	Show          string        // with Counts: the command that shows the whole draft
	Withdraws     string        // code of the earlier draft that this one replaces, if any
	Extra         cost.MicroUSD // with Withdraws: what drafting again cost
}

// Draft is the job summary of a review that waits for a decision, or that is
// kept without calling a person, in Markdown of under 1 MiB. Findings that do not fit are counted and pointed to.
func Draft(r Review, d Decide) string {
	head := paragraphs(d.title(r), d.why(), r.waiting(d), d.again(), d.retained())
	if d.Counts {
		return paragraphs(head, unreached(r.Files), d.hidden(r), d.section(r), d.footer(r)) + "\n"
	}
	head = paragraphs(head, banner(r.Notices))
	unread, files := coverage(r.Files, draftFiles)
	tail := paragraphs(cmp.Or(unread, unreached(r.Files)), d.section(r), filtered(r.Filtered), files, d.footer(r))
	return paragraphs(head, r.claims(draftBytes-len(head)-len(tail)), tail) + "\n"
}

func (d Decide) title(r Review) string {
	kind, what := "Review", "waits for a decision"
	if r.Partial {
		kind = "Partial review"
	}
	if d.Kept {
		what = "calls nobody"
	}
	return "## " + kind + " of " + r.name() + " " + what + r.byRules(". ")
}

// why says why a kept draft waits for nobody.
func (d Decide) why() string {
	if !d.Kept {
		return ""
	}
	return "Every finding is weaker than what calls a person, so nobody is asked and nothing is posted."
}

func (r Review) byRules(before string) string {
	if !r.Rules {
		return ""
	}
	return before + RulesNotice
}

// waiting is the count line of a draft.
func (r Review) waiting(d Decide) string {
	return strings.Join([]string{
		r.found(),
		r.tally(),
		"code " + guard.Code(d.Code),
		"until " + minute(firstTime(d.Expires, d.RetainedUntil)),
	}, " · ")
}

func banner(notices []string) string {
	var rows []string
	for _, n := range notices[:min(len(notices), noticesMax)] {
		rows = append(rows, "> "+strings.Join(strings.Fields(n), " "))
	}
	if more := len(notices) - noticesMax; more > 0 {
		rows = append(rows, "> "+Count(more, "more notice")+" of this kind.")
	}
	if len(rows) == 0 {
		return ""
	}
	return "> [!WARNING]\n" + strings.Join(rows, "\n>\n")
}

// claims shows findings until limit bytes are used, and counts the others.
func (r Review) claims(limit int) string {
	var blocks []string
	size := 0
	for i, f := range r.Findings {
		block := r.claim(f, folded(i, f))
		if size += len(block) + 2; size > limit {
			blocks = append(blocks, leftOut(r.Findings[i:]))
			break
		}
		blocks = append(blocks, block)
	}
	return paragraphs(blocks...)
}

func folded(i int, f finding.Finding) bool {
	grave := f.Severity.Rank() >= finding.Major.Rank()
	return i >= openFirst && (!grave || i >= openGrave)
}

func (r Review) claim(f finding.Finding, fold bool) string {
	if !fold {
		return paragraphs(fmt.Sprintf("#### %s · %s · %s", f.ID, f.Severity, r.heading(f)), claim(f), r.change(f), r.fate(f))
	}
	place := codeHTML(guard.Line(f.Path, titleRunes))
	if f.Path == "" {
		place = "the pull request"
	} else if l := lines(f); l != "" {
		place += ", " + l
	}
	summary := fmt.Sprintf("%s · %s · %s: %s", f.ID, f.Severity, place, inlineHTML(claimed(f), titleRunes))
	return details(summary, paragraphs(prose(f), r.change(f), r.fate(f)))
}

// fate says how sure the reviewer is and where the finding will stand.
func (r Review) fate(f finding.Finding) string {
	var parts []string
	switch {
	case f.Source == finding.Model:
		parts = append(parts, fmt.Sprintf("confidence %.2f", f.Confidence))
	case !r.Rules:
		parts = append(parts, "found by a rule")
	}
	parts = append(parts, posting(f))
	if f.Note != "" && f.Placement == finding.Inline {
		parts = append(parts, guard.Inline(f.Note, titleRunes))
	}
	return "*" + upperFirst(strings.Join(parts, ", ")) + "*"
}

func posting(f finding.Finding) string {
	switch {
	case f.Placement == finding.Inline && offers(f):
		return "posted inline with this suggestion"
	case f.Placement == finding.Inline:
		return "posted inline"
	case f.Note != "":
		return "in the body, since " + guard.Inline(f.Note, titleRunes)
	}
	return "in the body"
}

// filtered names the findings that were kept out, and why.
func filtered(all []finding.Finding) string {
	if len(all) == 0 {
		return ""
	}
	var rows []string
	for _, f := range all {
		row := fmt.Sprintf("- %s %s %s", f.Severity, guard.Code(position(f))+old(f), title(f))
		if why := f.Note; why != "" {
			row += " (" + guard.Inline(why, titleRunes) + ")"
		}
		rows = append(rows, row)
	}
	return details("Kept out: "+filterCounts(all), strings.Join(rows, "\n"))
}

func filterCounts(all []finding.Finding) string {
	var parts []string
	for _, g := range grouped(all, func(f finding.Finding) finding.Filter { return f.Filtered }) {
		parts = append(parts, fmt.Sprintf("%s %s", Thousands(int64(len(g))), word(string(g[0].Filtered))))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (d Decide) footer(r Review) string {
	var parts []string
	if r.Head != "" {
		parts = append(parts, "commit "+r.commit())
	}
	parts = append(parts, r.bill()...)
	if d.Elapsed > 0 {
		parts = append(parts, duration(d.Elapsed))
	}
	where := "the artifact"
	if d.Artifact != "" {
		where += " " + guard.Code(d.Artifact)
	}
	where = "The review as it will be posted is `review.md` in " + where + "."
	if d.Trust == "encrypt" {
		where = strings.Replace(where, "is `review.md` in", "is encrypted, with all else, in", 1)
	}
	return sentences(sentenceOf(parts), r.reused(), r.moved(), where)
}

// bill is what the run cost, and with which model, in parts of a sentence.
func (r Review) bill() []string {
	parts := spent(r.Usage, r.Limit)
	if r.Model != "" && len(parts) > 0 {
		parts = append(parts, guard.Code(r.Model))
	}
	return parts
}

// sentenceOf makes a sentence of parts, none of none.
func sentenceOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return upperFirst(strings.Join(parts, ", ")) + "."
}
