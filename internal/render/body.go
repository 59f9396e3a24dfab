package render

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	bodyBytes = 60_000 // of the posted review's body; GitHub accepts 65,536
	bodyFiles = 16_000 // of its list of files, about
)

// Body returns the posted review's body without approval line and marker, at most 60,000
// bytes of Markdown. Findings that do not fit are left out as a whole and counted.
func Body(r Review) string {
	body, _ := fitBody(r)
	return body
}

// Cut returns the findings that the posted review lacks: those placed in the body for which
// Body has no room. Inline comments are posted anyway.
func Cut(r Review) []finding.Finding {
	_, cut := fitBody(r)
	return withPlacement(cut, finding.Body)
}

// InBody returns the review with every finding placed in the body, to be posted if GitHub
// refuses the inline comments.
func (r Review) InBody() Review {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		r.Findings[i].Placement = finding.Body
	}
	return r
}

// File returns the text of review.md: the body and every inline comment byte for byte, what
// was cut for length, and what is posted instead if GitHub refuses the inline comments.
func File(r Review) string {
	body, cut := fitBody(r)
	blocks := []string{body}
	inline := withPlacement(r.Findings, finding.Inline)
	if len(inline) > 0 {
		blocks = append(blocks, "## Inline comments")
	}
	for _, f := range inline {
		blocks = append(blocks, "### "+r.placeText(f, f.Path), Comment(f))
	}
	if cut = withPlacement(cut, finding.Body); len(cut) > 0 {
		blocks = append(blocks, "## Left out of the review for its length", r.sections(cut))
	}
	if len(inline) > 0 {
		blocks = append(blocks, Details("Posted instead if GitHub refuses the inline comments", Body(r.InBody())+"\n"))
	}
	return Paragraphs(blocks...) + "\n"
}

// fitBody renders the body with as many findings as fit, and returns the others.
func fitBody(r Review) (string, []finding.Finding) {
	head := Paragraphs(wording.Joined(" · ", r.Found(), r.Stands(), r.TallyAt())+r.ByRules(" · "), r.postedOverview())
	files := Paragraphs(r.Instructions(config.HandoverReview, true), r.postedAsked(),
		Paragraphs(r.FileLists(bodyFiles)))
	p := partsOf(r.Findings)
	all := slices.Concat(p.inline, p.moreInline, p.open, p.more, p.nits, p.linters)
	texts := map[*finding.Finding]string{} // p's lists stay where they are, while many lengths of them are tried
	sections := func(all []finding.Finding) string {
		return sectionsOf(all, func(f *finding.Finding) string {
			if _, ok := texts[f]; !ok {
				texts[f] = r.section(*f)
			}
			return texts[f]
		})
	}
	first := func(n int) string {
		q := p.first(n)
		return Paragraphs(head, r.items(q.inline), foldUnlessEmpty(q.moreInline, "more comment", r.items),
			sections(q.open), r.Resolved(),
			foldUnlessEmpty(q.more, "more finding", sections), foldUnlessEmpty(q.nits, "nit", sections),
			byLinters(q.linters, sections), leftOut(all[n:]), files)
	}
	if body := first(len(all)); len(body) <= bodyBytes {
		return body, nil
	}
	tooMany := sort.Search(len(all), func(n int) bool { return len(first(n)) > bodyBytes })
	n := max(0, tooMany-1)
	return first(n), all[n:]
}

func byLinters(all []finding.Finding, show func([]finding.Finding) string) string {
	if len(all) <= openFirst {
		return show(all)
	}
	return Details(wording.Count(len(all), "finding")+" of linters", show(all))
}

// leftOut counts the findings that did not fit and says where they are.
func leftOut(cut []finding.Finding) string {
	if len(cut) == 0 {
		return ""
	}
	return fmt.Sprintf("**%s not shown here for length** (%s): they are in the draft: `review.md` in its "+
		"artifact, unless that is encrypted.",
		wording.Count(len(cut), "finding"), finding.Counts(cut))
}

// Found returns the Result in bold, with the number of resolved findings.
func (r Review) Found() string {
	return wording.Joined(" · ", "**"+wording.UpperFirst(r.Result())+"**", r.Settled())
}

// NoRuleMatched is the result of a review by rules that found nothing.
const NoRuleMatched = "no rule matched; no model read these files"

// Result returns "1 blocker, 2 major". It does not claim that nothing was found if no file could be
// reviewed, the approver dropped all findings, or all were known before.
func (r Review) Result() string {
	byApprover := func(f finding.Finding) bool { return f.Filtered == finding.Dropped }
	known := func(f finding.Finding) bool {
		return slices.Contains([]finding.Filter{finding.AlreadyPosted, finding.AlreadyCommented, finding.DroppedBefore},
			f.Filtered)
	}
	read := inState(r.Files, finding.Reviewed) + inState(r.Files, finding.Partly)
	switch {
	case len(r.Findings) > 0:
		return finding.Counts(r.Findings)
	case slices.ContainsFunc(r.Filtered, byApprover):
		return "no finding was kept"
	case len(r.NewlyResolved()) > 0 || slices.ContainsFunc(r.Filtered, known):
		return "nothing new"
	case r.Unreported() != "":
		return "nothing to report"
	case read == 0 && inState(r.Files, finding.Failed)+inState(r.Files, finding.NotReached)+r.Unlisted > 0:
		return "no file was reviewed"
	case r.Rules:
		return NoRuleMatched
	}
	return finding.Counts(nil)
}

// TallyAt returns the tally with the commit that was read.
func (r Review) TallyAt() string {
	if r.Head == "" {
		return r.Tally()
	}
	return strings.Replace(r.Tally(), " reviewed", " reviewed at "+r.Commit(), 1)
}

func (r Review) items(all []finding.Finding) string {
	var items []string
	for _, f := range all {
		place := r.link(guard.Code(position(f)), f) + oldSuffix(f)
		items = append(items, fmt.Sprintf("- **%s** %s %s", f.Severity, place, Title(f)))
	}
	return strings.Join(items, "\n")
}

func (r Review) sections(all []finding.Finding) string {
	return sectionsOf(all, func(f *finding.Finding) string { return r.section(*f) })
}

// sectionsOf puts the findings' sections under headings of their files.
func sectionsOf(all []finding.Finding, section func(*finding.Finding) string) string {
	var blocks []string
	for i := range all {
		f := &all[i]
		switch {
		case i > 0 && f.Path == all[i-1].Path:
		case f.Path == "":
			blocks = append(blocks, "#### The pull request")
		default:
			blocks = append(blocks, "#### "+guard.Code(f.Path))
		}
		blocks = append(blocks, section(f))
	}
	return Paragraphs(blocks...)
}

func (r Review) section(f finding.Finding) string {
	head := gradedTitle(f)
	if l := lines(f); l != "" {
		head += " · " + r.link(l, f)
	}
	return Paragraphs(head, prose(f), replacement(f))
}

// placeText returns "`ledger/transfer.go`, lines 41–44", linked if there is a page; path is the
// finding's, or a short form of it.
func (r Review) placeText(f finding.Finding, path string) string {
	if f.Path == "" {
		return "the pull request"
	}
	return wording.Joined(", ", r.link(guard.Code(path), f), lines(f))
}

const (
	openItems = 10 // inline comments that the body lists outside a fold
	openFirst = 3  // findings outside a fold
	openGrave = 10 // findings outside a fold if at least major
)

// parts sorts the findings of a posted review's body by where they appear.
type parts struct {
	inline, moreInline []finding.Finding // listed
	open, more, nits   []finding.Finding // in full, each by file
	linters            []finding.Finding // like these; the first to be cut for length
}

// partsOf sorts findings, which come in order of severity, worst first.
func partsOf(all []finding.Finding) (p parts) {
	inline := withPlacement(all, finding.Inline)
	n := min(openItems, len(inline))
	p.inline, p.moreInline = inline[:n], inline[n:]
	for _, f := range withPlacement(all, finding.Body) {
		switch {
		case f.Source == finding.Linter:
			p.linters = append(p.linters, f)
		case f.Severity == finding.Nit:
			p.nits = append(p.nits, f)
		case folds(len(p.open)+len(p.more), f):
			p.more = append(p.more, f)
		default:
			p.open = append(p.open, f)
		}
	}
	p.open, p.more, p.nits = byFile(p.open), byFile(p.more), byFile(p.nits)
	p.linters = byFile(p.linters)
	return p
}

// first keeps n findings, in the order of the fields.
func (p parts) first(n int) parts {
	for _, list := range []*[]finding.Finding{&p.inline, &p.moreInline, &p.open, &p.more, &p.nits, &p.linters} {
		*list = (*list)[:min(n, len(*list))]
		n -= len(*list)
	}
	return p
}

func foldUnlessEmpty(all []finding.Finding, noun string, show func([]finding.Finding) string) string {
	return Details(wording.Count(len(all), noun), show(all))
}

// folds reports whether the i-th finding is folded.
func folds(i int, f finding.Finding) bool {
	grave := f.Severity.Rank() >= finding.Major.Rank()
	return i >= openFirst && (!grave || i >= openGrave)
}

// byFile groups findings by file, in the order of the files.
func byFile(all []finding.Finding) []finding.Finding {
	return slices.Concat(order.Grouped(all, func(f finding.Finding) string { return f.Path })...)
}

func withPlacement(all []finding.Finding, where finding.Placement) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool {
		return (f.Placement == finding.Inline) != (where == finding.Inline)
	})
}

var plainLogin = pattern.Lazy(`^[A-Za-z0-9-]+(\[bot\])?$`)

const postedBytes = 65_000 // of a whole review; GitHub accepts 65,536

// Posted returns the whole body of the posted review: body, Approval's sentence, marker. The
// approver could see all but the last two. If the marker's lists would make it too long for
// GitHub, they are shortened.
func Posted(body, approval string, m marker.Review) string {
	text := strings.TrimRight(body, "\n") + "\n\n" + approval + "\n"
	return text + m.Within(postedBytes-len(text)).String()
}

// Approval returns a sentence of inert Markdown that says who approved a draft, when, and
// what they changed; rules tells whether rules drafted it. A zero time is not shown.
func Approval(r decision.Record, rules bool) string {
	text := "Drafted by a model"
	if rules {
		text = "Drafted by rules"
	}
	text += ", approved by " + Person(r.By)
	if !r.At.IsZero() {
		text += " on " + r.At.UTC().Format("2 January 2006")
	}
	if c := changes(r); c != "" {
		text += ", who " + c
	}
	return text + "."
}

// Person returns a login as inert Markdown.
func Person(login string) string {
	if !plainLogin().MatchString(login) {
		login = guard.Code(login)
	}
	return strings.ReplaceAll(login, "[", `\[`)
}

func changes(r decision.Record) string {
	dropped := slices.DeleteFunc(slices.Clone(r.Dropped),
		func(d decision.Drop) bool { return d.ID == decision.OverviewID })
	edited := slices.DeleteFunc(slices.Clone(r.Edited),
		func(e decision.Edit) bool { return e.ID == decision.OverviewID })
	var parts []string
	for _, c := range []struct {
		verb string
		n    int
	}{{"dropped", len(dropped)}, {"edited", len(edited)}, {"moved", len(r.Moved)}, {"regraded", len(r.Severity)}} {
		switch {
		case c.n > 0 && len(parts) == 0:
			parts = append(parts, c.verb+" "+wording.Count(c.n, "finding"))
		case c.n > 0:
			parts = append(parts, c.verb+" "+wording.Thousands(int64(c.n)))
		}
	}
	return wording.List(parts)
}
