package implement

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/scope"
)

const (
	maxExamples = 32 << 10 // bytes of tests that stand there
	maxBuild    = 16 << 10 // bytes of what the build says
	mostTests   = 4        // files of tests
	mostBuild   = 3        // files of the build
)

// examples show how the repository tests: tests of the chosen modules, those about the likely
// files first, or others where these have none; one that runs the whole from end to end; and
// what the build above the likely files has.
func (b Brief) examples(ctx context.Context, shown []string) (all []block, err error) {
	var own, others, wide []string
	for p := range b.Base.Rules.Entries {
		if !lang.IsTest(p) && !endToEnd.MatchString(p) {
			continue
		}
		switch why := b.Base.Rules.Refuses(p); {
		case why == "" && endToEnd.MatchString(p):
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
	own = slices.DeleteFunc(own, func(p string) bool { return slices.Contains(shown, p) })
	for _, kind := range []struct {
		label      string
		paths      []string
		most, room int
	}{
		{"test", b.nearest(own), mostTests, maxExamples}, {"end-to-end test", b.nearest(wide), 1, maxExamples},
		{"build", b.builds(shown), mostBuild, maxBuild},
	} {
		_, blocks, err := b.Base.show(ctx, kind.label, kind.paths[:min(len(kind.paths), kind.most)], kind.room)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

var endToEnd = regexp.MustCompile(`(?i)(?:^|[/._-])(?:e2e|end[-_]?to[-_]?end|acceptance|cypress|playwright)` +
	`(?:[/._-]|tests?\b).*\.[a-z]+$|(?:^|/)\w+(?:IT|E2ETest|EndToEndTest)\.(?:java|kt)$`)

// nearest sorts tests by what they have to do with the likely files: named like one, beside
// one, of one's language, none of it.
func (b Brief) nearest(tests []string) []string {
	far := map[string]int{}
	for _, p := range tests {
		far[p] = 3
		for _, l := range b.Draft.Scope.Likely {
			stem := strings.TrimSuffix(path.Base(l), path.Ext(l))
			switch {
			case len(stem) > 2 && strings.Contains(strings.ToLower(path.Base(p)), strings.ToLower(stem)):
				far[p] = 0
			case path.Dir(p) == path.Dir(l):
				far[p] = min(far[p], 1)
			case path.Ext(p) == path.Ext(l):
				far[p] = min(far[p], 2)
			}
		}
	}
	slices.SortFunc(tests, func(a, b string) int { return cmp.Or(far[a]-far[b], strings.Compare(a, b)) })
	return tests
}

// builds are the files beside and above the likely ones that say what tests are made with.
func (b Brief) builds(shown []string) (all []string) {
	for _, l := range b.Draft.Scope.Likely {
		for dir := path.Dir(l); ; dir = path.Dir(dir) {
			for _, name := range []string{"package.json", "pom.xml", "build.gradle", "build.gradle.kts",
				"pyproject.toml", "Cargo.toml", "go.mod"} {
				p := path.Join(dir, name)
				if _, there := b.Base.Rules.Entries[p]; there && !slices.Contains(slices.Concat(all, shown), p) {
					all = append(all, p)
				}
			}
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	return all
}
