// Package scope decides where a proposed change may write: inside the chosen modules, and never
// where a commit would change how the repository is built, guarded or checked (T33).
//
// It reads nothing: callers pass in paths and modes. Paths come from a model and are treated as
// attempts to get around the rules. Start reading at Rules.
package scope

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/pattern"
)

// Rules decide which paths may be written.
type Rules struct {
	Modules   []config.Module       // the chosen ones
	Protected []string              // globs from the settings
	Entries   map[string]diff.Entry // every file, link and submodule of the base commit

	once  sync.Once
	known map[string]string // folded paths of files and folders → their spelling
}

const maxPath = 240 // bytes

// Refuses returns the reason why a path may not be written, in our own words, or "" if it may.
func (r *Rules) Refuses(p string) string {
	switch err := diff.CheckPath(p); {
	case err != nil:
		return strings.TrimPrefix(err.Error(), fmt.Sprintf("path %.200q ", p))
	case len(p) > maxPath:
		return fmt.Sprintf("it is longer than %d bytes", maxPath)
	case guard.Visible(p) != p || ambiguous().MatchString(p):
		return "its name has characters or ends that other systems read as another name"
	}
	if kind := protectedKind(fold(p)); kind != "" {
		return "it is protected: " + kind
	}
	if pattern.Matches(r.Protected, p) || slices.ContainsFunc(r.Protected, func(glob string) bool {
		return pattern.Matches([]string{fold(glob)}, fold(p))
	}) {
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

// Outside is the reason Refuses gives for a path that only the choice of modules forbids.
const Outside = "it is outside of the chosen modules"

// ambiguous matches what some systems drop or read in another way: a space before a name, a space or dot after it.
var ambiguous = pattern.Lazy("[\"\t\n:*?<>|~]|(?:^|/) |[ .](?:/|$)")

// Ordinary returns the reason why a path cannot become, or stay, an ordinary file given Entries,
// or "" if it can. A commit made through GitHub's API writes only ordinary files.
func (r *Rules) Ordinary(p string) string {
	r.once.Do(r.index)
	switch e, ok := r.Entries[p]; {
	case path.IsAbs(p): // its folders do not end at the tree's top
		return "it is absolute"
	case !ok && r.known[fold(p)] == p:
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
		if e, ok := r.Entries[at]; ok && at != p {
			kind := map[string]string{"120000": "a link", "160000": "a submodule"}[e.Mode]
			return fmt.Sprintf("%q is %s, and no folder", at, cmp.Or(kind, "a file"))
		}
	}
	return ""
}

// index fills known with every file and folder of the base commit; of names that differ only in
// case or form, with the first in byte order.
func (r *Rules) index() {
	r.known = make(map[string]string, len(r.Entries))
	for _, p := range slices.Sorted(maps.Keys(r.Entries)) {
		for at := p; at != "."; at = path.Dir(at) {
			if _, ok := r.known[fold(at)]; ok {
				break
			}
			r.known[fold(at)] = at
		}
	}
}

// fold returns a path in the form in which systems compare it that ignore case and Unicode form.
func fold(p string) string { return strings.ToLower(norm.NFKC.String(p)) }

// protectedKind returns the kind of a folded path that no ticket may change, or "" for other paths.
func protectedKind(p string) string {
	if linguist.Unread(p) {
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
		named("Git's own files", `\.git|\.gitmodules|\.gitattributes|\.gitconfig|\.lfsconfig|git~[0-9]+`),
		named("GitHub's workflows and settings", `\.github`),
		named("who owns what", `codeowners`),
		named("lockfiles, and what others or programs wrote", `[^/]*\.lock(?:file)?|gems\.locked`+
			`|pylock(?:\.[^/]*)?\.toml|conda-lock\.ya?ml|\.pnp\.[^/]*|cabal\.project\.freeze`+
			`|cpanfile\.snapshot|verification-metadata\.xml`),
		named("hooks", `\.husky|\.huskyrc[^/]*|\.?git-?hooks|hooks\.d|\.pre-commit-config\.ya?ml|\.overcommit\.yml`+
			`|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.simple-git-hooks\.[^/]*`),
		named("CI", `\.gitlab-ci\.ya?ml|\.gitlab|\.circleci|\.buildkite|\.travis\.ya?ml|\.drone\.[^/]*|\.tekton`+
			`|jenkinsfile(?:\.[^/]*)?|\.woodpecker(?:\.ya?ml)?|\.?azure-pipelines(?:[^/]*\.ya?ml)?|\.?appveyor\.ya?ml`+
			`|bitbucket-pipelines\.ya?ml|\.cirrus\.[^/]*|cloudbuild\.ya?ml|buildspec\.ya?ml|\.teamcity|\.forgejo`+
			`|\.gitea|\.semaphore|\.builds|\.build\.yml|\.zuul(?:\.d|\.yaml)|bitrise\.yml|codefresh\.yml`),
		named("where packages come from", `\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pnpmfile\.[cm]js|bunfig\.toml`+
			`|pip\.(?:conf|ini)|uv\.toml|\.pypirc|\.bundle|\.cargo|nuget\.config|\.mvn`+
			`|gradle/wrapper|gradlew(?:\.bat)?|mvnw(?:\.cmd)?`),
		named("what starts on opening the folder", `\.envrc|\.vscode|[^/]*\.code-workspace|\.idea|\.zed|\.fleet`+
			`|\.devcontainer(?:\.json)?|\.gitpod\.yml|\.claude|\.cursor|\.mcp\.json`),
	}
})
