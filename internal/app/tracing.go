package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/transport"
)

// traced starts the trace that OTEL_* variables or a file's name ask for; end is
// called when all of it is over. A trace never fails what it is about.
func (a *app) traced(ctx context.Context, s settings, file string, warn func(string)) (context.Context, func(), error) {
	o := trace.Options{Getenv: a.getenv, Version: Version(), AllowHTTP: s.allowHTTP, Redact: a.own(s).Redact}
	var local *os.File
	if file != "" {
		var err error
		if local, err = os.Create(file); err != nil {
			return ctx, nil, problem.Usage("the trace cannot be written: "+err.Error(), "--trace names a file in a folder that is there")
		}
		o.Local = local
	}
	ctx, stop, err := trace.Start(ctx, o)
	if err != nil {
		warn(err.Error())
	}
	return ctx, func() {
		err := stop()
		if local != nil {
			err = errors.Join(err, local.Close())
		}
		if err != nil {
			warn(err.Error())
		}
	}, nil
}

// spoken is a model whose calls are spans.
type spoken struct {
	review.Chatter
	task, baseURL, model string
	price                *cost.Price
}

// Chat makes a span of each try that was billed.
func (c spoken) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	q := trace.CallStart{Task: c.task, BaseURL: c.baseURL, Model: c.model, MaxTokens: r.MaxTokens, Input: func() []trace.Message { return messages(r) }}
	if c.price != nil {
		q.Bound = budget.Bound(r, *c.price)
	}
	try, end := trace.Call(ctx, q)
	answer, err := c.Chatter.Chat(transport.EachTry(ctx, try), r)
	end(trace.CallEnd{Model: answer.Model, Finish: answer.Finish, Usage: answer.Usage, Err: err, Problem: review.Ending(err), Output: func() trace.Message {
		return trace.Message{Role: string(llm.RoleAssistant), Text: answer.Text, Calls: asked(answer.Calls)}
	}})
	return answer, err
}

func messages(r llm.Request) []trace.Message {
	all := []trace.Message{{Role: "system", Text: r.System}, {Role: string(llm.RoleUser), Text: r.User}}
	for _, t := range r.Turns {
		all = append(all, trace.Message{Role: string(t.Role), Text: t.Text, Calls: asked(t.Calls), CallID: t.CallID})
	}
	return all
}

func asked(calls []llm.Call) (all []trace.Asked) {
	for _, c := range calls {
		all = append(all, trace.Asked{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return all
}

// tree draws how the run of a draft came to its findings.
func (a *app) tree(r report) string {
	columns, _ := terminal(a.Stdout)
	return trace.Tree(r.tree(), columns)
}

func (r report) tree() trace.Node {
	root := trace.Node{Name: r.Thread, Time: -1, Usage: r.Usage, End: r.Outcome}
	for _, f := range r.state.Coverage() {
		if f.State != finding.Skipped {
			root.Children = append(root.Children, fileNode(f, r.state.Comments))
		}
	}
	return root
}

// fileNode is a file with the calls about it, and what became of its findings.
func fileNode(f finding.FileReview, all []finding.Finding) trace.Node {
	n := trace.Node{Name: f.Path, Usage: f.Usage, End: string(f.State)}
	if f.Label != "" {
		n.Name += " (" + f.Label + ")"
	}
	for _, c := range f.Calls {
		took := time.Duration(c.Seconds * float64(time.Second))
		n.Time += took
		call := trace.Node{Name: strings.TrimSpace(c.Task + " " + c.Model), Time: took, Usage: c.Usage, End: c.Finish}
		if c.Part > 0 {
			call.Name += fmt.Sprintf(", part %d", c.Part)
		}
		for _, t := range c.Tools {
			call.Tools = append(call.Tools, trace.ToolUse{Name: t.Name, Arguments: t.Arguments, Bytes: t.Bytes, Problem: t.Problem})
		}
		n.Children = append(n.Children, call)
	}
	if f.Reason != "" {
		n.Notes = append(n.Notes, string(f.Reason))
	}
	for _, c := range all {
		if c.Path == f.Path {
			n.Notes = append(n.Notes, fate(c))
		}
	}
	return n
}

// fate says in a line what became of a finding.
func fate(f finding.Finding) string {
	what := cmp.Or(f.ID, string(f.Filtered))
	text := fmt.Sprintf("%s %s line %d, by %s: %s", what, f.Severity, f.Line, f.Source, f.Title)
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}
