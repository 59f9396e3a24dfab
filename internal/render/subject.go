package render

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

const (
	subjectRunes = 50 // of a pull request's title: two lines on a phone, with the size
	revisions    = 3  // how often a draft can be revised; gate.MaxRounds ends it
)

// subject is the change in one line: “title”, 11 files, +214 −87.
func (r Review) subject() string {
	return r.subjectOf(unstressed(guard.Inline(r.title(), 0)))
}

// title is the pull request's title, raw. It holds no quotation marks like ours,
// so that it cannot end before its end and go on as words of ours.
func (r Review) title() string {
	return guard.Line(strings.NewReplacer("“", `"`, "”", `"`).Replace(strings.TrimSpace(r.Title)), subjectRunes)
}

// subjectOf puts a title that was made inert in quotation marks, before the size.
func (r Review) subjectOf(title string) string {
	if title == "" {
		return r.size()
	}
	return strings.TrimSuffix("“"+title+"”, "+r.size(), ", ")
}

// size is "11 files, +214 −87", empty where no line is known to have changed.
func (r Review) size() string {
	files := len(r.Files) + r.Unlisted
	if files == 0 || r.Added == 0 && r.Removed == 0 {
		return ""
	}
	return fmt.Sprintf("%s, +%s −%s", Count(files, "file"), Thousands(int64(r.Added)), Thousands(int64(r.Removed)))
}

// revision is "revision 2 of 3", empty for a first draft.
func (r Review) revision() string {
	if r.Round <= 0 {
		return ""
	}
	return fmt.Sprintf("revision %d of %d", r.Round, max(revisions, r.Round))
}

func (r Review) byRules(before string) string {
	if !r.Rules {
		return ""
	}
	return before + RulesNotice
}
