package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
)

// FuzzTrace holds the trace next to the reviewer that it watches.
func FuzzTrace(f *testing.F) {
	f.Add(answer(one(2, "b"), one(3, "c", offSchema)), answer(one(2, "b")))
	f.Add("So: "+answer(one(2, "b")), answer())
	f.Add(answer(one(2, "b"))[:40], "```json\n"+answer(one(2, "b"))+"```")
	f.Add(`{"findings":[{"line":3,"title":"{\"line\":4}","severity":"nit","confidence":1}]}`, "[]")
	f.Fuzz(func(t *testing.T, first, second string) {
		file := reviewed(t, &script{texts: []string{first, second}})
		lost, moved := score.Trace(score.Pipeline{Files: []score.FileAnswers{file}})
		require.Empty(t, moved)
		if file.Review.State == finding.Reviewed && len(file.Answers) == 1 {
			require.Empty(t, lost, "an answer that is whole")
		}
		for _, l := range lost {
			require.Equal(t, score.StageParse, l.Stage)
		}
		again, _ := score.Trace(score.Pipeline{Files: []score.FileAnswers{file}})
		require.Equal(t, lost, again)
	})
}
