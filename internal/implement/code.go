package implement

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
)

// Search returns the pieces of a module that fit a query, best first.
type Search func(ctx context.Context, query string, m config.Module) (Found, error)

// Found is the result of a search. Notes say what could not be searched.
type Found struct {
	Chunks []change.Chunk
	Notes  []string
	Usage  cost.Usage
}

// Brief is the input from which a change is written.
type Brief struct {
	Ticket ticket.Ticket // in full
	Draft  change.Draft  // so far; if there is feedback, with the files it is about
	Base   Base          // limited to the chosen modules
	Rounds []string      // the feedback, oldest first
}

// Code asks for the change, and for the root cause of a bug.
func (m *Model) Code(ctx context.Context, b Brief) (cause string, files []change.File, used cost.Usage, err error) {
	var before []change.File
	if len(b.Rounds) > 0 {
		before = b.Draft.Proposed()
	}
	q, err := b.question(ctx, "code", before)
	if err != nil {
		return "", nil, used, err
	}
	used, err = askForAnswer(ctx, m, q, func(said struct {
		RootCause string     `json:"root_cause"`
		Changes   []Proposed `json:"changes"`
	}, last bool) (refused []string, err error) {
		if cause = ""; b.Draft.Class.Type == change.Bug {
			cause = cutLine(said.RootCause)
		}
		switch {
		case len(said.Changes) == 0:
			return []string{"it changes nothing"}, nil
		case b.Draft.Class.Type == change.Bug && cause == "":
			return []string{"root_cause is empty"}, nil
		}
		files, refused, err = b.Base.Apply(ctx, said.Changes, nil, last)
		return refused, err
	})
	return cause, files, used, err
}

// Tests asks for tests of the draft's change. The result may be empty.
func (m *Model) Tests(ctx context.Context, b Brief) (files []change.File, used cost.Usage, err error) {
	q, err := b.question(ctx, "tests", b.Draft.Changes)
	if err != nil {
		return nil, used, err
	}
	if len(b.Rounds) > 0 {
		q.blocks = append(q.blocks, diffBlocks("earlier test", b.Draft.Tests)...)
	}
	used, err = askForAnswer(ctx, m, q, func(said struct {
		Tests *[]Proposed `json:"tests"`
	}, last bool) (refused []string, err error) {
		if said.Tests == nil {
			return []string{"it has no list of tests"}, nil
		}
		files, refused, err = b.Base.Apply(ctx, *said.Tests, b.Draft.Changes, last)
		return refused, err
	})
	return files, used, err
}

const (
	maxFiles    = 160 << 10 // bytes of whole files in a prompt
	maxAside    = 16 << 10  // bytes of one that only the search found
	maxGuides   = 16 << 10  // bytes of instructions
	maxExamples = 32 << 10  // bytes of existing tests, or of build files
	maxHead     = 8 << 10   // bytes of the beginning of one that does not fit
)

// question returns the question for a change or its tests. It shows the sources, for tests also
// existing tests as examples, then the feedback and the files proposed before.
func (b Brief) question(ctx context.Context, step string, before []change.File) (q question, err error) {
	q = question{step: step, schema: prompt(step+".json", "{{files}}", prompt("files.json")), tokens: longAnswer}
	all, shown, err := b.sourceBlocks(ctx)
	if err == nil && step == "tests" {
		var examples []block
		examples, err = b.exampleBlocks(ctx, shown)
		all = append(all, examples...)
	}
	for i, said := range b.Rounds {
		all = append(all, block{fmt.Sprintf("feedback %d", i+1), said})
	}
	q.blocks = append(all, diffBlocks("proposed", before)...)
	return q, err
}

func diffBlocks(label string, files []change.File) (all []block) {
	for _, f := range files {
		all = append(all, block{label, change.Unified([]change.File{f})})
	}
	return all
}

// sourceBlocks returns the ticket, the modules with their rules, the repository's instructions, whole files, whose
// paths are in shown, and pieces of others. The files are those likely to change, and the small ones in which the
// search found something; of a test it found, a piece tells enough. Both steps are shown the same, which a server may
// have cached by the second.
func (b Brief) sourceBlocks(ctx context.Context) (all []block, shown []string, err error) {
	paths := slices.Clone(b.Draft.Scope.Likely)
	for _, c := range b.Draft.Chunks {
		text, _ := b.Base.Read(ctx, c.Path) // fileBlocks reads it again
		if len(text) <= maxAside && !lang.IsTest(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	paths = slices.DeleteFunc(order.Distinct(paths), func(p string) bool { return b.Base.Rules.Refuses(p) != "" })
	shown, files, err := b.Base.fileBlocks(ctx, "file", paths, maxFiles)
	var guides []block
	if err == nil && b.Base.Instructions != nil {
		_, guides, err = b.Base.fileBlocks(ctx, "instructions", b.Base.Instructions(paths), maxGuides)
	}
	all = slices.Concat(b.ticketBlocks(), guides, files)
	for _, c := range b.Draft.Chunks {
		if !slices.Contains(shown, c.Path) {
			all = append(all, block{"piece", fmt.Sprintf("%s, lines %d to %d\n%s", c.Path, c.StartLine, c.EndLine,
				strings.TrimPrefix(c.Text, "\ufeff"))})
		}
	}
	return all, shown, err
}

func (b Brief) ticketBlocks() []block {
	all := []block{{"ticket", ticketText(b.Ticket)}, {"classification", classText(b.Draft.Class)}}
	for _, m := range b.Base.Rules.Modules {
		all = append(all, block{"module", fmt.Sprintf("%s\nmay be changed: %s\n", moduleTitle(m),
			strings.Join(slices.Concat(m.Paths, m.Tests), " "))})
		for _, rule := range m.Rules {
			all = append(all, block{"rule", rule})
		}
	}
	return all
}

// changeLog matches the names of files to which a change adds a line near the top.
var changeLog = pattern.Lazy(`(?i)(?:^|/)(?:changes|change[-_ ]?log|history|news|release[-_ ]?notes)` +
	`(?:\.(?:md|rst|txt|adoc))?$`)

// fileBlocks reads files, at most room bytes altogether, and skips what is not text. If one does not
// fit, or is a large change log, it takes the first lines.
func (b Base) fileBlocks(ctx context.Context, label string, paths []string, room int) (whole []string, all []block,
	err error) {
	for _, p := range paths {
		text, err := b.Read(ctx, p)
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		switch n := len(text); {
		case err != nil && !tree.AboutFile(err):
			return nil, nil, err
		case err != nil:
			continue
		case n <= room && (n <= maxAside || !changeLog().MatchString(p)):
			whole, all = append(whole, p), append(all, block{label, p + "\n" + string(text)})
		default:
			text = text[:bytes.LastIndexByte(text[:min(maxHead, room)], '\n')+1]
			if lines := bytes.Count(text, []byte("\n")); lines > 0 {
				all = append(all, block{label, fmt.Sprintf("%s, the first %d lines\n%s", p, lines, text)})
			}
		}
		room -= len(text)
	}
	return whole, all, nil
}

// exampleBlocks shows how the repository is tested: the tests of the chosen modules that are nearest to the likely
// files, or of other modules if these have none; one end-to-end test; and build files in or above the folders of the
// likely files. A test that is shown as likely to change is enough, for a story together with the end-to-end test.
func (b Brief) exampleBlocks(ctx context.Context, shown []string) (all []block, err error) {
	var own, others, wide, builds []string
	likely := b.Draft.Scope.Likely
	paths := slices.Sorted(maps.Keys(b.Base.Rules.Entries))
	for _, p := range sortByFit(paths, strings.Join(likely, " ")) {
		test, broad := lang.IsTest(p), endToEnd().MatchString(p)
		build := buildFile().MatchString(p) && slices.ContainsFunc(likely, func(l string) bool {
			return path.Dir(p) == "." || strings.HasPrefix(l, path.Dir(p)+"/")
		})
		if slices.Contains(shown, p) || !test && !broad && !build {
			continue
		}
		switch why := b.Base.Rules.Refuses(p); {
		case build:
			builds = append(builds, p)
		case broad && why == "":
			wide = append(wide, p)
		case why == "":
			own = append(own, p)
		case why == scope.Outside:
			others = append(others, p)
		}
	}
	if len(own) == 0 {
		own = others
	}
	if slices.ContainsFunc(shown, lang.IsTest) {
		own, builds = nil, nil
		if b.Draft.Class.Type == change.Bug {
			wide = nil
		}
	}
	for _, kind := range []struct {
		label string
		paths []string
		most  int
	}{{"test", own, 4}, {"end-to-end test", wide, 1}, {"build", builds, 3}} {
		_, blocks, err := b.Base.fileBlocks(ctx, kind.label, kind.paths[:min(len(kind.paths), kind.most)], maxExamples)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

var buildFile = pattern.Lazy(`(?:^|/)(?:package\.json|pom\.xml|build\.gradle(?:\.kts)?|pyproject\.toml|Cargo\.toml|` +
	`go\.mod)$`)

var endToEnd = pattern.Lazy(`(?i)(?:^|[/._-])(?:e2e|end[-_]?to[-_]?end|acceptance|cypress|playwright)` +
	`(?:[/._-]|tests?\b).*\.[a-z]+$|(?:^|/)\w+(?:IT|E2ETest|EndToEndTest)\.(?:java|kt)$`)

// sortByFit returns paths with those first that fit a text best, of others with code first.
func sortByFit(paths []string, text string) []string {
	fit := chunk.Fit(paths, text)
	paths = order.Ahead(paths, func(p string) bool { return lang.Of(p).Name != "" && lang.Of(p).Kind == lang.Code })
	order.Stable(paths, func(a, b string) int { return cmp.Compare(fit[b], fit[a]) })
	return paths
}
