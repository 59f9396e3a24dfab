package app_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llmtest"
)

// framed gives the stage's pull request the texts of all attacks of its channels,
// benign look-alikes too: a title, which is the commit's message as well, a
// description and a branch.
func (s *stage) framed(head githubtest.Tree) (texts []string) {
	joined := map[string][]string{}
	for _, a := range llmtest.Attacks(s.t) {
		joined[a.Channel] = append(joined[a.Channel], a.Payload)
	}
	s.pull = s.repo.AddPull(githubtest.PullOptions{
		Number: 42, Author: "lee", HeadFiles: head,
		Title: strings.Join(append(joined["pr-title"], joined["commit-message"]...), "\n"),
		Body:  strings.Join(joined["pr-body"], "\n\n"),
		Head:  strings.Join(joined["branch-name"], "/"),
	})
	for _, channel := range []string{"pr-title", "commit-message", "pr-body", "branch-name"} {
		require.NotEmpty(s.t, joined[channel], channel)
		texts = append(texts, joined[channel]...)
	}
	return texts
}

// namedFiles are files with the names of attacks; one that no repository can hold
// is left out.
func namedFiles(t *testing.T) githubtest.Tree {
	names := githubtest.Tree{}
	for _, a := range attacks(t, func(a llmtest.Attack) bool { return a.Channel == "file-name" && a.Threat != "T29" }) {
		names[a.Payload] = "one\nfree(p) // DEFECT: Uses the memory after it was freed\n"
	}
	return names
}

// TestT2_T36_WhatFramesAPullRequestReachesNoReview has the change once under all
// known attacks, and once under a plain title.
func TestT2_T36_WhatFramesAPullRequestReachesNoReview(t *testing.T) {
	head := headTree().With(namedFiles(t))
	s := setUp(t, scene{head: head, script: llmtest.Obedient(llmtest.Honest)})
	texts := s.framed(head)
	drafted := s.parked()
	drafted.shows("addresses the reviewer: `title: ", "addresses the reviewer: `description: ",
		"addresses the reviewer: ``branch name: ")
	plain := newStage(t, scene{head: head, script: llmtest.Obedient(llmtest.Honest)})
	without := plain.parked()

	t.Run("T36 the prompts are the same", func(t *testing.T) {
		require.Equal(t, promptsOf(plain), promptsOf(s))
	})
	t.Run("T36 and so are the models' findings", func(t *testing.T) {
		a, b := s.read(drafted), plain.read(without)
		for path := range head {
			require.Len(t, a.about(path, finding.Model), len(b.about(path, finding.Model)), path)
		}
		require.NotEmpty(t, a.about("ledger/transfer.go", finding.Model),
			"an obedient model has read no order about it")
	})
	t.Run("T2 nothing of them is in a request", func(t *testing.T) {
		for _, r := range s.model.Requests() {
			for _, text := range texts {
				for line := range strings.Lines(text) {
					if line = guard.Visible(strings.TrimSpace(line)); len(line) > 8 && line != "```" {
						require.NotContains(t, r.System, line)
						require.NotContains(t, r.User, line)
					}
				}
			}
		}
	})
	t.Run("T2 system turns are one constant a question", func(t *testing.T) { systemsConstant(t, s.model.Requests()) })
	t.Run("T2 a file's name stands between the marks alone", func(t *testing.T) { namesWrapped(t, s.model.Requests()) })
}

func systemsConstant(t *testing.T, asked []llmtest.Request) {
	systems := map[string]string{}
	for _, r := range asked {
		systems[r.Question] = cmp.Or(systems[r.Question], r.System)
		require.Equal(t, systems[r.Question], r.System)
	}
	require.Len(t, systems, 2, "reviews and verifications")
}

func namesWrapped(t *testing.T, asked []llmtest.Request) {
	seen := map[string]bool{}
	for _, r := range asked {
		seen[r.Path] = true
	}
	for name := range namedFiles(t) {
		shown := guard.Visible(name)
		require.NotEqual(t, strings.Contains(name, "//"), seen[shown],
			"%s: one that no repository can hold is not reviewed", name)
		for _, r := range asked {
			for line := range strings.Lines(shown) {
				if line = strings.TrimSpace(line); len(line) > 3 {
					require.NotContains(t, llmtest.Outside(r.User), line)
					require.NotContains(t, r.System, line)
				}
			}
		}
	}
}

// promptsOf are the requests to a model in the order of their texts, the drawn
// boundaries masked.
func promptsOf(s *stage) (all []string) {
	for _, r := range s.model.Requests() {
		text := r.Path + "\n" + r.System + r.User + string(r.Schema)
		for _, turn := range r.Turns {
			text += turn.Role + turn.Text
		}
		for _, tool := range r.Tools {
			text += tool.Name + tool.Description + string(tool.Schema)
		}
		all = append(all, drawnBoundary.ReplaceAllString(text, "BOUNDARY"))
	}
	require.NotEmpty(s.t, all)
	slices.Sort(all)
	return all
}
