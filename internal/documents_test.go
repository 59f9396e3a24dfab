package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/settings"
)

// documents are the Markdown files of the tree, by path from its top.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"README.md": read(t, "../README.md")}
	err := filepath.WalkDir("../.github", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			all[strings.TrimPrefix(filepath.ToSlash(path), "../")] = read(t, path)
		}
		return err
	})
	require.NoError(t, err)
	return all
}

func TestTheREADMEIsShort(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(read(t, "../README.md"), "\n"), "\n")
	require.LessOrEqual(t, len(lines), 150)
	for i, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 120, "line %d", i+1)
	}
}

var (
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	namedPlace = regexp.MustCompile(`<a id="([^"]+)">`)
	mdLink     = regexp.MustCompile(`(?:\]\(|<img src=")([^)"\s]+)`)
	ownAddress = regexp.MustCompile(`https://github\.com/org/pr-review-action/(?:blob|raw)/v1/([\w./#-]+[\w])`)
	notInSlugs = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors are a page's, as GitHub makes them of headings.
func anchors(page string) map[string]bool {
	all, seen := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		title := linkText.ReplaceAllString(m[1], "$1")
		slug := strings.ReplaceAll(notInSlugs.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
		if seen[slug]++; seen[slug] > 1 {
			slug = fmt.Sprintf("%s-%d", slug, seen[slug]-1)
		}
		all[slug] = true
	}
	for _, m := range namedPlace.FindAllStringSubmatch(page, -1) {
		all[m[1]] = true
	}
	return all
}

// leads is an error where a link of a file leads to nothing in the tree.
func leads(t *testing.T, from, link string) error {
	t.Helper()
	if strings.Contains(link, ":") || strings.Contains(link, "#L") {
		return nil // another host, or a line of code
	}
	path, anchor, _ := strings.Cut(link, "#")
	at := from
	if path != "" {
		at = filepath.Join(filepath.Dir(from), path)
	}
	if _, err := os.Stat(filepath.Join("..", at)); err != nil {
		return fmt.Errorf("%s: %s: there is no such file", from, link)
	}
	if anchor != "" && !anchors(read(t, filepath.Join("..", at)))[anchor] {
		return fmt.Errorf("%s: %s: there is no such heading", from, link)
	}
	return nil
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	for path, page := range documents(t) {
		for _, m := range mdLink.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			require.NoError(t, leads(t, path, m[1]))
		}
	}
	require.Error(t, leads(t, "README.md", "NOWHERE.md"))
	require.Error(t, leads(t, "README.md", ".github/GUIDES.md#nowhere"))
	require.NoError(t, leads(t, ".github/GUIDES.md", "#3-deciding-by-dispatch"))
}

var namedFile = regexp.MustCompile("`([a-z0-9_./-]+\\.go|internal/[a-z0-9_./-]+)`")

func TestFilesThatTheDocumentsNameAreThere(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"ledger/transfer.go": true} // of an example
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		for rest, more := filepath.ToSlash(path), true; more; _, rest, more = strings.Cut(rest, "/") {
			there[rest] = true
		}
		return err
	})
	require.NoError(t, err)
	for path, page := range documents(t) {
		for _, m := range namedFile.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			require.True(t, there[m[1]], "%s names %s", path, m[1])
		}
	}
}

var namedInCode = regexp.MustCompile("`(\\w+)(\\.[A-Z]\\w+)\\b")

func TestNamesThatTheDocumentsUseAreThere(t *testing.T) {
	t.Parallel()
	code := map[string]string{} // by package
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") {
			code[filepath.Base(filepath.Dir(path))] += read(t, path)
		}
		return err
	})
	require.NoError(t, err)
	for path, page := range documents(t) {
		for _, m := range namedInCode.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			if text, room := code[m[1]]; room {
				word := regexp.MustCompile(`\b` + m[2][1:] + `\b`)
				require.True(t, word.MatchString(text), "%s names %s%s", path, m[1], m[2])
			}
		}
	}
}

var namedInFile = regexp.MustCompile("`(\\w+)`\\s(?:(?:of|in)\\s|\\()`([\\w./-]+\\.go)`")

func TestNamesThatTheDocumentsUseOfAFileAreInIt(t *testing.T) {
	t.Parallel()
	code := map[string]string{} // by the end of the path; of files with the same end together
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text := read(t, path)
		for rest, more := "internal/"+filepath.ToSlash(path), true; more; _, rest, more = strings.Cut(rest, "/") {
			code[rest] += text
		}
		return nil
	})
	require.NoError(t, err)
	seen := 0
	for path, page := range documents(t) {
		for _, m := range namedInFile.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			seen++
			word := regexp.MustCompile(`\b` + m[1] + `\b`)
			require.True(t, word.MatchString(code[m[2]]), "%s names %s of %s", path, m[1], m[2])
		}
	}
	require.NotZero(t, seen)
}

func TestAddressesOfDocumentsInTheProgramLeadSomewhere(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		for _, m := range ownAddress.FindAllStringSubmatch(read(t, path), -1) {
			seen++
			require.NoError(t, leads(t, "x", m[1]), path)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, seen)
}

// yamlOf are a page's blocks of YAML, without their indentation in lists.
func yamlOf(page string) (blocks []string) {
	for _, m := range regexp.MustCompile("(?ms)^( *)```ya?ml\n(.*?)^ *```$").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")[1:])
	}
	return blocks
}

// A block is a workflow, settings, steps of a job, or a job's keys and inputs: each is held against what reads it.
func TestT16_T17_T18_T32_T39_YAMLOfTheDocumentsIsReadAndKeepsTheRules(t *testing.T) {
	t.Parallel()
	for path, page := range documents(t) {
		if path == ".github/REUSABLE.md" {
			continue // TestT17_T39_TheGuidesCallers
		}
		for _, block := range yamlOf(page) {
			t.Run(path, func(t *testing.T) { require.Empty(t, wrong(t, block), block) })
		}
	}
	require.NotEmpty(t, wrong(t, "max-cos: 1\n"))
	require.NotEmpty(t, wrong(t, "verify: perhaps\n"))
	require.NotEmpty(t, wrong(t, "- uses: org/pr-review-action@v1\n  with: { bas-url: x }\n"))
	require.NotEmpty(t, wrong(t, "jobs: { a: { steps: [] } }\n"))
}

func wrong(t *testing.T, block string) (problems []string) {
	t.Helper()
	var whole any
	if err := yaml.Unmarshal([]byte(block), &whole); err != nil {
		return []string{err.Error()}
	}
	inputs := func(keys map[string]any) {
		for key := range keys {
			if key != "permissions" && key != "env" && !slices.Contains(settings.Names(), key) {
				problems = append(problems, key+" is no input")
			}
		}
	}
	switch top := whole.(type) {
	case []any:
		var steps []step
		require.NoError(t, yaml.Unmarshal([]byte(block), &steps))
		for _, s := range steps {
			if strings.HasPrefix(s.Uses, product) {
				inputs(s.With)
			}
			for _, p := range brokenStep(workflow{}, s, false) {
				problems = append(problems, p[1])
			}
		}
	case map[string]any:
		if top["jobs"] != nil {
			return broken(parsed(t, block))
		}
		file, text := config.File{Path: "block"}, []byte(block)
		if top["locked"] != nil {
			file.Defaults, text = block, nil
		}
		_, err := file.Parse(text)
		if err == nil {
			return nil
		}
		if inputs(top); len(problems) > 0 {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// TestActionlintTakesTheWorkflowsOfTheDocuments runs where actionlint is installed, as the
// test of what init writes: whole workflows as they stand, steps within a job.
func TestActionlintTakesTheWorkflowsOfTheDocuments(t *testing.T) {
	t.Parallel()
	linter, err := exec.LookPath("actionlint")
	if err != nil {
		linter = os.Getenv("ACTIONLINT")
	}
	linted := 0
	for path, page := range documents(t) {
		for _, block := range yamlOf(page) {
			var is any
			require.NoError(t, yaml.Unmarshal([]byte(block), &is))
			whole, _ := is.(map[string]any)
			if _, steps := is.([]any); steps {
				block = "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      " +
					strings.ReplaceAll(block, "\n", "\n      ") + "\n"
			} else if whole["jobs"] == nil || whole["on"] == nil {
				continue // settings, inputs, or a part of a job
			}
			linted++
			if linter != "" {
				cmd := exec.Command(linter, "-")
				cmd.Stdin = strings.NewReader(block)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s:\n%s\n%s", path, block, out)
			}
		}
	}
	require.GreaterOrEqual(t, linted, 5)
}
