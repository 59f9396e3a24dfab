package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

// Comment is a comment of a review.
type Comment struct {
	ID         int64  `json:"-"`
	Path       string `json:"path"`
	Body       string `json:"body"`
	Line       int    `json:"line"`
	Side       string `json:"side"`
	StartLine  int    `json:"start_line"`
	StartSide  string `json:"start_side"`
	ReplyTo    int64  `json:"-"` // the comment that this one answers
	WholeFile  bool   `json:"-"` // on no line, which a review cannot make
	Resolved   bool   `json:"-"` // the thread that it opens
	ResolvedBy string `json:"-"` // login

	hunk string // whole, as in the diff
}

// setPlace sets where a comment, made at a commit, was put and where it is now. GitHub moves it with the lines around
// it, and gives null once its line is gone or no longer shown: the comment is outdated.
func (p *change) setPlace(v object, k Comment, commit string) {
	side, start := cmp.Or(k.Side, "RIGHT"), cmp.Or(k.StartSide, k.Side, "RIGHT")
	switch {
	case k.WholeFile: // GitHub sets a first line, which means nothing
		v["subject_type"], v["line"], v["original_line"] = "file", nil, 1
		return
	case k.Line == 0:
		return
	}
	v["original_line"], v["side"], v["subject_type"] = k.Line, side, "line"
	v["line"] = p.currentLine(k.Path, commit, side, k.Line)
	if v["line"] != nil {
		v["commit_id"] = p.head.SHA
	}
	if k.StartLine > 0 {
		v["original_start_line"], v["start_side"], v["start_line"] = k.StartLine, start, nil
	}
	if k.StartLine > 0 && v["line"] != nil {
		v["start_line"] = p.currentLine(k.Path, commit, start, k.StartLine)
	}
}

// currentLine returns the current place of a commented line in the pull request's diff; nil if it has none.
func (p *change) currentLine(path, commit, side string, line int) any {
	commented := p.repo.Objects.Commits[commit]
	if commented == p.head {
		return line
	}
	if side == "RIGHT" {
		line = memgit.Follow(commented.Tree[path], p.head.Tree[path], line)
	}
	for _, f := range p.files() {
		if at, _ := memgit.Places(f.Patch, side); f.Path == path && at[line].Hunk > 0 {
			return line
		}
	}
	return nil
}

// hunkOf returns the hunk that a comment was written on, which GitHub cuts after the commented line.
func (p *change) hunkOf(k Comment, commit string) string {
	hunk, side := k.hunk, cmp.Or(k.Side, "RIGHT")
	if at := p.repo.Objects.Commits[commit]; hunk == "" && at != nil {
		for _, f := range p.filesAt(at) {
			places, hunks := memgit.Places(f.Patch, side)
			if on, found := places[k.Line]; found && f.Path == k.Path {
				hunk = hunks[on.Hunk-1]
			}
		}
	}
	places, _ := memgit.Places(hunk, side)
	if on, found := places[k.Line]; found {
		hunk = strings.Join(strings.Split(hunk, "\n")[:on.Position+1], "\n")
	}
	return hunk
}

// maxBody is the limit of a body. The API speaks of characters; how it counts them is not known, so this counts
// bytes, the stricter reading.
const maxBody = 65536

func refuseBody(body string, mayBeBlank bool) (reasons []string) {
	if strings.TrimSpace(body) == "" && !mayBeBlank {
		reasons = append(reasons, "Body can't be blank")
	}
	if len(body) > maxBody {
		reasons = append(reasons, fmt.Sprintf("Body is too long (maximum is %d characters)", maxBody))
	}
	return reasons
}

// ValidateReview returns the reasons for which GitHub refuses a review with comments on files; none if all of them are
// valid. It is the answer without the request.
func ValidateReview(files []File, comments ...Comment) (reasons []string) {
	for i := range comments {
		reasons = append(reasons, comments[i].refuse(files)...)
	}
	return reasons
}

// refuse lists the reasons against a comment and finds its hunk.
func (k *Comment) refuse(files []File) []string {
	const thread = "Pull request review thread "
	if reasons := refuseBody(k.Body, false); reasons != nil {
		return reasons
	}
	at := slices.IndexFunc(files, func(f File) bool { return f.Path == k.Path })
	if at < 0 {
		return []string{"Path could not be resolved"}
	}
	k.Side = cmp.Or(k.Side, "RIGHT")
	places, hunks := memgit.Places(files[at].Patch, k.Side)
	end, found := places[k.Line]
	if !found {
		return []string{thread + "line must be part of the diff", thread + "diff hunk can't be blank"}
	}
	k.hunk = hunks[end.Hunk-1]
	if k.StartLine == 0 {
		return nil
	}
	places, _ = memgit.Places(files[at].Patch, cmp.Or(k.StartSide, k.Side))
	start, found := places[k.StartLine]
	switch {
	case !found:
		return []string{thread + "start line must be part of the diff"}
	case start.Hunk != end.Hunk:
		return []string{thread + "start line must be part of the same hunk as the line."}
	case start.Position >= end.Position:
		return []string{thread + "start line must precede the end line."}
	}
	return nil
}
