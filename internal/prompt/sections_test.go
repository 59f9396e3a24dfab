package prompt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInstructionsAreShownWithoutWhatIsNotAboutCode has sections as real documents for contributors name them.
func TestInstructionsAreShownWithoutWhatIsNotAboutCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, want string }{
		"what stands under a title is kept": {"# Contributing\nWrap errors.\n## Installation\nRun it.\n## Timeouts\nAll.\n",
			"# Contributing\nWrap errors.\n## Timeouts\nAll.\n"},
		"what stands below goes with it": {"## Pull Requests\na\n### Opening one\nb\n#### Title\nc\n## Layers\nd\n",
			"## Layers\nd\n"},
		"but for what is about code": {"## Pull Requests\na\n### Tests\nb\n#### Fixtures\nc\n#### Commit order\nd\n",
			"### Tests\nb\n#### Fixtures\nc\n"},
		"below what is about the project, code must be all": {"## Git\na\n### Git naming conventions\nb\n", ""},
		"a title of both": {"## Contribution guidelines\na\n### Errors\nb\n",
			"## Contribution guidelines\na\n### Errors\nb\n"},
		"conduct is not about code": {"# Rules\na\n## Code of Conduct\nb\n", "# Rules\na\n"},
		"a shell comment is no heading": {"## Money\n```sh\n# install it\n```\nIn cents.\n",
			"## Money\n```sh\n# install it\n```\nIn cents.\n"},
		"runs of tests are not about code": {"## Running tests\na\n### Limits\nb\n## Test names\nc\n", "## Test names\nc\n"},
		"addresses are of no use": {"See [a].\n\n[a]: https://a.example\n```\n[b]: c\n```\n",
			"See [a].\n\n```\n[b]: c\n```\n"},
		"underlined": {"Rules\n=====\na\n\nGradle setup\n------------\nb\n\nMoney\n-----\nc\n",
			"Rules\n=====\na\n\nMoney\n-----\nc\n"},
		"reading is not always further reading": {"## Reading files\na\n## Further reading\nb\n## Workflows\nc\n",
			"## Reading files\na\n## Workflows\nc\n"},
		"neither is a tag": {"Cents.\n#install\n####### seven install\nEuros.\n",
			"Cents.\n#install\n####### seven install\nEuros.\n"},
		"no headings":       {"Build it.\nThen test.\n", "Build it.\nThen test.\n"},
		"only about issues": {"## How to report bugs\nHere.\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, aboutCode(c.doc))
		})
	}
	doc := "## Issues\nHere.\n## Money\nIn cents.\n"
	turn := User(mark, Input{Path: "a", Instructions: []Document{{"docs/Contributing.md", doc}, {"AGENTS.md", doc}}})
	require.Contains(t, turn, "\ndocs/Contributing.md:\n## Money\nIn cents.\n")
	require.Contains(t, turn, "\nAGENTS.md:\n"+doc, "what is written for agents is shown as it is")
	require.Equal(t, 1, strings.Count(turn, "Contributing.md"))
}
