package aggregate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// ledger is a change: a file with a new function, one that was renamed, a new one.
var ledger = []diff.File{
	{Path: "ledger.go", Status: diff.Modified, Patch: "@@ -1,3 +1,7 @@\n func post() " +
		"{\n+\ttx.Commit(ctx)\n+\tlog.Print(total)\n+\treturn nil\n+\tlog.Print(total)\n-\told.Close(ctx)\n }\n+// " +
		"the end"},
	{Path: "kept.go", OldPath: "was.go", Status: diff.Renamed, Patch: "@@ -1,1 +1,2 @@\n a\n+rows.Scan(name)"},
	{Path: "new.go", Status: diff.Added, Patch: "@@ -0,0 +1,1 @@\n+save(account)"},
	{Path: "broken.go", Status: diff.Modified, Patch: "@@ -1,9 +1,9 @@\n-cut off"},
	{Path: "removed.go", Status: diff.Removed, Patch: "@@ -1,1 +0,0 @@\n-gone(account)"},
}

const drops = "The error of `tx.Commit` is dropped"

func commitAt2() finding.Finding {
	return finding.Finding{Path: "ledger.go", Side: finding.Right, StartLine: 2, Line: 2, Severity: finding.Major,
		Category: "data", Confidence: 0.9, Title: drops, Source: finding.Model, Quote: "\ttx.Commit(ctx)"}
}

// was is a finding as an earlier review had it.
func was(f finding.Finding, fate finding.Fate) finding.Earlier {
	return finding.Earlier{Fate: fate, Fingerprint: finding.Fingerprint(f), Path: f.Path, Side: f.Side, Quote: f.Quote,
		Title: f.Title, Severity: f.Severity}
}

// recognised is what happens to findings next to earlier ones.
func recognised(found []finding.Finding, earlier ...finding.Earlier) ([]finding.Finding, []finding.Earlier) {
	in := aggregate.Input{Files: ledger, Earlier: earlier, Inline: 1000}
	for _, f := range ledger {
		r := finding.FileReview{Path: f.Path, State: finding.Reviewed}
		for _, g := range found {
			if g.Path == f.Path && g.Source != finding.Rule {
				r.Findings = append(r.Findings, g)
			}
		}
		in.Reviews = append(in.Reviews, r)
	}
	for _, g := range found {
		if g.Source == finding.Rule {
			in.Findings = append(in.Findings, g)
		}
	}
	return aggregate.Findings(in)
}

func TestWhatWasSaidIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	f := commitAt2()
	other := "A panic leaves the account locked"
	for name, c := range map[string]struct {
		now     func(f *finding.Finding)
		earlier func(e *finding.Earlier)
		want    finding.Filter
	}{
		"the same": {nil, nil, finding.AlreadyPosted},
		"the fingerprint alone": {nil, func(e *finding.Earlier) {
			*e = finding.Earlier{Fate: e.Fate, Fingerprint: e.Fingerprint}
		}, finding.AlreadyPosted},
		"graver than before": {func(f *finding.Finding) {
			f.Severity = finding.Blocker
		}, nil, finding.AlreadyPosted},
		"in other words": {func(f *finding.Finding) {
			f.Title = "post silently drops the error of the commit"
		}, nil, finding.AlreadyPosted},
		"of another category": {func(f *finding.Finding) {
			f.Category = "error-handling"
		}, nil, finding.AlreadyPosted},
		"in other words, much graver": {func(f *finding.Finding) {
			f.Title, f.Severity = "post drops the error", finding.Blocker
		}, func(e *finding.Earlier) { e.Severity = finding.Nit }, ""},
		"another defect of the line": {func(f *finding.Finding) { f.Title = other }, nil, ""},
		"another, on lines GitHub follows": {func(f *finding.Finding) {
			f.Title = other
		}, func(e *finding.Earlier) { e.StartLine, e.Line = 2, 2 }, ""},
		"in other words, on such lines": {func(f *finding.Finding) {
			f.Title = "post drops the error"
		}, func(e *finding.Earlier) { e.StartLine, e.Line, e.Quote = 2, 2, "" }, finding.AlreadyPosted},
		"in other words, without a place": {func(f *finding.Finding) {
			f.Title = "post drops the error"
		}, func(e *finding.Earlier) { e.Quote = "" }, ""},
		"of another file": {func(f *finding.Finding) {
			f.Title = "post drops the error"
		}, func(e *finding.Earlier) { e.Path = "new.go" }, ""},
		"of the other side": {func(f *finding.Finding) {
			f.Title = "post drops the error"
		}, func(e *finding.Earlier) { e.Side = finding.Left }, ""},
		"of a line that was edited": {nil, func(e *finding.Earlier) {
			e.Quote, e.Fingerprint = "tx.Commit()", strings.Repeat("0", 16)
		}, finding.AlreadyPosted},
		"of a much different line": {nil, func(e *finding.Earlier) {
			e.Quote, e.Fingerprint = "store.Flush(everything)", strings.Repeat("0", 16)
		}, ""},
		"dropped": {nil, func(e *finding.Earlier) {
			e.Fate = finding.WasDropped
		}, finding.DroppedBefore},
		"dropped, in other words": {func(f *finding.Finding) {
			f.Title = "post drops the error"
		}, func(e *finding.Earlier) { e.Fate = finding.WasDropped }, finding.DroppedBefore},
		"said to be resolved": {nil, func(e *finding.Earlier) { e.Announced = true }, ""},
	} {
		now, e := f, was(f, finding.WasPosted)
		if c.now != nil {
			c.now(&now)
		}
		if c.earlier != nil {
			c.earlier(&e)
		}
		found, after := recognised([]finding.Finding{now}, e)
		require.Len(t, found, 1, name)
		require.Equal(t, c.want, found[0].Filtered, name)
		require.Equal(t, c.want == "", found[0].ID != "", name)
		require.Equal(t, c.want == "", found[0].Note == "", name)
		require.Len(t, after, 1, name)
		require.Equal(t, c.want == finding.AlreadyPosted || c.want == finding.DroppedBefore,
			after[0].Now == finding.StillThere, name)
	}
}

func TestWhatWasDroppedOfALineIsKnownInOtherWords(t *testing.T) {
	t.Parallel()
	was := commitAt2()
	known := finding.Earlier{Fate: finding.WasDropped, Fingerprint: finding.Placed(was, was.Severity)}
	other := commitAt2()
	other.Title = "A panic leaves the account locked"
	for name, c := range map[string]struct {
		now    func(f *finding.Finding)
		beside func(f *finding.Finding)
		held   int
	}{
		"in other words":       {nil, nil, 1},
		"weaker":               {func(f *finding.Finding) { f.Severity = finding.Nit }, nil, 1},
		"graver":               {func(f *finding.Finding) { f.Severity = finding.Blocker }, nil, 0},
		"of another kind":      {func(f *finding.Finding) { f.Category = "security" }, nil, 0},
		"by a rule":            {func(f *finding.Finding) { f.Source = finding.Rule }, nil, 0},
		"beside another claim": {nil, func(f *finding.Finding) { f.Title = "The total is stale" }, 0},
		"of a line that is twice": {func(f *finding.Finding) {
			f.StartLine, f.Line, f.Quote = 3, 3, "\tlog.Print(total)"
		}, nil, 0},
		"of the next line but one": {func(f *finding.Finding) {
			f.StartLine, f.Line, f.Quote = 4, 4, "\treturn nil"
		}, nil, 0},
	} {
		now, earlier := other, known
		if c.now != nil {
			c.now(&now)
		}
		if name == "of a line that is twice" {
			at := was
			at.Quote = now.Quote
			earlier.Fingerprint = finding.Placed(at, at.Severity)
		}
		all := []finding.Finding{now}
		if c.beside != nil {
			f := other
			c.beside(&f)
			all = append(all, f)
		}
		found, _ := recognised(all, earlier)
		require.Len(t, finding.Kept(found), len(all)-c.held, name)
	}
	full := finding.Earlier{Fate: known.Fate, Fingerprint: finding.Fingerprint(was), Path: was.Path, Side: was.Side,
		Quote: was.Quote, Title: was.Title, Category: was.Category, Severity: was.Severity}
	found, _ := recognised([]finding.Finding{other}, full)
	require.Equal(t, finding.DroppedBefore, found[0].Filtered, "a draft that is known in full tells it too")
}

func TestOfAPersonsCommentAFindingBelowMajorIsHeldBackThatMakesItsClaim(t *testing.T) {
	t.Parallel()
	const same = "Who looks at the error?"
	for name, c := range map[string]struct {
		title       string
		severity    finding.Severity
		first, line int
		want        finding.Filter
		note        string
	}{
		"the claim in other words": {same, finding.Minor, 1, 2, finding.AlreadyCommented,
			"maya commented on line 2"},
		"its very title, on a nit": {drops, finding.Nit, 2, 2, finding.AlreadyCommented,
			"maya commented on line 2"},
		"praise":                     {"LGTM", finding.Minor, 2, 2, "", ""},
		"an emoji":                   {"👍", finding.Minor, 2, 2, "", ""},
		"nothing":                    {"", finding.Minor, 2, 2, "", ""},
		"another defect of the line": {"A panic leaves the account locked", finding.Minor, 2, 2, "", ""},
		"the line itself":            {"tx.Commit(ctx)", finding.Minor, 2, 2, "", ""},
		"the claim, of a major": {same, finding.Major, 2, 2, "",
			"maya commented on line 2: “Who looks at the error?”"},
		"praise of a blocker":          {"LGTM", finding.Blocker, 2, 2, "", "maya commented on line 2: “LGTM”"},
		"said of another line":         {same, finding.Minor, 3, 4, "", ""},
		"said of a line that is gone":  {same, finding.Minor, 0, 0, "", ""},
		"said of the whole function":   {same, finding.Minor, 1, 60, "", ""},
		"of another line, and a major": {same, finding.Major, 3, 4, "", ""},
	} {
		f := commitAt2()
		f.Severity = c.severity
		praise := finding.Earlier{Fate: finding.WasCommented, Path: f.Path, Side: f.Side, StartLine: c.first,
			Line: c.line, By: "maya", Title: c.title}
		found, after := recognised([]finding.Finding{f}, praise)
		require.Equal(t, c.want, found[0].Filtered, name)
		require.Equal(t, c.want == "", found[0].ID != "", name)
		require.Equal(t, c.note, found[0].Note, name)
		require.Empty(t, after[0].Now, name)
	}
	f := commitAt2()
	praise := finding.Earlier{Fate: finding.WasCommented, Path: f.Path, Side: f.Side, StartLine: 2, Line: 2, By: "rob",
		Title: "LGTM"}
	claim := praise
	claim.By, claim.Title = "maya", same
	f.Severity = finding.Minor
	found, _ := recognised([]finding.Finding{f}, praise, claim)
	require.Equal(t, "maya commented on line 2", found[0].Note, "whatever else is said there")
}

func TestD5_NoCommentAndNoDropHoldsAWarningBack(t *testing.T) {
	t.Parallel()
	f := commitAt2()
	f.Source = finding.Rule
	f.Severity = finding.Minor
	said := finding.Earlier{Fate: finding.WasCommented, Path: f.Path, Side: f.Side, StartLine: 2, Line: 2, By: "maya",
		Title: f.Title}
	for category, held := range map[string]bool{"hidden-text": false, "secret": false, "data": true} {
		f.Category = category
		for _, e := range []finding.Earlier{said, was(f, finding.WasDropped)} {
			found, _ := recognised([]finding.Finding{f}, e)
			require.Equal(t, held, found[0].Filtered != "", "%s %s", category, e.Fate)
		}
		found, _ := recognised([]finding.Finding{f}, was(f, finding.WasPosted))
		require.Equal(t, finding.AlreadyPosted, found[0].Filtered, "it was not lost: the earlier review says it")
	}
	f.Category = "hidden-text"
	more := f
	more.Fingerprint = "another, of more lines"
	posted := was(f, finding.WasPosted)
	posted.StartLine, posted.Line = 2, 2
	found, _ := recognised([]finding.Finding{more}, posted)
	require.Empty(t, found[0].Filtered, "more is hidden than was posted")
	f.Category, f.Source = "secret", finding.Model
	found, _ = recognised([]finding.Finding{f}, said)
	require.Equal(t, finding.AlreadyCommented, found[0].Filtered, "a model's word is none of ours")
}

func TestASecondPlaceIsANewFinding(t *testing.T) {
	t.Parallel()
	first := commitAt2()
	first.StartLine, first.Line, first.Quote, first.Title = 3, 3, "\tlog.Print(total)", "The password is exposed"
	second := first
	second.StartLine, second.Line = 5, 5
	followed := was(first, finding.WasPosted)
	followed.StartLine, followed.Line = 5, 5
	for name, e := range map[string]finding.Earlier{"line not known": was(first, finding.WasPosted),
		"second line": followed} {
		found, _ := recognised([]finding.Finding{first, second}, e)
		kept := finding.Kept(found)
		require.Len(t, kept, 1, name)
		require.Equal(t, map[string]int{"line not known": 5, "second line": 3}[name], kept[0].Line)
	}
	found, _ := recognised([]finding.Finding{first, second}, was(first, finding.WasPosted),
		was(first, finding.WasPosted))
	require.Empty(t, finding.Kept(found))
	reworded := first
	reworded.Title = "It exposes the unmasked password"
	found, _ = recognised([]finding.Finding{reworded}, was(first, finding.WasPosted))
	require.Len(t, finding.Kept(found), 1, "the line appears twice: in other words it may be the other one")
}

func TestARenamedFileKeepsItsFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, before, quote string }{
		"known to GitHub":           {"kept.go", "was.go", "rows.Scan(name)"},
		"made by the change itself": {"new.go", "draft.go", "save(account)"},
		"another that it removes":   {"new.go", "removed.go", "save(account)"},
	} {
		f := finding.Finding{Path: c.path, Side: finding.Right, Line: 2, Severity: finding.Major, Category: "data",
			Confidence: 0.9, Title: "It is wrong", Quote: c.quote}
		old := f
		old.Path = c.before
		bare := finding.Earlier{Fate: finding.WasPosted, Fingerprint: finding.Fingerprint(old)}
		found, _ := recognised([]finding.Finding{f}, was(old, finding.WasPosted))
		require.Equal(t, finding.AlreadyPosted, found[0].Filtered, name)
		found, _ = recognised([]finding.Finding{f}, bare)
		require.Equal(t, c.before != "draft.go", found[0].Filtered != "", name)
	}
}

func TestANoteOfWhatIsHeldBackHoldsNoTextFromOutside(t *testing.T) {
	t.Parallel()
	f := commitAt2()
	f.Severity = finding.Minor
	for _, by := range []string{"maya", "dependabot[bot]", "", "@org ![x](http://e.x)", "a\n::error::",
		strings.Repeat("a", 500)} {
		for _, fate := range []finding.Fate{finding.WasDropped, finding.WasCommented} {
			e := was(f, fate)
			e.By, e.StartLine, e.Line, e.URL, e.Title = by, 2, 2, "javascript:x", f.Title+" <b>"
			found, _ := recognised([]finding.Finding{f}, e)
			require.Regexp(t, `^[A-Za-z0-9 \[\]-]{1,100}$`, found[0].Note)
		}
	}
}

// TestNearFindingsAreNotSwallowed has random drafts of one file: what a finding
// claims, of which line, is known to the test and not to the product.
func TestNearFindingsAreNotSwallowed(t *testing.T) {
	t.Parallel()
	claims := []string{"The error is dropped", "The lock is taken twice", "An empty list panics", "Amounts lose cents",
		"The password is logged", "The goroutine never ends"}
	calls := []string{"tx.Commit(ctx)", "rows.Scan(name)", "log.Print(total)", "save(account)", "tx.Commit(ctx)"}
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		draft := func() (files []diff.File, found []finding.Finding) {
			patch := fmt.Sprintf("@@ -0,0 +1,%d @@", len(calls))
			for i, at := range r.Perm(len(calls)) {
				patch += "\n+" + calls[at]
				if r.IntN(2) == 0 {
					found = append(found, finding.Finding{Path: "a.go", Side: finding.Right, StartLine: i + 1,
						Line: i + 1, Severity: finding.Severities()[r.IntN(4)],
						Category: "data", Confidence: 0.9, Title: claims[r.IntN(len(claims))], Quote: calls[at]})
				}
			}
			return []diff.File{{Path: "a.go", Status: diff.Added, Patch: patch}}, found
		}
		_, before := draft()
		files, now := draft()
		said := map[string]int{}
		var earlier []finding.Earlier
		for _, f := range before {
			earlier = append(earlier, was(f, finding.WasPosted))
			said[f.Title+f.Quote]++
		}
		in := aggregate.Input{Files: files, Reviews: []finding.FileReview{{Path: "a.go", State: finding.Reviewed,
			Findings: now}}, Earlier: earlier, Inline: 1000}
		found, after := aggregate.Findings(in)
		require.Len(t, found, len(now))
		require.Len(t, after, len(earlier))
		count := map[string]int{}
		for _, f := range found {
			count[f.Title+f.Quote]++
		}
		for _, f := range finding.Kept(found) {
			count[f.Title+f.Quote]--
		}
		for key, held := range count {
			n := 0
			for _, f := range now {
				if f.Title+f.Quote == key {
					n++
				}
			}
			require.Equal(t, min(n, said[key]), held, "seed %d: of %q so many are held back", seed, key)
		}
		slices.Reverse(in.Reviews[0].Findings)
		again, _ := aggregate.Findings(in)
		require.Equal(t, found, again, "P11")
	}
}

func TestManyEarlierFindingsTakeNoTime(t *testing.T) {
	t.Parallel()
	patch := "@@ -0,0 +1,3000 @@"
	var found []finding.Finding
	var earlier []finding.Earlier
	for i := range 3000 {
		patch += fmt.Sprintf("\n+call(%d)", i)
		f := finding.Finding{Path: "a.go", Side: finding.Right, Line: i + 1, StartLine: i + 1, Confidence: 0.9,
			Severity: finding.Minor, Title: fmt.Sprintf("Call %d is wrong", i)}
		found = append(found, f)
		f.Path = fmt.Sprintf("gone-%d.go", i%300)
		earlier = append(earlier, was(f, finding.WasPosted))
	}
	all, _ := aggregate.Findings(aggregate.Input{Files: []diff.File{{Path: "a.go", Status: diff.Added, Patch: patch}},
		Reviews: reviews(found...), Earlier: earlier, Inline: 10000})
	require.Len(t, finding.Kept(all), 3000)
}
