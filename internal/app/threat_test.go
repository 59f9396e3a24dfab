package app_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llmtest"
)

// The checks of the threat model that need the whole program. Each puts all
// rows of the known attacks that it is about into one pull request, one file a
// row, and looks at what the jobs asked, stored, printed and posted.

const attackHost = "collect.example" // where most of the attacks send things

// attack is a row in its own file.
type attack struct {
	llmtest.Attack
	path string
	text string // as it is in the file
}

// attacks are the known attacks that a check is about.
func attacks(t *testing.T, about func(llmtest.Attack) bool) (all []attack) {
	t.Helper()
	rules := ruledRows()
	for _, row := range llmtest.Attacks(t) {
		if !about(row) {
			continue
		}
		row.ID = strings.TrimPrefix(row.ID, "o-atk-")
		a := attack{Attack: row, path: "rows/" + row.ID + cmp.Or(rules[row.ID].extension, ".go"), text: row.Payload}
		if row.Channel == "diff-added-line" {
			a.text = strings.TrimPrefix(strings.ReplaceAll("\n"+a.text, "\n+", "\n"), "\n")
		}
		all = append(all, a)
	}
	require.NotEmpty(t, all)
	return all
}

// ruled is what a rule says of a row's defect, in a file of its language.
type ruled struct{ extension, title string }

func ruledRows() map[string]ruled {
	const sql, shell, script = "SQL injection: ", "Command injection: ", "A downloaded script runs unchecked"
	return map[string]ruled{
		"diff-added-line-001": {".go", sql}, "diff-added-line-018": {".py", sql}, "diff-added-line-025": {".go", sql},
		"diff-added-line-002": {".py", shell}, "diff-added-line-017": {".ts", shell},
		"diff-added-line-007": {".go", "TLS verification disabled"},
		"diff-comment-003":    {".py", "TLS verification disabled"},
		"diff-added-line-004": {".go", "Hard-coded credential: the value of `password`"},
		"diff-added-line-028": {".sh", script}, "repo-file-009": {".sh", script},
		"diff-added-line-022": {".go", "Hard-coded credential: a live one (aws-access-token)"},
		"diff-added-line-023": {".go", "Hard-coded credential: a live one (github-pat)"},
		"diff-added-line-024": {".go", "Hard-coded credential: a private key"},
	}
}

// inDiff reports the attacks that are in changed files.
func inDiff(a llmtest.Attack) bool {
	return strings.HasPrefix(a.Channel, "diff-") || a.Channel == "repo-file"
}

// parkedDraft is what a draft's checkpoint says.
type parkedDraft struct {
	fields   map[string]jsontext.Value // as they are stored
	comments []finding.Finding
	reviews  map[string]finding.FileReview
	flags    []finding.Flag
}

func (s *stage) read(drafted ended) parkedDraft {
	s.t.Helper()
	snapshot, err := graph.DecodeSnapshot(s.opened(drafted).Snapshot)
	require.NoError(s.t, err)
	out := parkedDraft{fields: snapshot.Fields, reviews: map[string]finding.FileReview{}}
	var reviews []finding.FileReview
	require.NoError(s.t, json.Unmarshal(snapshot.Fields["comments"], &out.comments))
	require.NoError(s.t, json.Unmarshal(snapshot.Fields["fileReviews"], &reviews))
	require.NoError(s.t, json.Unmarshal(snapshot.Fields["flags"], &out.flags))
	for _, r := range reviews {
		out.reviews[r.Path] = r
	}
	return out
}

// about are the findings on a file that are shown, of one source.
func (d parkedDraft) about(path string, source finding.Source) (all []finding.Finding) {
	for _, f := range d.comments {
		if f.Path == path && f.Source == source && f.Filtered == "" {
			all = append(all, f)
		}
	}
	return all
}

// hides reports whether a rule says of a file that it hides something.
func (d parkedDraft) hides(path string) bool {
	return slices.ContainsFunc(d.about(path, finding.Rule), func(f finding.Finding) bool {
		return f.Category == finding.HiddenText
	})
}

// warnings counts what the banner above a draft tells of.
func (d parkedDraft) warnings() int {
	n := len(d.flags)
	for _, f := range d.comments {
		if f.Filtered == "" && f.Source == finding.Rule &&
			(f.Category == finding.HiddenText || f.Category == finding.Secret) {
			n++
		}
	}
	return n
}

// addresses reports whether a file is flagged as one that addresses its reviewer.
func (d parkedDraft) addresses(path string) bool {
	return slices.ContainsFunc(d.flags, func(f finding.Flag) bool {
		return f.Path == path && f.Kind == finding.InjectionFlag
	})
}
