package linguist

import (
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// lockfiles lists files that package managers write for themselves.
var lockfiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
	"bun.lockb", "cargo.lock", "gemfile.lock", "poetry.lock", "pipfile.lock", "uv.lock", "pdm.lock", "composer.lock",
	"mix.lock", "pubspec.lock", "podfile.lock", "cartfile.resolved", "package.resolved", "packages.lock.json",
	"paket.lock", "flake.lock", "gradle.lockfile", "deno.lock", ".terraform.lock.hcl", "conan.lock", "chart.lock",
	"module.bazel.lock", "pixi.lock", "gopkg.lock", "glide.lock", "mise.lock", "buildscript-gradle.lockfile",
}

// assets lists extensions of images, fonts, media, archives, documents and recorded data. Style sheets are code.
var assets = []string{
	".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".icns", ".tif", ".tiff", ".psd", ".heic",
	".svg", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".wav", ".ogg", ".flac", ".m4a", ".mp4", ".mov", ".avi",
	".mkv", ".webm", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst", ".jar", ".war", ".whl",
	".nupkg", ".deb", ".rpm", ".ai", ".eps", ".jsonl", ".ndjson", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt",
	".pptx",
}

// vendoredFolders lists folders with other people's code, madeFolders those that tools write.
var vendoredFolders = []string{"vendor", "vendors", "node_modules", "third_party", "third-party", "thirdparty",
	"3rdparty", "bower_components", "jspm_packages", "pods", "carthage", "godeps", ".yarn", "site-packages"}

var madeFolders = []string{"__snapshots__", "__generated__", "__recordings__", "generated", "deno_dist", ".gen",
	"coverage", "htmlcov", ".next", ".nuxt", ".svelte-kit", "_site", ".idea"}

// buildFolders lists folders that builds write to, in which people also keep a build's scripts: a
// file there is generated only if builds write files of its kind.
var buildFolders = []string{"dist", "build", "out", "target"}

var buildOutput = pattern.Lazy(`(?i)\.(?:js|mjs|cjs|css|html?|map|d\.[cm]?ts|wasm|class|pyc|o|a|so|dll|exe)$`)

// buildScript matches the scripts in a folder named build of projects that keep their tools there.
var buildScript = pattern.Lazy(`(?i)(?:^|[./_-])(?:conf(?:ig)?|gulp\w*|grunt\w*|webpack|rollup|vite|esbuild|` +
	`build|bundle|release|server|scripts?|tasks?|utils?)[./_-]`)

// minifiedName matches scripts and styles that a build has minified.
var minifiedName = pattern.Lazy(`(?i)(?:[.-]min\.(?:js|mjs|cjs|css|html)|\.(?:js|css)\.map)$`)

// Unread reports whether a path is that of a lockfile, of other people's code, or of
// minified code: files that a search skips.
func Unread(file string) bool {
	return isLockfile(file) || minifiedName().MatchString(file) || folderOf(file, vendoredFolders) != ""
}

func isLockfile(file string) bool {
	return slices.Contains(lockfiles, strings.ToLower(path.Base(file)))
}

// Asset reports whether a path has the extension of an asset, such as a picture, a font or an archive.
func Asset(file string) bool {
	return slices.Contains(assets, strings.ToLower(path.Ext(file)))
}

// folderOf returns the part of a path up to a folder with one of the names, or "".
func folderOf(file string, names []string) string {
	for end, r := range file {
		if r == '/' && slices.Contains(names, strings.ToLower(path.Base(file[:end]))) {
			return file[:end]
		}
	}
	return ""
}

// outputFolder returns the build folder whose output a file is, or "".
func outputFolder(file string) string {
	folder := folderOf(file, buildFolders)
	if folder == "" || !buildOutput().MatchString(file) || buildScript().MatchString(file[len(folder):]) {
		return ""
	}
	return folder
}

// templateName matches the names of templates, whose text contains the header for their output.
var templateName = pattern.Lazy(`(?i)\.(?:tt|t4|tmpl|gotmpl|tpl|mustache|hbs|handlebars|j2|jinja2?|erb|ejs|` +
	`liquid|stencil|ftl|vm|njk|in|template)(?:\.[a-z]+)?$`)

// generatedEnds lists the ends of names that code generators and recording tests give their output, generatedStems
// such ends before an extension. Names that people also use (mock_api.go, kind_string.go) are decided by their header.
var (
	generatedEnds = strings.Fields(".pb.go .pb.cc .pb.h .pb.swift .pb.dart .pb.gw.go _pb2.py _pb2.pyi _pb2_grpc.py " +
		"_pb2_grpc.pyi _pb.js _pb.ts _pb.d.ts _templ.go _tlb.pas .g.cs .g.dart .freezed.dart .designer.cs " +
		".designer.vb .feature.cs .zep.c .zep.h .zep.php .snap .ambr .golden .nib .xcworkspacedata .xcuserstate " +
		".toml.orig .klib.api " +
		"/cacert.pem /ca-bundle.crt /ca-certificates.crt /.stats.yml /.secrets.baseline /.rubocop_todo.yml")
	generatedStems = strings.Fields(".gen .generated _generated -generated .approved .received .verified")
	generatedParts = strings.Fields("zz_generated .pnp. cassette .settings/ .sqlx/ -baseline. .docset/")
	generatedPath  = pattern.Lazy(`/(?:zz_generated[._].*\.go|\.pnp\.[a-z.]+|\w*cassettes?/.*\.(?:ya?ml|json)` +
		`|\.settings/[^/]+\.(?:prefs|xml|component)|\.sqlx/query-[a-f\d]{64}\.json` +
		`|[a-z]+-baseline\.(?:xml|json|neon|php))$|\.docset/`)
	letters = pattern.Lazy(`^\.[a-z]+$`)
)

// Kind returns the end of a path by which its folder's files are alike: a generator's, or the extension.
func Kind(file string) string {
	for _, end := range generatedEnds {
		if n := len(file) - len(end); n > 0 && strings.EqualFold(file[n:], end) {
			return file[n:]
		}
	}
	return path.Ext(file)
}

// generatedName reports whether a path is that of a program's output. It is called for each
// path of a commit, so it uses the expression only if a part of it occurs.
func generatedName(file string) bool {
	file = "/" + strings.ToLower(file)
	extension := path.Ext(file)
	stem := strings.TrimSuffix(file, extension)
	in := func(part string) bool { return strings.Contains(file, part) }
	return slices.ContainsFunc(generatedEnds, func(end string) bool { return strings.HasSuffix(file, end) }) ||
		slices.ContainsFunc(generatedStems, func(end string) bool { return strings.HasSuffix(stem, end) }) &&
			letters().MatchString(extension) ||
		slices.ContainsFunc(generatedParts, in) && generatedPath().MatchString(file)
}
