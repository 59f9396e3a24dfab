package triage

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/rule"
	"github.com/org/pr-review-action/internal/secret"
)

// The categories of what is said about a change as an input.
const (
	Injection = "injection"   // text that addresses whoever reviews
	Hidden    = "hidden-text" // characters that a reader does not see
	Secret    = "secret"      // a credential
)

// Inspected is a change as everything behind ingest sees it. Credentials are
// taken out of Files and Pull; Flags say where they stood.
type Inspected struct {
	Files []diff.File
	Pull  *pull.Pull // nil for local input
	Flags []finding.Finding
}

// Inspect applies what needs no model: the rules, the search for credentials,
// and that for hidden characters and text that addresses a reviewer. It flags
// and redacts; it never leaves anything out of a review (D5, D7, D11). Only files
// that are reviewed are flagged, and what guides a review; all are redacted.
func Inspect(files []diff.File, pr *pull.Pull, o Options) Inspected {
	out := Inspected{Files: make([]diff.File, len(files)), Pull: pr}
	for i, one := range each(files, func(f diff.File) Inspected { return inspect(f, o) }) {
		out.Files[i] = one.Files[0]
		out.Flags = append(out.Flags, one.Flags...)
	}
	if pr != nil {
		seen := *pr
		out.Flags = append(out.Flags, framed(seen)...)
		seen.Title, seen.Body, seen.HeadRef = secret.Redact(pr.Title), secret.Redact(pr.Body), secret.Redact(pr.HeadRef)
		out.Pull = &seen
	}
	return out
}

// inspect is Inspect of one file.
func inspect(f diff.File, o Options) (out Inspected) {
	clean, leaks := secret.Patch(f.Patch)
	f.Patch = clean
	out.Files, out.Flags = []diff.File{f}, steers(f, o)
	if !o.Reviews(f) {
		return out
	}
	out.Flags = append(out.Flags, rule.Leaks(f.Path, leaks)...)
	out.Flags = append(out.Flags, rule.Review(f)...)
	out.Flags = append(out.Flags, suspicious(f)...)
	return out
}

// suspicious flags what a file's name and added lines hold beside code.
func suspicious(f diff.File) []finding.Finding {
	text, numbers := added(f.Patch)
	if len(numbers) == 0 {
		numbers = []int{1} // the name is read all the same
	}
	at := func(hits []injection.Hit) (out []place) {
		for _, h := range hits {
			out = append(out, place{numbers[min(max(h.Line, 1), len(numbers))-1], h})
		}
		return out
	}
	seen, name := injection.Scan(text), injection.Scan(f.Path)
	hidden, orders := at(seen.Hidden), at(seen.Instructions)
	for _, h := range name.Hidden {
		hidden = append(hidden, place{numbers[0], h})
	}
	for _, h := range name.Instructions {
		orders = append(orders, place{numbers[0], h})
	}
	return append(flag(f.Path, Hidden, hidden), flag(f.Path, Injection, orders)...)
}

// framed flags title, description and branch. They are shown to no model that
// reviews a file.
func framed(pr pull.Pull) []finding.Finding {
	var out []finding.Finding
	for _, part := range []struct{ name, text string }{{"title", pr.Title}, {"description", pr.Body}, {"branch name", pr.HeadRef}} {
		seen := injection.Scan(part.text)
		for _, f := range append(flag("", Hidden, places(seen.Hidden)), flag("", Injection, places(seen.Instructions))...) {
			f.Title = fmt.Sprintf("%s, in the pull request's %s", f.Title, part.name)
			out = append(out, f)
		}
	}
	return out
}

// place is a hit and the line of the new file on which it stands.
type place struct {
	line int
	injection.Hit
}

func places(hits []injection.Hit) []place {
	var out []place
	for _, h := range hits {
		out = append(out, place{h.Line, h})
	}
	return out
}

// maxHits is how many hits of one kind a finding names.
const maxHits = 5

// flag makes one finding of all hits of a kind in a file, at the first of them.
func flag(path, category string, hits []place) []finding.Finding {
	if len(hits) == 0 {
		return nil
	}
	f := finding.Finding{
		Path: path, Side: finding.Right, StartLine: hits[0].line, Line: hits[0].line, Category: category,
		Severity: finding.Minor, Confidence: confidence, Source: finding.Rule, Placement: finding.Inline,
		Title: "This text addresses whoever reviews it",
		Body:  "It was treated as text and changed nothing about the review; nothing that it asks for was done. Ask what it is for. ",
	}
	if category == Hidden {
		f.Severity, f.Title = finding.Major, "Characters stand here that a reader does not see"
		f.Body = "What a compiler or a program reads is not what a person sees. Write them as escapes, or take them out. "
	}
	f.Body += named(hits)
	f.Fingerprint = finding.Fingerprint(f)
	return []finding.Finding{f}
}

// confidence of a flag: high enough to be shown.
const confidence = 0.8

func named(hits []place) string {
	var parts []string
	for _, h := range hits[:min(len(hits), maxHits)] {
		parts = append(parts, fmt.Sprintf("%s on line %d, %s", h.Kind, h.line, guard.Code(secret.Redact(h.Excerpt))))
	}
	text := "Found: " + strings.Join(parts, "; ")
	if more := len(hits) - maxHits; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// added are the added lines of a patch, and their numbers in the new file. A line
// that does not follow on the one above begins a paragraph of its own.
func added(patch string) (string, []int) {
	var b strings.Builder
	var numbers []int
	hunks, _ := diff.Hunks(patch) // what cannot be read is reported as failed
	for _, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != diff.Add {
				continue
			}
			if n := len(numbers); n > 0 && numbers[n-1] < l.New-1 {
				b.WriteByte('\n')
				numbers = append(numbers, numbers[n-1])
			}
			b.WriteString(l.Text + "\n")
			numbers = append(numbers, l.New)
		}
	}
	return b.String(), numbers
}
