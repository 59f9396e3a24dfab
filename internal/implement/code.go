package implement

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
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

// Code asks for the change, and for the root cause of a bug. The error is an *Unusable if two
// answers were refused.
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
		cause = cutLine(said.RootCause)
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
	maxFiles = 160 << 10 // bytes of whole files in a prompt
	maxAside = 16 << 10  // bytes of one that only the search found, or of a test while the change is written
	maxHead  = 4 << 10   // bytes of large change logs
)

// question returns the question for a change or its tests. It shows the sources, for tests also
// existing tests as examples, then the feedback and the files proposed before.
func (b Brief) question(ctx context.Context, step string, before []change.File) (q question, err error) {
	q = question{step: step, schema: prompt(step+".json", "{{files}}", prompt("files.json")), tokens: longAnswer}
	all, shown, err := b.sourceBlocks(ctx, step)
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

// sourceBlocks returns the ticket, the modules with their rules, whole files, whose paths are in shown, and pieces of
// others. The files are those likely to change, and the small ones in which the search found something; of a large
// change log, the beginning. The step tests also gets the large tests, behind what the step code was shown, whose
// prefix a server may have cached, or before it if not all fits.
func (b Brief) sourceBlocks(ctx context.Context, step string) (all []block, shown []string, err error) {
	all = b.ticketBlocks()
	may, logs, tests, size, err := b.chooseFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	if step != "tests" {
		tests = nil
	} else if size > maxFiles {
		may, tests = order.Ahead(slices.Concat(may, tests), lang.IsTest), nil
	}
	shown, files, err := b.Base.fileBlocks(ctx, "file", may, maxFiles, 0)
	if err != nil {
		return nil, nil, err
	}
	_, heads, err := b.Base.fileBlocks(ctx, "file", logs, maxHead, maxHead)
	if err != nil {
		return nil, nil, err
	}
	all = slices.Concat(all, files, heads)
	for _, c := range b.Draft.Chunks {
		if !slices.Contains(shown, c.Path) {
			all = append(all, block{"piece", fmt.Sprintf("%s, lines %d to %d\n%s", c.Path, c.StartLine, c.EndLine,
				strings.TrimPrefix(c.Text, "\ufeff"))})
		}
	}
	more, files, err := b.Base.fileBlocks(ctx, "file", tests, maxFiles, 0)
	return append(all, files...), append(shown, more...), err
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

// chooseFiles returns the files to show: whole, by their beginning, and the large tests; size is that of those shown
// whole.
func (b Brief) chooseFiles(ctx context.Context) (whole, logs, tests []string, size int, err error) {
	found := slices.Clone(b.Draft.Scope.Likely)
	for _, c := range b.Draft.Chunks {
		found = append(found, c.Path)
	}
	for i, p := range found {
		if _, ok := b.Base.Rules.Entries[p]; !ok || slices.Contains(found[:i], p) || b.Base.Rules.Refuses(p) != "" {
			continue
		}
		text, err := b.Base.Read(ctx, p)
		if err != nil && !tree.AboutFile(err) {
			return nil, nil, nil, 0, err
		}
		named := i < len(b.Draft.Scope.Likely)
		switch large := len(text) > maxAside; {
		case !named && (large || lang.IsTest(p)): // a piece tells enough
			continue
		case large && changeLog().MatchString(path.Base(p)):
			logs = append(logs, p)
			continue
		case large && lang.IsTest(p):
			tests = append(tests, p)
		default:
			whole = append(whole, p)
		}
		size += len(text)
	}
	return whole, logs, tests, size, nil
}

// changeLog matches the names of files to which a change adds a line near the top.
var changeLog = pattern.Lazy(`(?i)^(?:changes|change[-_ ]?log|history|news|release[-_ ]?notes)` +
	`(?:\.(?:md|rst|txt|adoc))?$`)

// fileBlocks reads files, at most room bytes altogether. Of one that does not fit it takes the first
// lines, of at most part bytes, unless part is 0. It skips what is no text.
func (b Base) fileBlocks(ctx context.Context, label string, paths []string, room, part int) (shown []string,
	all []block, err error) {
	for _, p := range paths {
		text, err := b.Read(ctx, p)
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		switch {
		case err != nil && !tree.AboutFile(err):
			return nil, nil, err
		case err != nil:
			continue
		case len(text) > room:
			begun := text[:bytes.LastIndexByte(text[:min(part, room)], '\n')+1]
			if len(begun) > 0 {
				room -= len(begun)
				all = append(all, block{label, fmt.Sprintf("%s, the first %d lines of %d\n%s", p,
					bytes.Count(begun, []byte("\n")), bytes.Count(text, []byte("\n")), begun)})
			}
			continue
		}
		room -= len(text)
		shown, all = append(shown, p), append(all, block{label, p + "\n" + string(text)})
	}
	return shown, all, nil
}

const (
	maxExamples = 32 << 10 // bytes of existing tests
	maxExample  = 12 << 10 // bytes of one that does not fit
	maxBuild    = 16 << 10 // bytes of build files
	mostTests   = 4        // test files
	mostBuild   = 3        // build files
)

// exampleBlocks shows how the repository is tested: tests of the chosen modules, those closest to the
// likely files first, or of other modules if these have none; only likely ones if one of these is
// shown already; else, or for a story, one end-to-end test; and build files next to or above the likely files.
func (b Brief) exampleBlocks(ctx context.Context, shown []string) (all []block, err error) {
	var own, others, wide []string
	for p := range b.Base.Rules.Entries {
		if !lang.IsTest(p) && !endToEnd().MatchString(p) {
			continue
		}
		switch why := b.Base.Rules.Refuses(p); {
		case why == "" && endToEnd().MatchString(p):
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
	likely := func(p string) bool { return slices.Contains(b.Draft.Scope.Likely, p) }
	enough := slices.ContainsFunc(shown, func(p string) bool { return lang.IsTest(p) && likely(p) })
	own = slices.DeleteFunc(own, func(p string) bool {
		return slices.Contains(shown, p) || enough && !likely(p)
	})
	builds := b.buildFiles(shown)
	if enough { // the likely test shows what tests are written with
		builds = nil
		if b.Draft.Class.Type == change.Bug {
			wide = nil
		}
	}
	for _, kind := range []struct {
		label      string
		paths      []string
		most, room int
	}{
		{"test", b.sortByNearness(own), mostTests, maxExamples},
		{"end-to-end test", b.sortByNearness(wide), 1, maxExamples},
		{"build", builds, mostBuild, maxBuild},
	} {
		_, blocks, err := b.Base.fileBlocks(ctx, kind.label, kind.paths[:min(len(kind.paths), kind.most)], kind.room,
			maxExample)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

var endToEnd = pattern.Lazy(`(?i)(?:^|[/._-])(?:e2e|end[-_]?to[-_]?end|acceptance|cypress|playwright)` +
	`(?:[/._-]|tests?\b).*\.[a-z]+$|(?:^|/)\w+(?:IT|E2ETest|EndToEndTest)\.(?:java|kt)$`)

// sortByNearness sorts tests by how close they are to a likely file: the file itself, then by the words
// that their paths have in common; tests by name before what stands beside them.
func (b Brief) sortByNearness(tests []string) []string {
	far := map[string]int{}
	for _, p := range tests {
		words := chunk.Tokens(p)
		for _, l := range b.Draft.Scope.Likely {
			common := slices.DeleteFunc(chunk.Tokens(l), func(w string) bool { return !slices.Contains(words, w) })
			if far[p] = min(far[p], -2*len(common)); p == l {
				far[p] = math.MinInt / 2
			}
		}
		if !named().MatchString(path.Base(p)) {
			far[p]++
		}
	}
	slices.SortFunc(tests, func(a, b string) int { return cmp.Or(far[a]-far[b], strings.Compare(a, b)) })
	return tests
}

var named = pattern.Lazy(`(?i)test|spec`)

// buildFiles returns the build files next to and above the likely ones, which name the test tools.
func (b Brief) buildFiles(shown []string) (all []string) {
	for _, l := range b.Draft.Scope.Likely {
		for dir := l; dir != path.Dir(dir); {
			dir = path.Dir(dir)
			for _, name := range []string{"package.json", "pom.xml", "build.gradle", "build.gradle.kts",
				"pyproject.toml", "Cargo.toml", "go.mod"} {
				p := path.Join(dir, name)
				if _, there := b.Base.Rules.Entries[p]; there && !slices.Contains(slices.Concat(all, shown), p) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}
