package app_test

import (
	"testing"

	"github.com/org/pr-review-action/internal/llmtest"
)

func TestT28_CountsTellNothingOfAnEndpointsOwnWords(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree(), script: llmtest.PerFile(map[string]llmtest.Script{
		"ops/run.sh": llmtest.Always(llmtest.Answer{Status: 400, Text: "Invalid input: move(a, b) // DEFECT"}),
	}, llmtest.Certain(critic))})
	e := s.draftJob().with("summary", "counts").start().is(0, "PAUSED")
	e.says("answered 400")
	holdsNone(t, "log", e.log, "move(a, b)", "DEFECT")
}
