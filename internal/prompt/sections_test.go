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
		"the title stands for its own text": {"# Contributing\nWelcome!\n## Timeouts\nAll calls have one.\n",
			"## Timeouts\nAll calls have one.\n"},
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
		"neither is a tag": {"Cents.\n#install\n####### seven install\nEuros.\n",
			"Cents.\n#install\n####### seven install\nEuros.\n"},
		"no headings":       {"Build it.\nThen test.\n", "Build it.\nThen test.\n"},
		"only about issues": {"# How to report bugs\nHere.\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, aboutCode(c.doc))
		})
	}
	turn := User(mark, Input{Path: "a", Instructions: []Document{{"CONTRIBUTING.md",
		"# Issues\nHere.\n# Money\nIn cents.\n"}}})
	require.Contains(t, turn, "\nCONTRIBUTING.md:\n# Money\nIn cents.\n")
	require.Equal(t, 1, strings.Count(turn, "CONTRIBUTING.md"))
}
