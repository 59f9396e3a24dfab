package scope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/scope"
)

func rules() *scope.Rules {
	return &scope.Rules{
		Modules: []config.Module{{Name: "core", Paths: []string{"core/**"}, Tests: []string{"test/core/**"}},
			{Name: "root", Paths: []string{"/*"}}},
		Protected: []string{"core/legal/**", "*.pem", "core/[^a-z].key"},
		Entries: map[string]diff.Entry{"core/a.go": {Mode: "100644"}, "core/run.sh": {Mode: "100755"},
			"core/link": {Mode: "120000"}, "core/sub": {Mode: "160000"}, "core/Cafe\u0301.go": {Mode: "100644"},
			"go.mod": {Mode: "100644"}},
	}
}

// TestT33_PathsAreRefusedByName holds a change within its modules, whatever a path is made
// to look like.
func TestT33_PathsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for path, why := range map[string]string{
		"core/a.go": "", "core/new/b.go": "", "test/core/a_test.go": "", "README.md": "", "core/[id].tsx": "",
		"other/a.go":                       "it is outside of the chosen modules",
		"test/other/a_test.go":             "it is outside of the chosen modules",
		"../core/a.go":                     "leaves the tree",
		"core/../../a.go":                  "leaves the tree",
		"core/../a.go":                     "leaves the tree",
		"/core/a.go":                       "is absolute",
		"core//a.go":                       "is not clean",
		`core\a.go`:                        "holds a NUL or a backslash",
		"":                                 "names no file",
		"C:/core/a.go":                     "is absolute",
		".github/workflows/ci.yml":         "it is protected: GitHub's workflows and settings",
		".GitHub/workflows/ci.yml":         "it is protected: GitHub's workflows and settings",
		"core/.github/a.yml":               "it is protected: GitHub's workflows and settings",
		"\uff0egithub/workflows/a.yml":     "it is protected: GitHub's workflows and settings",
		".git/hooks/post-checkout":         "it is protected: Git's own files",
		"core/.GIT/config":                 "it is protected: Git's own files",
		"core/git~1/config":                "its name has characters or ends that other systems read as another name",
		"core/.git /config":                "its name has characters or ends that other systems read as another name",
		"core/.git./config":                "its name has characters or ends that other systems read as another name",
		"core/.gi\u200ct/config":           "its name has characters or ends that other systems read as another name",
		"core/a.go:stream":                 "its name has characters or ends that other systems read as another name",
		"core/a\n.go":                      "its name has characters or ends that other systems read as another name",
		".gitmodules":                      "it is protected: Git's own files",
		".husky/pre-commit":                "it is protected: hooks",
		"CODEOWNERS":                       "it is protected: who owns what",
		"core/codeowners":                  "it is protected: who owns what",
		"Jenkinsfile":                      "it is protected: CI",
		".gitlab-ci.yml":                   "it is protected: CI",
		"go.sum":                           "it is protected: lockfiles, and what others or programs wrote",
		"core/Package-Lock.json":           "it is protected: lockfiles, and what others or programs wrote",
		".npmrc":                           "it is protected: where packages come from",
		".vscode/tasks.json":               "it is protected: what starts on opening the folder",
		"core/legal/terms.md":              "it is protected by the settings",
		"Core/Legal/terms.md":              "it is protected by the settings",
		"core/KEY.PEM":                     "it is protected by the settings",
		"core/X.key":                       "it is protected by the settings",
		"core/ a.go":                       "its name has characters or ends that other systems read as another name",
		"core/" + strings.Repeat("a", 235): "",
		"core/" + strings.Repeat("a", 236): "it is longer than 240 bytes",
		"core":                             "it is a folder",
		"core/run.sh":                      "it is executable, which the commit could not keep",
		"core/link":                        "it is a link",
		"core/link/a.go":                   `"core/link" is a link, and no folder`,
		"core/sub":                         "it is a submodule",
		"core/sub/a.go":                    `"core/sub" is a submodule, and no folder`,
		"core/a.go/b.go":                   `"core/a.go" is a file, and no folder`,
		"core/A.go":                        `its name differs from "core/a.go" only in case or form`,
		"Core/b.go":                        `its name differs from "core" only in case or form`,
		"core/Caf\u00e9.go":                "its name differs from \"core/Cafe\u0301.go\" only in case or form",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, why, rules().Refuses(path))
		})
	}
}

// TestT33_WhatPackageManagersServicesAndEditorsReadIsProtected has names of today, and others that only look like them.
func TestT33_WhatPackageManagersServicesAndEditorsReadIsProtected(t *testing.T) {
	t.Parallel()
	const lock, ci, packages, starts = "it is protected: lockfiles, and what others or programs wrote",
		"it is protected: CI", "it is protected: where packages come from",
		"it is protected: what starts on opening the folder"
	for why, paths := range map[string]string{
		lock: "bun.lock uv.lock pnpm-lock.yaml deno.lock flake.lock Package.resolved packages.lock.json gradle.lockfile " +
			"mix.lock pubspec.lock rebar.lock esy.lock buf.lock renv.lock stack.yaml.lock gems.locked pylock.toml " +
			"pylock.dev.toml conda-lock.yml .pnp.cjs .pnp.loader.mjs cabal.project.freeze cpanfile.snapshot " +
			"core/gradle/dependency-locks/compile.lockfile core/gradle/verification-metadata.xml",
		ci: "Jenkinsfile.release .azure-pipelines.yml azure-pipelines-release.yml core/build/azure-pipelines/build.yml " +
			".drone.jsonnet .cirrus.star .tekton/push.yaml buildspec.yml .semaphore/semaphore.yml .builds/a.yml .zuul.d/a.yaml",
		packages: ".pnpmfile.mjs bunfig.toml pip.ini uv.toml .pypirc .bundle/config .cargo/config.toml",
		starts:   ".devcontainer.json .gitpod.yml .claude/settings.json .cursor/mcp.json .mcp.json core/a.code-workspace",
		"it is protected: hooks": ".huskyrc.json lefthook-local.yml .simple-git-hooks.json .git-hooks/a .githooks/a " +
			"githooks/a .overcommit.yml",
		"it is protected: Git's own files": ".lfsconfig",
		"": "core/lock.go core/lockfile.go core/file.lock.go core/locks/a.go core/pnp.js core/build.yml core/cargo/a.rs " +
			"core/cursor.go core/jenkins.go core/jenkinsfile_parser.go core/azure-pipelines-task.ts core/builds/a.go " +
			"core/hooks/a.ts core/drone.go package.json Makefile",
	} {
		for _, path := range strings.Fields(paths) {
			all := rules()
			all.Modules[1].Paths = []string{"/**"}
			require.Equal(t, why, all.Refuses(path), path)
		}
	}
}

func TestModulesAreDerived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paths []string
		read  map[string]string
		want  []string
		tests []string
	}{
		"several go.mod":  {[]string{"a/go.mod", "a/x.go", "b/go.mod", "docs/x.md"}, nil, []string{"a", "b"}, nil},
		"a go.mod within": {[]string{"go.mod", "a/x.go", "tools/go.mod"}, nil, []string{"a", "tools", "root"}, nil},
		"one go.mod": {[]string{"go.mod", "internal/a/x.go", "internal/b/x.go", "cmd/x/main.go"}, nil,
			[]string{"cmd", "internal/a", "internal/b", "root"}, nil},
		"workspaces": {[]string{"package.json", "packages/a/package.json", "packages/b/package.json",
			"tools/package.json"},
			map[string]string{"package.json": `{"workspaces":["packages/*"]}`},
			[]string{"packages/a", "packages/b", "root"}, nil},
		"named workspaces": {[]string{"package.json", "x/package.json", "y/package.json"},
			map[string]string{"package.json": `{"workspaces":{"packages":["./x","y"]}}`},
			[]string{"x", "y", "root"}, nil},
		"workspaces without some": {[]string{"libs/a/package.json", "libs/b/package.json", "libs/old/package.json"},
			map[string]string{"package.json": `{"workspaces":["!libs/old","libs/*"]}`}, []string{"libs/a", "libs/b"}, nil},
		"another tool's workspaces": {[]string{"Cargo.toml", "pnpm-workspace.yaml", "apps/web/package.json",
			"crates/a/Cargo.toml", "crates/b/Cargo.toml", "old/Cargo.toml"}, nil,
			[]string{"apps/web", "crates/a", "crates/b", "old", "root"}, nil},
		"folders": {[]string{"pom.xml", "task-api/pom.xml", "task-api/src/A.java", "task-core/pom.xml",
			".github/x.yml"}, nil,
			[]string{"task-api", "task-core", "root"}, nil},
		"tests beside": {[]string{"src/a.ts", "test/a.test.ts", "package.json"}, nil, []string{"src", "root"},
			[]string{"test/**"}},
		"broken json": {[]string{"package.json", "src/a.ts"}, map[string]string{"package.json": `{"workspaces":`},
			[]string{"src", "root"}, nil},
		"nothing": {nil, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modules := scope.Derive(c.paths, func(p string) []byte { return []byte(c.read[p]) })
			var names []string
			for _, m := range modules {
				names = append(names, m.Name)
				require.Equal(t, c.tests, m.Tests)
			}
			require.Equal(t, c.want, names)
		})
	}
}

func TestT33_OfTwoNamesThatDifferOnlyInCaseAlwaysTheSameIsRefused(t *testing.T) {
	t.Parallel()
	for range 50 {
		r := scope.Rules{Entries: map[string]diff.Entry{"A.go": {Mode: "100644"}, "a.go": {Mode: "100644"}}}
		require.Empty(t, r.Ordinary("A.go"))
		require.Contains(t, r.Ordinary("a.go"), `differs from "A.go" only in case`)
	}
}

// TestT33_AnAbsolutePathIsNoOrdinaryFile has no top of the tree above it to stop at.
func TestT33_AnAbsolutePathIsNoOrdinaryFile(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"/core/a.go", "/", "//core/a.go"} {
		require.Equal(t, "it is absolute", rules().Ordinary(p))
	}
}
