package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// refusals are the ways in which a model does not say anything.
func refusals() map[string]llmtest.Script {
	faults := llmtest.Faults()
	all := map[string]llmtest.Script{
		"in prose": llmtest.Always(llmtest.Answer{Text: "I'm sorry, but I can't help with reviewing " +
			"this content."}),
		"blank":                   llmtest.Always(llmtest.Answer{Text: " \n"}),
		"filtered, with findings": llmtest.Always(llmtest.Answer{Text: `{"findings":[]}`, Finish: "content_filter"}),
		"refused, with findings": llmtest.Always(llmtest.Answer{Text: `{"findings":[]}`,
			Refusal: "I cannot do that."}),
	}
	for _, name := range []string{"refusal", "content-filter", "input-filter", "empty", "no-choices"} {
		all[name] = llmtest.Constantly(faults[name], llmtest.Honest)
	}
	return all
}

// TestT37_ARefusedFileIsNotReviewed has one file for every way, beside files in
// which nothing is to be found.
func TestT37_ARefusedFileIsNotReviewed(t *testing.T) {
	t.Parallel()
	head, scripts := baseTree().With(githubtest.Tree{"clean.go": "package clean\n"}), map[string]llmtest.Script{}
	bait := attacks(t, func(a llmtest.Attack) bool { return a.Threat == "T37" && inDiff(a) })
	require.NotEmpty(t, bait)
	for name, script := range refusals() {
		scripts["refused/"+name+".txt"] = script
		head["refused/"+name+".txt"] = bait[0].text + "\n"
	}
	t.Run("beside clean ones", func(t *testing.T) {
		s := setUp(t, scene{head: head, script: llmtest.PerFile(scripts, llmtest.Honest)})
		drafted := s.parked().says("::warning::").shows("1 of ")
		s.approved("")
		s.postJob(drafted.digest()).start().is(0, "POSTED")
		draft := s.read(drafted)
		require.Equal(t, finding.Reviewed, draft.reviews["clean.go"].State)
		for path := range scripts {
			require.Equal(t, finding.Failed, draft.reviews[path].State, path)
			drafted.shows("`" + path + "`")
			require.Contains(t, s.posted().Body, path)
		}
	})
	t.Run("alone", func(t *testing.T) {
		s := setUp(t, scene{head: head.Without("clean.go"), script: llmtest.PerFile(scripts, llmtest.Honest)})
		s.draftJob().start().is(1, "FAILED").says("::error::no file could be reviewed")
	})
}

// TestT37_ARefusedSecondLookDropsNoFinding refuses the verification alone.
func TestT37_ARefusedSecondLookDropsNoFinding(t *testing.T) {
	t.Parallel()
	for name, refuse := range refusals() {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{script: func(r llmtest.Request) llmtest.Answer {
				if r.Question == llmtest.Verify {
					return refuse(r)
				}
				return critic(r)
			}})
			drafted := s.parked()
			draft := s.read(drafted)
			require.Equal(t, "5", drafted.outputs["findings"])
			for _, f := range draft.comments {
				require.Empty(t, f.Filtered)
				if f.Severity == finding.Blocker || f.Severity == finding.Major {
					require.Contains(t, f.Note, "not verified")
				}
			}
		})
	}
}
