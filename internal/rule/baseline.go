package rule

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// baseline describes a kind of file that lists what a tool must not report: its name, and how an entry begins.
type baseline struct{ name, entry func() *regexp.Regexp }

var baselines = []baseline{
	{lazy(`^\.(?:eslint|stylelint|semgrep|gitleaks|trivy|prettier|grype|snyk|bandit|markdownlint|codeql)ignore$` +
		`|^\.gitleaksignore$`), lazy(`^\s*[^\s#]`)},
	{lazy(`^\.golangci\.ya?ml$`), lazy(`^\s*-\s*(?:(?:path|text|source|linters|EXC\d+)\b|['"]?[^\s:]*[/*$\\(])`)},
	{lazy(`^(?:detekt-)?baseline\.xml$`), lazy(`<ID>|<issue\b`)},
	{lazy(`^lint-baseline\.xml$`), lazy(`<issue\b`)},
	{lazy(`suppressions?\.xml$`), lazy(`<suppress(?:\s|>|-)`)},
	{lazy(`^(?:spotbugs|findbugs)[\w-]*\.xml$`), lazy(`<Match\b`)},
	{lazy(`^psalm-baseline\.xml$`), lazy(`<code\b`)},
	{lazy(`^phpstan-baseline\.(?:neon|php)$`), lazy(`\bmessage['"]?\s*(?::|=>)`)},
	{lazy(`^\.secrets\.baseline$`), lazy(`"hashed_secret"\s*:`)},
	{lazy(`^\.?eslint-suppressions\.json$`), lazy(`"count"\s*:`)},
	{lazy(`^\.rubocop_todo\.yml$`), lazy(`^\s*-\s|^\s*Enabled:\s*false`)},
	{lazy(`^osv-scanner\.toml$`), lazy(`^\s*\[\[IgnoredVulns\]\]`)},
	{lazy(`^\.trivyignore\.ya?ml$`), lazy(`^\s*-\s*id:`)},
	{lazy(`^\.gitattributes$`), lazy(`\slinguist-(?:generated|vendored)(?:=true)?(?:\s|$)|\s(?:binary|-diff)(?:\s|$)`)},
}

// Grown flags a baseline file that has more entries than before, at the first added one.
func Grown(f diff.File) []finding.Flag {
	for _, b := range baselines {
		if !b.name().MatchString(path.Base(f.Path)) {
			continue
		}
		hunks, _ := f.Hunks() // a patch that cannot be parsed is reported as failed elsewhere
		more, line := 0, 0
		for _, h := range hunks {
			for _, l := range h.Lines {
				switch is := b.entry().MatchString(strings.TrimSuffix(l.Text, "\r")); {
				case is && l.Op == diff.Delete:
					more--
				case is && l.Op == diff.Add:
					if more++; line == 0 {
						line = l.New
					}
				}
			}
		}
		if more > 0 {
			return []finding.Flag{{Path: f.Path, Line: line, Kind: finding.SuppressionFlag,
				Text: fmt.Sprintf("suppresses %d more", more)}}
		}
	}
	return nil
}
