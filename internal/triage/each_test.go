package triage

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestFilesAreLookedAtSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	met := make(chan string)
	names := forEachFile([]diff.File{{Path: "a"}, {Path: "b"}}, func(f diff.File) string {
		if f.Path == "a" {
			return f.Path + <-met // one after the other would wait for ever
		}
		met <- f.Path
		return f.Path
	})
	require.Equal(t, []string{"ab", "b"}, names)
}

func TestWhatIsInspectedStandsInTheOrderOfTheFiles(t *testing.T) {
	t.Parallel()
	token := llmtest.Fakes("inspect")["github_pat"].Value
	var files []diff.File
	for i := range 200 {
		f := adding("b(\u202e)", "key := \""+token+"\"", "// "+demand)
		f.Path = fmt.Sprintf("pkg%03d/a.go", i)
		files = append(files, f)
	}
	var patches []diff.File
	var found []finding.Finding
	var flags []finding.Flag
	for i := range files {
		one := Inspect(files[i:i+1], nil, Options{})
		patches, found, flags = append(patches, one.Files...), append(found, one.Findings...),
			append(flags, one.Flags...)
	}
	seen := Inspect(files, nil, Options{})
	require.Equal(t, patches, seen.Files)
	require.Equal(t, found, seen.Findings)
	require.Equal(t, flags, seen.Flags)
	require.Greater(t, len(found), 200)
	require.Greater(t, len(flags), 100)
}
