package internal_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The release is started by hand, on the default branch; only its last job, behind an
// environment, may write, and holds no secret. Every action in it is pinned.
func TestT18_T32_TheReleaseAloneWritesToTheRepository(t *testing.T) {
	t.Parallel()
	w := shipped(t)["release.yml"]
	require.Equal(t, []string{"workflow_dispatch"}, keys(w.On))
	require.Equal(t, map[string]any{}, w.Permissions)
	require.NotRegexp(t, secret, w.text)
	for name, j := range w.Jobs {
		for _, s := range j.Steps {
			require.True(t, s.Uses == "" || pinned.MatchString(s.Uses), s.Uses)
			require.NotRegexp(t, outside, s.Run, name)
			if strings.HasPrefix(s.Uses, "actions/checkout@") {
				require.Equal(t, name == "publish", s.With["persist-credentials"], "%s: pushes tags, or nothing", name)
			}
			if strings.HasPrefix(s.Uses, "actions/setup-go@") {
				require.Equal(t, false, s.With["cache"], "%s: another run may have filled it", name)
			}
		}
		if name != "publish" {
			require.Equal(t, map[string]any{"contents": "read"}, j.Permissions, name)
		}
	}
	require.Equal(t, map[string]any{"contents": "write", "packages": "write", "id-token": "write",
		"attestations": "write"}, w.Jobs["publish"].Permissions)
	require.Equal(t, "release", w.Jobs["publish"].Environment)
	require.Contains(t, w.text, "  publish:\n    needs: [test, build]\n")
	require.Equal(t, 2, strings.Count(w.text, "    if: github.ref == format('refs/heads/{0}', "+
		"github.event.repository.default_branch)\n"))
}

// T18: v1 is moved by one line of one script, which one workflow runs.
func TestT18_V1IsMovedByTheReleaseAlone(t *testing.T) {
	t.Parallel()
	var pushing, running []string
	for _, pattern := range []string{"../.ci/*", "../.github/workflows/*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			text := read(t, path)
			if strings.Contains(text, "git push") {
				pushing = append(pushing, filepath.Base(path))
			}
			if regexp.MustCompile(`(?m)^[^#]*\.ci/publish`).MatchString(text) {
				running = append(running, filepath.Base(path))
			}
		}
	}
	require.Equal(t, []string{"publish"}, pushing)
	require.Equal(t, []string{"rehearse", "release.yml"}, running, "rehearse pushes to a folder")
}

// licences are told by a phrase of their texts.
var licences = []struct{ name, phrase string }{
	{"GPL", "GNU GENERAL PUBLIC LICENSE"}, {"LGPL", "GNU LESSER"}, {"AGPL", "GNU AFFERO"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"}, {"Apache-2.0", "Apache License"},
	{"BSD", "Redistribution and use in source and binary forms"},
	{"MIT", "Permission is hereby granted, free of charge"}, {"MIT", "## License\n\nMIT\n"},
}

// What is linked for any system is under a licence that .github/DEPENDENCIES.md names,
// and of modules that go.mod lists.
func TestLicencesOfWhatIsLinked(t *testing.T) {
	t.Parallel()
	page, mod := read(t, "../.github/DEPENDENCIES.md"), read(t, "../go.mod")
	under := map[string][]string{}
	for path, dir := range linked(t) {
		require.Contains(t, mod, path+" v")
		files, err := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
		require.NoError(t, err)
		files = append(files, filepath.Join(dir, "README.md")) // go-localereader says it there alone
		at := slices.IndexFunc(licences, func(l struct{ name, phrase string }) bool {
			return strings.Contains(read(t, files[0]), l.phrase)
		})
		require.GreaterOrEqual(t, at, 0, "%s: an unknown licence", path)
		under[licences[at].name] = append(under[licences[at].name], path)
	}
	require.Greater(t, len(under["MIT"]), 10)
	require.ElementsMatch(t, []string{"MIT", "BSD", "Apache-2.0"}, slices.Collect(maps.Keys(under)))
	require.Contains(t, page, "everything linked is under MIT, BSD or Apache-2.0")
}

// linked are the folders of the modules in the program, by their paths.
func linked(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "..")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		var trouble bytes.Buffer
		list.Stderr = &trouble
		out, err := list.Output()
		require.NoError(t, err, trouble.String())
		for line := range strings.Lines(string(out)) {
			path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			all[path] = dir
		}
	}
	delete(all, "")
	require.NotEmpty(t, all)
	return all
}
