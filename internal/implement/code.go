package implement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
)

// Search finds pieces of a module for a question, best first.
type Search func(ctx context.Context, query string, m config.Module) (Found, error)

// Found is what a search came to; notes say what could not be asked.
type Found struct {
	Chunks []change.Chunk
	Notes  []string
	Usage  cost.Usage
}

// Brief is what a change is written from.
type Brief struct {
	Ticket  ticket.Ticket
	Class   change.Class
	Scope   Scope
	Modules []config.Module // that were chosen
	Chunks  []change.Chunk
	Before  []change.File // that an approver gave feedback on
	Rounds  []string      // the feedback, oldest first
}

// Code asks for the change, and for the root cause of a bug. The error is an *Unusable
// where the answer could not be used twice.
func (m *Model) Code(ctx context.Context, b Brief, base Base) (cause string, files []change.File, used cost.Usage,
	err error) {
	blocks, err := b.blocks(ctx, base, false)
	if err != nil {
		return "", nil, used, err
	}
	q := question{step: "code", tokens: longAnswer, blocks: blocks,
		schema: keys("root_cause", text, "changes", proposals())}
	used, err = answered(ctx, m, q, func(said struct {
		RootCause string     `json:"root_cause"`
		Changes   []Proposed `json:"changes"`
	}) (refused []string, err error) {
		cause = oneLine(said.RootCause)
		switch {
		case len(said.Changes) == 0:
			return []string{"it changes nothing"}, nil
		case b.Class.Type == change.Bug && cause == "":
			return []string{"root_cause is empty"}, nil
		}
		files, refused, err = base.Apply(ctx, said.Changes, nil)
		return refused, err
	})
	return cause, files, used, err
}

// Tests asks for the tests of a change; there may be none.
func (m *Model) Tests(ctx context.Context, b Brief, code []change.File, base Base) (files []change.File,
	used cost.Usage, err error) {
	blocks, err := b.blocks(ctx, base, true)
	if err != nil {
		return nil, used, err
	}
	q := question{step: "tests", tokens: longAnswer, schema: keys("tests", proposals()),
		blocks: append(blocks, proposed(code)...)}
	used, err = answered(ctx, m, q, func(said struct {
		Tests *[]Proposed `json:"tests"`
	}) (refused []string, err error) {
		if said.Tests == nil {
			return []string{"it has no list of tests"}, nil
		}
		files, refused, err = base.Apply(ctx, *said.Tests, code)
		return refused, err
	})
	return files, used, err
}

// proposals is the schema of a list of Proposed.
func proposals() string {
	return listOf(keys("path", text, "description", text, "edits", listOf(keys("search", text, "replace", text)),
		"new_content", text))
}

// maxFiles bounds whole files that a question shows, in bytes.
const maxFiles = 160 << 10

// blocks are what a question shows: the ticket, the rules, the files that are likely to
// change, the pieces that a search found, and with tests those that stand there.
func (b Brief) blocks(ctx context.Context, base Base, tests bool) ([]block, error) {
	all := []block{{"ticket", told(b.Ticket)}, {"classification", classified(b.Class)}}
	var likely []string
	for _, m := range b.Modules {
		all = append(all, block{"module", fmt.Sprintf("%s: %s\nmay be changed: %s\n", m.Name, oneLine(m.Description),
			strings.Join(slices.Concat(m.Paths, m.Tests), " "))})
		for _, rule := range m.Rules {
			all = append(all, block{"rule", rule})
		}
	}
	for _, p := range slices.Concat(b.Scope.Likely, pathsOf(b.Chunks)) {
		if _, ok := base.Rules.Entries[p]; ok && !slices.Contains(likely, p) && base.Rules.Refuses(p) == "" {
			likely = append(likely, p)
		}
	}
	shown, files, err := base.show(ctx, "file", likely, maxFiles)
	if err != nil {
		return nil, err
	}
	all = append(all, files...)
	for _, c := range b.Chunks {
		if !slices.Contains(shown, c.Path) {
			all = append(all, block{"piece", fmt.Sprintf("%s, lines %d to %d\n%s", c.Path, c.StartLine, c.EndLine,
				c.Text)})
		}
	}
	if tests {
		examples, err := b.examples(ctx, base, shown)
		if err != nil {
			return nil, err
		}
		all = append(all, examples...)
	}
	for i, said := range b.Rounds {
		all = append(all, block{fmt.Sprintf("feedback %d", i+1), said})
	}
	if !tests {
		all = append(all, proposed(b.Before)...)
	}
	return all, nil
}

func pathsOf(chunks []change.Chunk) (all []string) {
	for _, c := range chunks {
		all = append(all, c.Path)
	}
	return all
}

// show reads files, within so many bytes of all of them; one that is no text is left out.
func (b Base) show(ctx context.Context, label string, paths []string, room int) (shown []string, all []block,
	err error) {
	for _, p := range paths {
		text, err := b.Read(ctx, p)
		switch {
		case err != nil && !tree.AboutFile(err):
			return nil, nil, err
		case err != nil || len(text) > room:
			continue
		}
		room -= len(text)
		shown, all = append(shown, p), append(all, block{label, p + "\n" + string(text)})
	}
	return shown, all, nil
}

// proposed are files as a question shows them: their diffs.
func proposed(files []change.File) (all []block) {
	for _, f := range files {
		all = append(all, block{"proposed", change.Unified([]change.File{f})})
	}
	return all
}
