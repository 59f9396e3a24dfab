package prompt

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// Whole is a change together with what people wrote about it, for the only step that may read the
// latter (D10). All of it is untrusted text, except Language and the settings.
type Whole struct {
	Title, Description, Branch string
	Discussion                 []Document // Path is a label of our own: commits, comments, reviews
	Files                      []WholeFile
	Found                      []finding.Finding // by the reviews of the files
	Reported                   []finding.Finding // by earlier reviews

	Tickets  []ticket.Ticket // as much of them as may be read
	Pages    []Document
	Criteria []ticket.Criterion
	Judges   bool // whether to judge the change by what was asked

	Language     string
	Tests, Style bool // whether missing tests, and matters of style, are findings
}

// WholeFile is a changed file and the state of its review.
type WholeFile struct {
	diff.File        // without Patch if no diff is shown
	State     string // in our own words
}

// The limits of what a question about the whole change shows, in bytes.
const (
	maxHeads      = 96 << 10 // of all diffs
	minPerFile    = 1 << 10  // of one diff, if many share
	maxFileList   = 24 << 10
	maxSaid       = 12 << 10 // of the description and of each part of the discussion
	maxFoundShown = 60       // findings
)

// Overviewing returns the task of saying what a change does and what is wrong with it, and of
// giving verdicts on criteria if it judges.
func (w Whole) Overviewing() Task {
	return Task{text("overview.md"), "change_overview", overviewSchema(w)}
}

// Judging returns the task of giving only numbers, verdicts and lines.
func Judging() Task {
	return Task{text("criteria.md"), "criteria_verdicts", object(criteria(), list("unasked", lines()...))}
}

// VerifyingWhole returns the task of giving verdicts on findings about a whole change.
func VerifyingWhole() Task {
	return Task{text("verify-overview.md"), "finding_verification", verdictSchema()}
}

// Overview returns the user turn that asks what a change does as a whole.
func (w Whole) Overview(b guard.Boundary) string {
	blocks := append(w.saidBlocks(b), w.askedBlocks(b)...)
	withPath := func(_ int, c *wire, f finding.Finding) { c.ID, c.Path = f.ID, &f.Path }
	if len(w.Found) > 0 {
		found := findingLines(w.Found[:min(len(w.Found), maxFoundShown)], withPath)
		blocks = append(blocks, b.Wrap("found", found))
	}
	said, how := reportedBlocks(b, "change", w.Reported, withPath)
	blocks = append(blocks, said...)
	wants := languageRequest(w.Language) + styleRequest(w.Style) + how
	if w.Tests {
		wants += " Report behaviour that the change brings in and no test covers, with the category `tests`."
	}
	return fill("overview-user.md", "language", wants, "asked", w.verdictRequest(),
		"blocks", strings.Join(append(blocks, w.fileBlocks(b)...), "\n"))
}

// Judge returns the user turn that asks only for verdicts on the criteria.
func (w Whole) Judge(b guard.Boundary) string {
	return fill("criteria-user.md", "blocks", strings.Join(append(w.askedBlocks(b), w.fileBlocks(b)...), "\n"))
}

// Verify returns the user turn that asks whether findings on the change are true. What people
// wrote about the change proves nothing and is not shown.
func (w Whole) Verify(b guard.Boundary, findings []finding.Finding) string {
	claims := findingLines(findings, func(i int, c *wire, f finding.Finding) {
		asClaim(i, c, f)
		c.Path = &f.Path
	})
	blocks := append(w.fileBlocks(b), b.Wrap("findings", claims))
	return fill("verify-overview-user.md", "count", fmt.Sprint(len(findings)), "blocks", strings.Join(blocks, "\n"))
}

// Repair returns the user turn that asks to rewrite a broken answer about the change, like the
// function Repair.
func (w Whole) Repair(b guard.Boundary, problem, answer string) string {
	return fill("repair-overview.md", "problem", problem, "answer", b.Wrap("answer", answer))
}

func (w Whole) saidBlocks(b guard.Boundary) (blocks []string) {
	for _, d := range append([]Document{{"title", w.Title}, {"branch", w.Branch}, {"description", w.Description}},
		w.Discussion...) {
		blocks = append(blocks, wrapDocuments(b, d.Path, maxSaid, Document{Text: d.Text})...)
	}
	return blocks
}

func (w Whole) askedBlocks(b guard.Boundary) (blocks []string) {
	for _, t := range w.Tickets {
		text := strings.TrimSpace(t.Key + " " + t.Type + "\n" + t.Summary + "\n\n" + t.Description)
		blocks = append(blocks, wrapDocuments(b, "ticket", maxSaid, Document{Text: text})...)
	}
	blocks = append(blocks, wrapDocuments(b, "pages", 2*maxSaid, w.Pages...)...)
	lines := make([]string, len(w.Criteria))
	for i, c := range w.Criteria {
		lines[i] = fmt.Sprintf("%d: %s", c.N, strings.Join(strings.Fields(c.Text), " "))
	}
	return append(blocks, wrapDocuments(b, "criteria", 2*maxSaid, Document{Text: strings.Join(lines, "\n")})...)
}

func (w Whole) verdictRequest() string {
	switch {
	case !w.Judges:
		return ""
	case len(w.Criteria) == 0:
		return " The ticket names no criteria: `criteria` is empty; fill in `unasked`."
	}
	return fmt.Sprintf(" Give a verdict on each of the %d criteria, and fill in `unasked`.", len(w.Criteria))
}

// fileBlocks returns the list of all files and the beginnings of their diffs, which share the space;
// what a short one does not use is left to the others.
func (w Whole) fileBlocks(b guard.Boundary) []string {
	var list []string
	for _, f := range w.Files {
		line := fmt.Sprintf("%s %s +%d -%d %s", statusWord(Input{Status: string(f.Status)}), shorten(f.Path),
			f.Additions, f.Deletions, f.State)
		if f.OldPath != "" && f.OldPath != f.Path {
			line += ", was " + shorten(f.OldPath)
		}
		list = append(list, strings.ReplaceAll(line, "\n", " "))
	}
	blocks := wrapDocuments(b, "files", maxFileList, Document{Text: strings.Join(list, "\n")})
	left, room := 0, maxHeads
	for _, f := range w.Files {
		if f.Patch != "" {
			left++
		}
	}
	for _, f := range w.Files {
		if f.Patch == "" || room < minPerFile {
			continue
		}
		head := joinDocuments([]Document{{Text: Number(f.Patch)}}, max(minPerFile, room/left))
		blocks = append(blocks, b.Wrap("path", f.Path), b.Wrap("diff", head))
		left, room = left-1, room-len(head)
	}
	return blocks
}
