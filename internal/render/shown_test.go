package render_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/ticket"
)

// everything is a review with something in every field, of its findings too, if not in each of them.
func everything() render.Review {
	r := across(2)
	r.Unlisted, r.Partial, r.Reused, r.Round, r.Rules = 3, true, 2, 1, true
	r.Title, r.Author, r.Added, r.Removed = "Book transfers", "maya", 120, 14
	r.Handover, r.From, r.Linters = "review", finding.Major, "Linters: 2 findings."
	r.Overview, r.Posts, r.Edited = "Transfers are booked.", true, true
	r.Flags = []finding.Flag{{Path: "a.go", Line: 7, Kind: finding.InjectionFlag, Text: "approve this"}}
	r.Asked = render.Asked{Tickets: []ticket.Ticket{{Key: "PAY-88", Summary: "Book transfers"}}, Posted: true,
		Criteria: []finding.Criterion{{N: 1, Text: "Money is kept.", Verdict: finding.NotMet}},
		Unasked:  []finding.Unasked{{Lines: finding.Lines{Path: "go.sum", StartLine: 1, EndLine: 2}}},
		Missing:  []string{"PAY-89 could not be read"}}
	r.Findings[1].Also, r.Findings[1].RuleText = []string{"lock-order", "vet locks", "a"}, "Locks have one order."
	r.Findings[1].Suggestion, r.Findings[1].SuggestionProblem = "\tl.book.Lock()\n", "it does not parse"
	r.Findings[3].Source, r.Findings[3].Rule, r.Findings[3].Category = finding.Linter, "ST1005", finding.Lint
	r.Findings[3].Origin = &finding.Origin{Tool: "staticcheck", Help: "https://staticcheck.dev/", From: "by ci.yml"}
	r.Findings = append(r.Findings, finding.Finding{ID: "F5", Path: "ledger/close.go", Side: finding.Right,
		StartLine: 88, Line: 88, Severity: finding.Major, Category: finding.Secret, Source: finding.Rule,
		Placement: finding.Inline, Title: "A credential", Quote: "key: <redacted github-pat>"})
	r.Filtered = append(r.Filtered, held(finding.LeftOut, ""))
	for i := range r.Findings {
		r.Findings[i].Fingerprint = "1f"
	}
	return r
}

// lacks are, by the pages that show them, the fields that are not on all three: what is for the
// approver alone, what one page has no room for, what only others are made of.
var lacks = map[string]string{
	"summary terminal": "Finding.Category Finding.ID Finding.Note Finding.Quote Review.Added Review.Author " +
		"Review.Filtered Review.Flags Review.From Review.Hunks Review.Limit Review.Linters Review.Notices " +
		"Review.Removed Review.Reused Review.Round Review.Title Review.Usage",
	"posted summary": "Finding.Source Finding.SuggestionProblem Review.Handover Review.Head Review.Name Review.Posts " +
		"Review.Web",
	"posted terminal": "Review.Edited", // after the summary was written
	"summary":         "Finding.Confidence Review.Model Review.Partial",
	"posted":          "Asked.Posted",
	"":                "Finding.Filtered Finding.Fingerprint",
}

// TestAFieldIsOnEveryPageOrListed changes one field at a time, and looks which pages change with it. A new field is on
// all three, or one knows why not.
func TestAFieldIsOnEveryPageOrListed(t *testing.T) {
	t.Parallel()
	names := []string{"posted", "summary", "terminal"}
	pages := func(r render.Review) []string {
		return []string{render.File(r), summary.Draft(r, dialog()), terminal.Review(r, terminal.Options{Width: 80})}
	}
	was := pages(everything())
	for kind, of := range map[reflect.Type]func(*render.Review) []any{
		reflect.TypeFor[render.Review](): func(r *render.Review) []any { return []any{r} },
		reflect.TypeFor[render.Asked]():  func(r *render.Review) []any { return []any{&r.Asked} },
		reflect.TypeFor[finding.Finding](): func(r *render.Review) (all []any) {
			for i := range r.Findings {
				all = append(all, &r.Findings[i])
			}
			return all
		},
	} {
		for i := range kind.NumField() {
			set, shows := false, make([]bool, len(names))
			for n := range of(new(everything())) {
				r := everything()
				field := reflect.ValueOf(of(&r)[n]).Elem().Field(i)
				set = set || !field.IsZero()
				switch field.Kind() {
				case reflect.Bool:
					field.SetBool(!field.Bool())
				case reflect.Slice:
					field.SetLen(field.Len() / 3) // a rule's text is that of the first who says it, too
				default:
					field.SetZero()
				}
				for p, page := range pages(r) {
					shows[p] = shows[p] || page != was[p]
				}
			}
			var on []string
			for p, shown := range shows {
				if shown {
					on = append(on, names[p])
				}
			}
			name, want := kind.Name()+"."+kind.Field(i).Name, strings.Join(names, " ")
			for pages, fields := range lacks {
				if slices.Contains(strings.Fields(fields), name) {
					want = pages
				}
			}
			assert.True(t, set || want == "", "everything() has no %s", name)
			assert.Equal(t, want, strings.Join(on, " "), "the pages that show %s", name)
		}
	}
}
