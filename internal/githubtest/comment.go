package githubtest

import (
	"fmt"
	"strings"

	"znkr.io/diff"
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
	WholeFile  bool   `json:"-"` // on no line, as a review cannot make it
	Resolved   bool   `json:"-"` // the thread that it opens
	ResolvedBy string `json:"-"` // login

	hunk string // whole, as the diff had it
}

func (r *Review) commentJSON(k Comment) object {
	p := r.pull
	v := object{
		"id": k.ID, "pull_request_review_id": r.ID, "path": k.Path, "body": k.Body, "diff_hunk": r.hunkOf(k),
		"user":      p.repo.s.author(r.User),
		"commit_id": r.CommitID, "original_commit_id": r.CommitID, "created_at": stamp(r.At), "updated_at": stamp(r.At),
		"html_url": fmt.Sprintf("%s#discussion_r%d", p.webURL(), k.ID), "pull_request_url": p.apiURL(),
		"author_association": p.repo.association(r.User),
	}
	if k.ReplyTo > 0 {
		v["in_reply_to_id"] = k.ReplyTo
	}
	switch {
	case k.WholeFile: // GitHub fills in a first line, which is none
		v["subject_type"], v["line"], v["original_line"], v["position"], v["original_position"] = "file", nil, 1, nil, 1
	case k.Line > 0:
		r.place(v, k)
	}
	return v
}

// hunkOf is the hunk that a comment was written on, which GitHub cuts behind the
// commented line.
func (r *Review) hunkOf(k Comment) string {
	hunk, side := k.hunk, or(k.Side, "RIGHT")
	if at := r.pull.repo.objects.commits[r.CommitID]; hunk == "" && at != nil {
		for _, f := range r.pull.filesAt(at) {
			places, hunks := places(f.Patch, side)
			if p, found := places[k.Line]; found && f.Path == k.Path {
				hunk = hunks[p.hunk-1]
			}
		}
	}
	places, _ := places(hunk, side)
	if p, found := places[k.Line]; found {
		hunk = strings.Join(strings.Split(hunk, "\n")[:p.position+1], "\n")
	}
	return hunk
}

// place says where a comment was put and where it stands now. GitHub moves it
// with the lines around it, and gives null once its line is gone or no longer
// shown: the comment is outdated.
func (r *Review) place(v object, k Comment) {
	k.Side = or(k.Side, "RIGHT")
	v["original_line"], v["side"], v["subject_type"] = k.Line, k.Side, "line"
	v["line"] = r.now(k, k.Side, k.Line)
	if v["line"] == nil {
		v["position"] = nil
	} else {
		v["commit_id"] = r.pull.head.sha
	}
	if k.StartLine > 0 {
		side := or(k.StartSide, k.Side)
		v["original_start_line"], v["start_side"], v["start_line"] = k.StartLine, side, nil
		if v["line"] != nil {
			v["start_line"] = r.now(k, side, k.StartLine)
		}
	}
}

// now is where a commented line stands in the pull request's diff; nil where
// it does not.
func (r *Review) now(k Comment, side string, line int) any {
	p := r.pull
	commented := p.repo.objects.commits[r.CommitID]
	if commented == p.head {
		return line
	}
	if side == "RIGHT" {
		line = follow(commented.tree[k.Path], p.head.tree[k.Path], line)
	}
	for _, f := range p.files() {
		if at, _ := places(f.Patch, side); f.Path == k.Path && at[line].hunk > 0 {
			return line
		}
	}
	return nil
}

// follow is the number of a line after its file changed; 0 where it is gone.
func follow(before, after string, line int) int {
	old, new := 0, 0
	for _, e := range diff.Edits(strings.Split(before, "\n"), strings.Split(after, "\n")) {
		if e.Op != diff.Insert {
			old++
		}
		if e.Op != diff.Delete {
			new++
		}
		if e.Op == diff.Match && old == line {
			return new
		}
	}
	return 0
}
