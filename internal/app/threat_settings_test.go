package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/triage"
)

// steeredBase has settings and instructions, those of the base commit.
func steeredBase() githubtest.Tree {
	return baseTree().With(githubtest.Tree{
		config.DefaultPath: "ignore:\n  - ops/**\nlanguage: German\n",
		"AGENTS.md":        "# Agents\nLook at the money first.\n", "CONTRIBUTING.md": "# Contributing\nWrite tests.\n",
		"ledger/AGENTS.md": "Count in cents.\n",
	})
}

// effective are the settings of a draft, byte for byte.
func (d parkedDraft) effective(t *testing.T) string {
	t.Helper()
	var draft struct {
		Config jsontext.Value `json:"config"`
	}
	require.NoError(t, json.Unmarshal(d.fields["draft"], &draft))
	require.NotEmpty(t, draft.Config)
	return string(draft.Config)
}

// steering are the paths of what guides reviews, with the severity of a change.
func steering() map[string]finding.Severity {
	return map[string]finding.Severity{config.DefaultPath: finding.Minor, "AGENTS.md": finding.Nit,
		"ledger/AGENTS.md": finding.Nit, "CONTRIBUTING.md": finding.Nit}
}

// TestT5_WhatTheHeadSaysOfReviewsIsAFindingAndNoSetting has the repository's own
// files of settings and instructions as each attack would have them.
func TestT5_WhatTheHeadSaysOfReviewsIsAFindingAndNoSetting(t *testing.T) {
	unchanged := headTree()
	for path := range steering() {
		unchanged[path] = steeredBase()[path]
	}
	plain := setUp(t, scene{base: steeredBase(), head: unchanged})
	before := plain.read(plain.parked())
	for path := range steering() {
		require.Empty(t, before.about(path, finding.Rule))
	}
	changes := map[string]string{"ignores everything": "ignore: ['**']\nverify: false\ninstructions: []\n",
		"no YAML": "{[", "deleted": ""}
	for _, a := range attacks(t, func(a llmtest.Attack) bool { return a.Channel == "repo-file" && !a.Benign }) {
		changes[a.ID] = a.text + "\n"
	}
	for name, text := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := unchanged.With(nil)
			for path := range steering() {
				head[path] = text
				if text == "" {
					delete(head, path)
				}
			}
			s := newStage(t, scene{base: steeredBase(), head: head})
			draft := s.read(s.parked())
			require.Equal(t, before.effective(t), draft.effective(t))
			for path, severity := range steering() {
				require.True(t, slices.ContainsFunc(draft.about(path, finding.Rule), func(f finding.Finding) bool {
					return f.Severity == severity && f.Category == triage.Steering &&
						strings.Contains(f.Title, "these reviews")
				}), path)
			}
			for _, r := range s.model.Requests() {
				guides := llmtest.Data(r.User)["instructions"]
				require.Contains(t, guides, "Look at the money first", "the base's guide the review")
				require.Equal(t, 1, strings.Count(guides, "Write tests."))
				require.Equal(t, strings.HasPrefix(r.Path, "ledger/"), strings.Contains(guides, "Count in cents."))
				if text != "" {
					require.NotContains(t, guides, strings.TrimSpace(text))
				}
			}
		})
	}
}
