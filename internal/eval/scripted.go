package eval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// Scripted returns a reviewer that knows the answers. It measures the pipeline, never a model.
func Scripted(o oracle.Options) Reviewer {
	return Reviewer{Name: score.Scripted, Chat: script{Options: o}}
}

// Looking returns a scripted reviewer that reports a known defect only if it was shown the
// lines that decide it. It calls tools as a model would.
func Looking(cases []dataset.Case) Reviewer {
	return Reviewer{Name: score.Scripted, Chat: script{oracle.Options{Recall: 1, Seed: 1},
		dataset.Fingerprint(cases)[:12]}}
}

type script struct {
	oracle.Options
	casesKey string // the cases' fingerprint for Looking; empty for Scripted
}

// Identity returns a text that differs whenever the answers can differ.
func (s script) Identity() string {
	if s.casesKey != "" {
		return "scripted, by what is shown of " + s.casesKey
	}
	return fmt.Sprintf("scripted, recall %g, noise %g, seed %d", s.Recall, s.Noise, s.Seed)
}

// Chat answers a question about a file of a case. It never refutes its own findings
// when asked to verify them.
func (s script) Chat(ctx context.Context, q llm.Request) (llm.Answer, error) {
	of, ok := ctx.Value(subjectKey{}).(subject)
	if !ok {
		return llm.Answer{}, errors.New("the scripted model was asked about no file")
	}
	used := cost.Usage{Calls: 1, InputTokens: inputTokens(q)}
	if q.SchemaName == prompt.Verifying().SchemaName {
		return llm.Answer{Text: `{"verdicts": []}`, Usage: used}, nil
	}
	if q.SchemaName == (prompt.Whole{}).Overviewing().SchemaName || q.SchemaName == prompt.Judging().SchemaName {
		return llm.Answer{Text: oracle.Judge(s.Options, *of.evalCase), Usage: used}, nil
	}
	o := s.Options
	o.Turn = q.User
	if s.casesKey != "" {
		if calls := oracle.Look(q, of.file); len(calls) > 0 {
			return llm.Answer{ToolCalls: calls, Usage: used}, nil
		}
		o.Knows = func(i int) bool { return i >= len(of.evidence) || oracle.Saw(q, of.evidence[i]) }
	}
	return llm.Answer{Text: oracle.Answer(o, of.evalCase.ID, of.evalCase.Golden, of.file), Usage: used}, nil
}

const bytesPerToken = 4

func inputTokens(q llm.Request) int64 {
	n := len(q.System) + len(q.User) + len(q.Schema)
	for _, t := range q.Tools {
		n += len(t.Description) + len(t.Schema)
	}
	for _, t := range q.Turns {
		n += len(t.Text)
		for _, c := range t.ToolCalls {
			n += len(c.Arguments)
		}
	}
	return int64(n / bytesPerToken)
}

// RunShown runs the cases four times with the reviewer of Looking: with packs and
// tools, with only one of the two, and with neither. It returns the report of the
// first. The other runs go into subfolders of the run's folder.
func RunShown(ctx context.Context, o Options) (report score.Report, err error) {
	all := map[string]score.Seen{}
	for _, run := range []struct {
		name string
		Blind
	}{
		{"neither", Blind{Packs: true, Tools: true}}, {"tools", Blind{Packs: true}}, {"packs", Blind{Tools: true}},
		{"both", Blind{}},
	} {
		part, last := o, run.Blind == Blind{}
		part.Blind = run.Blind
		if !last {
			part.Dir, part.Announce = filepath.Join(o.Dir, "shown-"+run.name), nil
		}
		part.seen = func(r score.Report, results []score.Result) map[string]score.Seen {
			all[run.name] = score.SeenIn(r, results)
			if !last {
				return nil
			}
			return all
		}
		if report, err = Run(ctx, part); err != nil {
			return report, err
		}
	}
	return report, nil
}
