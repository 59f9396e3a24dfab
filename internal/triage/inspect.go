package triage

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/rule"
	"github.com/org/pr-review-action/internal/secret"
)

// Inspected is a change as every step after ingest sees it. Credentials are removed from Files and
// Pull; Findings say where they were, and what else needs no reviewer. Flags are only for the
// approver.
type Inspected struct {
	Files    []diff.File
	Pull     *pull.Pull // nil for local input
	Findings []finding.Finding
	Flags    []finding.Flag
}

// Inspect applies the rules, and searches for credentials, hidden characters and text that
// addresses a reviewer, the latter in every patch, whatever the file claims. It finds, flags and
// redacts; it never leaves anything out of a review (D5, D7, D11).
func Inspect(files []diff.File, pr *pull.Pull, o Options) Inspected {
	out := Inspected{Files: make([]diff.File, len(files)), Pull: pr}
	var unread []finding.Finding
	for i, one := range forEachFile(files, func(f diff.File) inspected { return inspect(f, o) }) {
		out.Files[i] = one.file
		out.Findings, out.Flags = append(out.Findings, one.findings...), append(out.Flags, one.flags...)
		unread = append(unread, one.unread...)
	}
	out.Findings = append(out.Findings, keepGravest(unread)...)
	if pr != nil {
		seen := *pr
		seen.Title, seen.Body, seen.HeadRef = secret.Redact(pr.Title), secret.Redact(pr.Body), secret.Redact(pr.HeadRef)
		out.Pull, out.Flags = &seen, append(out.Flags, flagDescription(seen)...)
	}
	return out
}

// inspected is the result for one file; unread holds the findings of a file that is not reviewed.
type inspected struct {
	file             diff.File
	findings, unread []finding.Finding
	flags            []finding.Flag
}

func inspect(f diff.File, o Options) (out inspected) {
	clean, leaks := secret.Patch(f.Patch)
	f.Patch = clean
	out.file = f
	f = f.Read()
	out.findings = steeringFindings(f, o)
	reviewed := o.Reviews(f)
	hidden, flags := findSuspicious(f, reviewed)
	found := append(rule.Leaks(f.Path, leaks), hidden...)
	out.flags = append(flags, rule.Grown(f)...)
	if !reviewed {
		out.unread = summarize(found)
		return out
	}
	out.findings = slices.Concat(out.findings, found, rule.Review(f))
	return out
}

const maxUnread = 10

// summarize reduces the findings of a file that is not reviewed to one: the most severe, with the number
// of the others.
func summarize(found []finding.Finding) []finding.Finding {
	if len(found) == 0 {
		return nil
	}
	order.Stable(found, finding.Compare)
	first := found[0]
	first.Body += " The file itself is not reviewed."
	if more := len(found) - 1; more > 0 {
		first.Body += fmt.Sprintf(" %d more of the kind in it.", more)
	}
	return []finding.Finding{first}
}

// keepGravest keeps the most severe findings of files that are not reviewed. The last one counts the rest, and has the
// fingerprint of them all: one more changes it.
func keepGravest(found []finding.Finding) []finding.Finding {
	order.Stable(found, finding.Compare)
	more := len(found) - maxUnread
	if more <= 0 {
		return found
	}
	last := &found[maxUnread-1]
	last.Title += fmt.Sprintf(", and the like in %d more files that are not reviewed", more)
	joint := *last
	for _, f := range found[maxUnread-1:] {
		joint.Quote += f.Fingerprint + " "
	}
	last.Fingerprint = finding.Fingerprint(joint)
	return found[:maxUnread]
}

// findSuspicious returns what a file's name and added lines hide, and the instructions in them.
func findSuspicious(f diff.File, reviewed bool) ([]finding.Finding, []finding.Flag) {
	text, numbers := addedText(f)
	if len(numbers) == 0 {
		numbers = []int{1} // the name is still checked
	}
	seen, name := injection.Scan(text), injection.Scan(f.Path)
	seen.Hidden = dropOldHits(f, strings.Split(text, "\n"), seen.Hidden)
	data, unread := isNotSource(f.Path, text), !reviewed || linguist.Unread(f.Path)
	seen.Hidden = slices.DeleteFunc(seen.Hidden, func(h injection.Hit) bool {
		return (data || unread) && h.Kind == injection.Controls ||
			data && (h.Kind == injection.ZeroWidth || h.Kind == injection.LookAlike)
	})
	for _, hits := range [][]injection.Hit{seen.Hidden, seen.Instructions} {
		for i := range hits {
			hits[i].Line = numbers[min(max(hits[i].Line, 1), len(numbers))-1]
		}
	}
	for _, hits := range [][]injection.Hit{name.Hidden, name.Instructions} {
		for i := range hits {
			hits[i].Line = numbers[0]
		}
	}
	return hiddenFindings(f.Path, append(name.Hidden, seen.Hidden...)),
		flagHits(f.Path, finding.InjectionFlag, append(name.Instructions, seen.Instructions...))
}

// isNotSource reports whether a file is not read as source: pictures, source maps, logs, test data,
// and bytes that are not text. Hidden characters there mislead no reader.
func isNotSource(path, text string) bool {
	odd := 0
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f\x1b", r) {
			odd++
		}
	}
	return linguist.Asset(path) || rule.ForTests(path) || strings.HasSuffix(path, ".map") ||
		strings.HasSuffix(path, ".log") || odd >= 8 && odd*20 > len(text)
}

// dropOldHits removes hits on lines that the file had before, in another place or with other
// indentation.
func dropOldHits(f diff.File, lines []string, hits []injection.Hit) []injection.Hit {
	if len(hits) == 0 || f.Deletions == 0 {
		return hits
	}
	old := map[string]bool{}
	hunks, _ := f.Hunks() // what cannot be read is reported as failed
	for _, h := range hunks {
		for _, l := range h.Lines {
			old[strings.TrimSpace(l.Text)] = old[strings.TrimSpace(l.Text)] || l.Op == diff.Delete
		}
	}
	return slices.DeleteFunc(hits, func(h injection.Hit) bool {
		return h.Line >= 1 && h.Line <= len(lines) && old[strings.TrimSpace(lines[h.Line-1])]
	})
}

// flagDescription flags title, description and branch, which no file-reviewing model is shown.
func flagDescription(pr pull.Pull) (flags []finding.Flag) {
	for _, part := range []struct{ name, text string }{
		{"title", pr.Title}, {"description", pr.Body}, {"branch name", pr.HeadRef},
	} {
		seen := injection.Scan(part.text)
		hidden := flagHits("", finding.HiddenFlag, seen.Hidden)
		for _, f := range append(hidden, flagHits("", finding.InjectionFlag, seen.Instructions)...) {
			f.Text = part.name + ": " + f.Text
			flags = append(flags, f)
		}
	}
	return flags
}

// flagHits merges all hits of a kind in a text into one flag, at the first hit.
func flagHits(path string, kind finding.FlagKind, hits []injection.Hit) []finding.Flag {
	if len(hits) == 0 {
		return nil
	}
	text := strings.TrimSpace(secret.Redact(hits[0].Excerpt))
	if more := len(hits) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return []finding.Flag{{Path: path, Line: hits[0].Line, Kind: kind, Text: text}}
}

const maxPlaces = 5 // that a finding of hidden text lists

// hiddenFindings makes one finding of all that a file hides, and one of its forged marks, each at the first place. The
// fingerprint covers every place, so that one posted before holds back no other.
func hiddenFindings(path string, hits []injection.Hit) (found []finding.Finding) {
	for _, about := range []struct {
		forged     bool
		title, why string
	}{
		{false, "Hidden characters", "What a compiler or a program reads here is not what a person sees. Write it as " +
			"escapes, or take it out."},
		{true, "Forged mark of this tool", "Only this tool writes such a mark, where it posts or asks a model. Take " +
			"it out."},
	} {
		f := finding.Finding{Path: path, Side: finding.Right, Category: finding.HiddenText, Severity: finding.Major,
			Confidence: confidence, Source: finding.Rule, Placement: finding.Inline, Title: about.title}
		whole := f
		var places []string
		for _, h := range hits {
			if (h.Kind == injection.ForgedMark) == about.forged {
				f.Line = cmp.Or(f.Line, h.Line)
				whole.Quote += h.Kind + h.Excerpt + "\n"
				places = append(places, fmt.Sprintf("line %d: %s, %s", h.Line, h.Kind,
					guard.Code(secret.Redact(h.Excerpt))))
			}
		}
		if len(places) == 0 {
			continue
		}
		f.StartLine, f.Fingerprint = f.Line, finding.Fingerprint(whole)
		f.Body = about.why + " Found: " + strings.Join(places[:min(len(places), maxPlaces)], "; ")
		if more := len(places) - maxPlaces; more > 0 {
			f.Body += fmt.Sprintf("; and %d more", more)
		}
		f.Body += "."
		found = append(found, f)
	}
	order.Stable(found, finding.Compare)
	return found
}

// addedText returns the added lines of a file and their numbers in the new file. A line that does not
// directly follow the one above begins a new paragraph.
func addedText(f diff.File) (string, []int) {
	var b strings.Builder
	var numbers []int
	hunks, _ := f.Hunks() // what cannot be read is reported as failed
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

// forEachFile calls look for all files, as many at a time as there are processors, and returns the
// results in the files' order.
func forEachFile[T any](files []diff.File, look func(diff.File) T) []T {
	out := make([]T, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			out[i] = look(f)
			return nil
		})
	}
	_ = group.Wait() // look returns no error
	return out
}

// Steering is the category of a change to what guides the reviews.
const Steering = "other"

// steeringFindings reports a change to the settings or to an instruction file, even if the file is left out
// of the review: this review did not use the new version, and the next ones will.
func steeringFindings(f diff.File, o Options) []finding.Finding {
	flag := finding.Finding{
		Path: f.Path, Category: Steering, Confidence: confidence, Source: finding.Rule, Placement: finding.Inline,
	}
	is := func(name string) bool {
		nested := name == config.AgentsFile && !linguist.Unread(f.Path) &&
			(path.Base(f.Path) == name || path.Base(f.OldPath) == name)
		return name != "" && (name == f.Path || name == f.OldPath || nested)
	}
	switch {
	case is(o.Settings):
		flag.Severity, flag.Title = finding.Minor, "The settings of these reviews change"
		flag.Body = "They say what is reviewed, how, and at what cost. This review did not use these; they apply " +
			"after the merge. "
	case slices.ContainsFunc(o.Instructions, is):
		flag.Severity, flag.Title = finding.Nit, "Instructions change that guide these reviews"
		flag.Body = "A model that reviews is shown this file. This review used the base's version; this one " +
			"applies after the merge. "
	default:
		return nil
	}
	flag.Body += "Review it like code."
	flag.Side, flag.Line = firstChange(f)
	flag.StartLine = flag.Line
	flag.Fingerprint = finding.Fingerprint(flag)
	return []finding.Finding{flag}
}

// firstChange returns the first line that a change adds, or else the first that it deletes, or
// line 1 if there is neither.
func firstChange(f diff.File) (finding.Side, int) {
	deleted := 0
	hunks, _ := f.Hunks() // what cannot be read is reported as failed
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch {
			case l.Op == diff.Add:
				return finding.Right, l.New
			case l.Op == diff.Delete && deleted == 0:
				deleted = l.Old
			}
		}
	}
	if deleted > 0 {
		return finding.Left, deleted
	}
	return finding.Right, 1
}
