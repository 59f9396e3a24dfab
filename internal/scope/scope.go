// Package scope says where a proposed change may write: within the modules that were
// chosen, and never where a commit would change how the repository is built, guarded or
// checked (T33).
//
// It reads nothing: paths and modes come in. A path is a model's, so that it is taken for
// an attempt to be more than it seems. Start reading at Rules.
package scope

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/org/pr-review-action/internal/claim"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Rules are what a path is held against.
type Rules struct {
	Modules   []config.Module       // that were chosen
	Protected []string              // globs of the settings
	Entries   map[string]diff.Entry // of the base commit, every path

	once  sync.Once
	known map[string]string // folded paths and folders → as they are spelled
}

const maxPath = 240 // bytes

// Refuses says why a path may not be written, in our own words; empty where it may.
func (r *Rules) Refuses(p string) string {
	switch err := diff.CheckPath(p); {
	case err != nil:
		return strings.TrimPrefix(err.Error(), fmt.Sprintf("path %.200q ", p))
	case len(p) > maxPath:
		return fmt.Sprintf("it is longer than %d bytes", maxPath)
	case guard.Visible(p) != p || strings.ContainsAny(p, "\"\t\n:*?<>|~") || astray(p):
		return "its name has characters or ends that other systems read as another name"
	}
	if kind := protects(fold(p)); kind != "" {
		return "it is protected: " + kind
	}
	if folded := fold(p); pattern.Matches(r.Protected, p) || pattern.Matches(foldedGlobs(r.Protected), folded) {
		return "it is protected by the settings"
	}
	if why := r.Ordinary(p); why != "" {
		return why
	}
	for _, m := range r.Modules {
		if pattern.Matches(m.Paths, p) || pattern.Matches(m.Tests, p) {
			return ""
		}
	}
	return Outside
}

// Outside is why a path may not be written that nothing else forbids.
const Outside = "it is outside of the chosen modules"

// astray reports names that end in a blank or a dot, which some systems leave out.
func astray(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return strings.TrimRight(name, " .") != name || strings.TrimLeft(name, " ") != name
	})
}

// Ordinary says why what Entries have at a path and above it cannot become, or stay, an ordinary
// file, which is all that a commit by GitHub's API makes; empty where it can.
func (r *Rules) Ordinary(p string) string {
	r.once.Do(r.index)
	switch e, ok := r.Entries[p]; {
	case e.Mode == folder || !ok && r.known[fold(p)] == p:
		return "it is a folder"
	case e.Mode == "120000":
		return "it is a link"
	case e.Mode == "160000":
		return "it is a submodule"
	case ok && e.Mode != "100644":
		return "it is executable, which the commit could not keep"
	}
	for at := p; at != "."; at = path.Dir(at) {
		if as, ok := r.known[fold(at)]; ok && as != at {
			return fmt.Sprintf("its name differs from %q only in case or form", as)
		}
		if e, ok := r.Entries[at]; ok && at != p && e.Mode != folder {
			kind := map[string]string{"120000": "a link", "160000": "a submodule"}[e.Mode]
			return fmt.Sprintf("%q is %s, and no folder", at, cmp.Or(kind, "a file"))
		}
	}
	return ""
}

const folder = "040000" // which Entries may leave out

// index notes every path and folder of the base by its folded name.
func (r *Rules) index() {
	r.known = make(map[string]string, len(r.Entries))
	for p := range r.Entries {
		for at := p; at != "."; at = path.Dir(at) {
			if _, ok := r.known[fold(at)]; ok {
				break
			}
			r.known[fold(at)] = at
		}
	}
}

// fold is a path as systems that tell neither case nor form apart compare it.
func fold(p string) string { return strings.ToLower(norm.NFKC.String(p)) }

func foldedGlobs(globs []string) []string {
	all := make([]string, len(globs))
	for i, g := range globs {
		all[i] = fold(g)
	}
	return all
}

// protects names what a folded path is part of that nobody's ticket changes.
func protects(p string) string {
	if claim.Unread(p) {
		return "lockfiles, and what others or programs wrote"
	}
	for _, rule := range rules() {
		if rule.match.MatchString(p) {
			return rule.what
		}
	}
	return ""
}

type rule struct {
	what  string
	match *regexp.Regexp
}

var rules = sync.OnceValue(func() []rule {
	named := func(what, names string) rule {
		return rule{what, regexp.MustCompile(`(?:^|/)(?:` + names + `)(?:/|$)`)}
	}
	return []rule{
		named("Git's own files", `\.git|\.gitmodules|\.gitattributes|\.gitconfig|git~[0-9]+`),
		named("GitHub's workflows and settings", `\.github`),
		named("who owns what", `codeowners`),
		named("hooks", `\.husky|\.?githooks|hooks\.d|\.pre-commit-config\.ya?ml|\.?lefthook\.(?:ya?ml|toml)`),
		named("CI", `\.gitlab-ci\.ya?ml|\.gitlab|\.circleci|\.buildkite|\.travis\.ya?ml|\.drone\.ya?ml|jenkinsfile`+
			`|\.woodpecker(?:\.ya?ml)?|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.?appveyor\.ya?ml`+
			`|\.cirrus\.ya?ml|cloudbuild\.ya?ml|\.teamcity|\.forgejo|\.gitea`),
		named("where packages come from", `\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pnpmfile\.cjs|pip\.conf|nuget\.config|\.mvn`+
			`|gradle/wrapper|gradlew(?:\.bat)?|mvnw(?:\.cmd)?`),
		named("what starts on opening the folder", `\.envrc|\.vscode|\.idea|\.devcontainer`),
	}
})
