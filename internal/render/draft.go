package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

const (
	draftBytes  = 1_000_000 // GitHub drops a step's summary above 1,048,576
	draftFiles  = 150_000   // of its list of files, about
	noticesMax  = 10        // warnings that have a line
	bannerRunes = 100       // of warnings that are not folded, about
	flagRunes   = 120       // of what a flag quotes
)

// Draft is the job summary of a review that waits for a decision, or that is
// kept without calling a person, in Markdown of under 1 MiB. Findings that do not fit are counted and pointed to.
func Draft(r Review, d Decide) string {
	if d.Counts {
		r.Title = ""
		return paragraphs(d.head(r), unreached(r.Files), d.hidden(r), d.footer(r)) + "\n"
	}
	head := paragraphs(d.head(r), banner(r.warnings()), r.overview())
	unread, files := coverage(r.Files, draftFiles)
	handover := ""
	if r.Handover == config.HandoverReview {
		handover = r.handover(false)
	}
	tail := paragraphs(r.asked(), handover, cmp.Or(unread, unreached(r.Files)), r.posted(), r.resolved(),
		filtered(r.Filtered), r.Linters, files, d.footer(r))
	return paragraphs(head, r.claims(draftBytes-len(head)-len(tail)), tail) + "\n"
}

// head is the first screen down to the findings: it says what the change is,
// what was found, and how to decide.
func (d Decide) head(r Review) string {
	return paragraphs(d.title(r), r.subject(), d.why(r), r.countLine(d), d.section(r))
}

func (d Decide) title(r Review) string {
	kind, name, what := "Review", r.name(), "waits for a decision"
	if r.Partial {
		kind = "Partial review"
	}
	if d.Kept {
		what = "calls nobody"
	}
	if r.Round > 0 {
		name += ", " + r.revision() + ","
	}
	return "## " + kind + " of " + name + " " + what + r.byRules(". ")
}

// why says why a kept draft waits for nobody.
func (d Decide) why(r Review) string {
	switch {
	case !d.Kept:
		return ""
	case len(r.Findings) == 0:
		return "There is nothing to post, so nobody is asked."
	}
	return "Every finding is weaker than what calls a person, so nobody is asked and nothing is posted."
}

// countLine is the count line of a draft.
func (r Review) countLine(d Decide) string {
	parts := []string{r.found()}
	if s := r.stands(); s != "" {
		parts = append(parts, s)
	}
	if out := r.unreported(); out != "" {
		parts = append(parts, out)
	}
	parts = append(parts, r.tally()+r.skipped()+r.packed())
	if p := r.price(d.Elapsed); len(p) > 0 {
		parts = append(parts, strings.Join(p, ", "))
	}
	return strings.Join(append(parts, "code "+guard.Code(d.Code),
		"until "+minute(firstTime(d.Expires, d.RetainedUntil))), " · ")
}

// price is what the draft cost, how long it took and which model made it, in
// parts to be joined.
func (r Review) price(elapsed time.Duration) (parts []string) {
	if r.Usage.Cost > 0 || r.Usage.Unpriced > 0 {
		parts = append(parts, price(r.Usage))
	}
	if elapsed > 0 {
		parts = append(parts, duration(elapsed))
	}
	if r.Model != "" && r.Usage.Calls > 0 {
		parts = append(parts, guard.Code(r.Model))
	}
	return parts
}

// warnings are the lines of the banner: the notices, and what each flag says.
func (r Review) warnings() []string {
	all := slices.Clone(r.Notices)
	for _, f := range r.Flags {
		where := "The pull request"
		if f.Path != "" {
			where = fmt.Sprintf("%s line %d", guard.Code(f.Path), f.Line)
		}
		switch text := guard.Line(f.Text, flagRunes); f.Kind {
		case finding.SuppressionFlag:
			all = append(all, where+" "+guard.Inline(text, flagRunes))
		case finding.HiddenFlag:
			all = append(all, where+" hides something: "+guard.Code(text))
		default:
			all = append(all, where+" addresses the reviewer: "+guard.Code(text))
		}
	}
	return all
}

// banner shows the warnings: the first ones as an alert, and in a fold those
// that would push the worst finding off the first screen.
func banner(notices []string) string {
	if len(notices) == 0 {
		return ""
	}
	var open, rest []string
	size := 0
	for i, n := range notices[:min(len(notices), noticesMax)] {
		n = strings.Join(strings.Fields(n), " ")
		if size += utf8.RuneCountInString(n); i == 0 || size <= bannerRunes {
			open = append(open, "> "+n)
		} else {
			rest = append(rest, "- "+n)
		}
	}
	if more := len(notices) - noticesMax; more > 0 {
		rest = append(rest, "- "+Count(more, "more warning")+" of this kind.")
	}
	alert := "> [!WARNING]\n" + strings.Join(open, "\n>\n")
	if len(rest) == 0 {
		return alert
	}
	return paragraphs(alert, details(Count(len(notices)-len(open), "more warning"), strings.Join(rest, "\n")))
}

// claims shows findings until limit bytes are used, and counts the others.
func (r Review) claims(limit int) string {
	var blocks []string
	size := 0
	for i, f := range r.Findings {
		block := r.claim(f, folds(i, f) || r.Unread(f))
		if size += len(block) + 2; size > limit {
			blocks = append(blocks, leftOut(r.Findings[i:]))
			break
		}
		blocks = append(blocks, block)
	}
	return paragraphs(blocks...)
}

// Unread reports whether a finding is of a file that nobody reviewed. It has one
// line in a draft.
func (r Review) Unread(f finding.Finding) bool {
	return slices.ContainsFunc(r.Files, func(of finding.FileReview) bool {
		return of.Path == f.Path && of.State == finding.Skipped
	})
}

func (r Review) claim(f finding.Finding, fold bool) string {
	if !fold {
		return paragraphs(fmt.Sprintf("#### %s · %s · %s", f.ID, f.Severity, r.place(f, shortPath(f.Path))),
			r.told(f, sentence(f)), r.fate(f))
	}
	place := codeHTML(guard.Line(shortPath(f.Path), titleRunes))
	if f.Path == "" {
		place = "the pull request"
	} else if l := lines(f); l != "" {
		place += ", " + l
	}
	summary := fmt.Sprintf("%s · %s · %s: %s", f.ID, f.Severity, place, inlineHTML(claimed(f), titleRunes))
	return details(summary, paragraphs(r.told(f, ""), r.fate(f)))
}

// told is a finding in its order: the claim, the code it is about, why it
// matters, the suggestion. A diff shows code and suggestion in one.
func (r Review) told(f finding.Finding, claim string) string {
	if patch := r.patch(f); patch != "" {
		return paragraphs(inParagraph(claim, prose(f)), patch)
	}
	evidence := r.evidence(f)
	if evidence == "" {
		return paragraphs(inParagraph(claim, prose(f)), replacement(f))
	}
	return paragraphs(claim, evidence, prose(f), replacement(f))
}

// fate says how sure the reviewer is and where the finding will stand.
func (r Review) fate(f finding.Finding) string {
	var parts []string
	switch {
	case f.Source == finding.Model:
		parts = append(parts, fmt.Sprintf("confidence %.2f", f.Confidence))
	case f.Source == finding.Linter:
		parts = append(parts, "found by a linter")
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
	case f.Placement == finding.Inline && f.SuggestionProblem != "":
		return "posted inline, the suggestion as plain code, since " + guard.Inline(f.SuggestionProblem, titleRunes)
	case f.Placement == finding.Inline:
		return "posted inline"
	case f.Note != "":
		return "in the body, since " + guard.Inline(f.Note, titleRunes)
	}
	return "in the body"
}

func (d Decide) footer(r Review) string {
	var parts []string
	if r.Head != "" {
		parts = append(parts, "commit "+r.commit())
	}
	parts = append(parts, calls(r.Usage)...)
	if r.Limit > 0 && r.Usage.Calls > 0 {
		parts = append(parts, "a limit of "+r.Limit.String())
	}
	where := "the artifact"
	if d.Artifact != "" {
		where += " " + guard.Code(d.Artifact)
	}
	where = "The review as it will be posted is `review.md` in " + where + "."
	if d.Trust == "encrypt" {
		where = strings.Replace(where, "is `review.md` in", "is encrypted, with all else, in", 1)
	}
	return sentences(sentenceOf(parts), r.reused(), r.moved(), d.again(), where)
}

// sentenceOf makes a sentence of parts, none of none.
func sentenceOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return upperFirst(strings.Join(parts, ", ")) + "."
}

// again says what became of the draft that this one replaces.
func (d Decide) again() string {
	if d.Withdraws == "" {
		return ""
	}
	more := "nothing"
	if d.Extra > 0 {
		more = d.Extra.String()
	}
	return fmt.Sprintf("Drafted again: the earlier draft %s is withdrawn; this one cost %s more.",
		guard.Code(d.Withdraws), more)
}

// hidden stands in the place of findings and warnings: how to read them.
func (d Decide) hidden(r Review) string {
	text, how, are := "The findings", "This", " are"
	if len(r.Findings) == 1 {
		text, are = "The finding", " is"
	}
	if n := len(r.Notices) + len(r.Flags); n > 0 {
		text, are = text+" and "+Count(n, "warning"), " are"
	}
	if d.Trust == "seal" || d.Trust == "encrypt" {
		how = "With the checkpoint key in `PR_REVIEW_CHECKPOINT_KEY`, this"
	}
	return paragraphs(text+are+" not shown here. "+how+" shows the whole draft:", guard.Fence(d.Show, ""))
}
