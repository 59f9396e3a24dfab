package render

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const subjectRunes = 60 // of the title: with author and size, two lines on a phone

// Revisions is the number of times a draft can be revised; gate.MaxRounds enforces it.
const Revisions = 3

// brackets would end a link's text.
const brackets = "[]"

var login = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)

// Subject describes the change in one line: “title” by ada, 11 files, +214 −87. Title and
// author link to the pull request.
func (r Review) Subject() string {
	author := guard.Literal(r.Author, brackets)
	if author != "" && !login().MatchString(r.Author) {
		author = guard.Code(r.Author)
	}
	title, page := quotedTitle(guard.Literal(guard.Inline(r.title(), 0), brackets), author), r.pull()
	switch {
	case page == "":
		return wording.Joined(", ", title, r.size())
	case title == "":
		title = "The pull request"
	}
	return wording.Joined(", ", "["+title+"]("+page+")", r.size())
}

// PlainSubject returns Subject as plain text, with the draft's revision.
func (r Review) PlainSubject() string {
	return wording.Joined(", ", quotedTitle(r.title(), guard.Line(r.Author, TitleRunes)), r.size(), r.Revision())
}

// quotedTitle returns a title in quotation marks with its author; "" without a title.
func quotedTitle(title, author string) string {
	switch {
	case title == "":
		return ""
	case author == "":
		return "“" + title + "”"
	}
	return "“" + title + "” by " + author
}

func (r Review) pull() string {
	number, ok := strings.CutPrefix(r.Name, "#")
	if !ok || !pullName().MatchString(r.Name) || !r.linkable() {
		return ""
	}
	return r.Web + "/pull/" + number
}

// title returns the pull request's title, unescaped. It contains no quotation marks like
// ours, so that it cannot end early and continue as our words.
func (r Review) title() string {
	return guard.Line(strings.NewReplacer("“", `"`, "”", `"`).Replace(strings.TrimSpace(r.Title)), subjectRunes)
}

// size returns "11 files, +214 −87"; "" if no line is known to have changed.
func (r Review) size() string {
	files := len(r.Files) + r.Unlisted
	if files == 0 || r.Added == 0 && r.Removed == 0 {
		return ""
	}
	return fmt.Sprintf("%s, +%s −%s", wording.Count(files, "file"), wording.Thousands(int64(r.Added)),
		wording.Thousands(int64(r.Removed)))
}

// Revision returns "revision 2 of 3"; "" for a first draft.
func (r Review) Revision() string {
	if r.Round <= 0 {
		return ""
	}
	return fmt.Sprintf("revision %d of %d", r.Round, max(Revisions, r.Round))
}

// RulesNotice is the sentence in the first line of a review by rules.
const RulesNotice = "A review by rules, without a model."

// ByRules returns before followed by RulesNotice, or "" for a review by a model.
func (r Review) ByRules(before string) string {
	if !r.Rules {
		return ""
	}
	return before + RulesNotice
}
