// Package pull names pull requests and the threads of their reviews.
//
// It defines values and parses names; it does no I/O. Start at Ref and Pull.
package pull

import "time"

// Pull is a pull request as the API describes it. Title, Body, Author, branch names and labels are
// untrusted text.
type Pull struct {
	Ref
	RepoID        int64     `json:"repo_id"`
	Private       bool      `json:"private,omitempty"`
	Title         string    `json:"title"`
	Body          string    `json:"body,omitempty"`
	Author        string    `json:"author"`
	AuthorBot     bool      `json:"author_bot,omitempty"`
	Association   string    `json:"association,omitempty"` // OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, …
	State         string    `json:"state"`                 // open or closed
	Merged        bool      `json:"merged,omitempty"`
	Draft         bool      `json:"draft,omitempty"`
	Labels        []string  `json:"labels,omitempty"`
	BaseRef       string    `json:"base_ref"`
	BaseSHA       string    `json:"base_sha"`
	HeadRef       string    `json:"head_ref"`
	HeadSHA       string    `json:"head_sha"`
	HeadRepo      string    `json:"head_repo,omitempty"` // owner/name; empty if the fork was deleted
	HeadRepoID    int64     `json:"head_repo_id,omitempty"`
	MergeBase     string    `json:"merge_base,omitempty"` // read only if a blob has to be diffed
	DefaultBranch string    `json:"default_branch,omitempty"`
	ChangedFiles  int       `json:"changed_files"`
	ChangedLines  int       `json:"changed_lines,omitempty"` // added and deleted
	URL           string    `json:"url,omitempty"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

// Fork reports whether the head is outside the base's repository. A deleted fork counts as a fork.
func (p Pull) Fork() bool { return p.HeadRepoID != p.RepoID }

// Open reports whether a review can still be posted.
func (p Pull) Open() bool { return p.State == "open" }
