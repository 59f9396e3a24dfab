package eval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
)

// ErrNoCase reports that a run has no case of that name.
var ErrNoCase = errors.New("the run has no such case")

// Page returns all that a finished run knows about one case, as Markdown.
func Page(ctx context.Context, dir, id string) (string, error) {
	kept, err := ReadRun(dir)
	if err != nil {
		return "", err
	}
	cases, err := dataset.Read(filepath.Join(dir, casesFile))
	if err != nil {
		return "", fmt.Errorf("reading a run: %w", err)
	}
	i := slices.IndexFunc(kept.Results, func(r score.Result) bool { return r.ID == id })
	at := slices.IndexFunc(cases, func(c dataset.Case) bool { return c.ID == id })
	if i < 0 || at < 0 {
		return "", fmt.Errorf("%s: %w: %q", dir, ErrNoCase, id)
	}
	p := page{Case: cases[at], Result: kept.Results[i]}
	if p.Review, p.Judging, err = caseExchanges(ctx, dir, p.Case, kept.Report.Fingerprints); err != nil {
		return "", err
	}
	var out strings.Builder
	err = template.Must(template.New("").Funcs(pageFuncs).Parse(pageText)).Execute(&out, p)
	return guard.Text(out.String()), err
}

func caseExchanges(ctx context.Context, dir string, c dataset.Case,
	fingerprints map[string]string) (review, judging []Exchange, err error) {
	store, err := filestore.New(journalDir(dir))
	if err != nil {
		return nil, nil, err
	}
	review, err = exchanges(ctx, store, reviewThread(c, fingerprints["reviewer"]))
	if err == nil || errors.Is(err, graph.ErrNoThread) {
		judging, err = exchanges(ctx, store, judgeThread(c, fingerprints["reviewer"], fingerprints["judge"]))
	}
	if errors.Is(err, graph.ErrNoThread) {
		err = nil
	}
	return review, judging, errors.Join(err, store.Close())
}

type page struct {
	Case            dataset.Case
	Result          score.Result
	Review, Judging []Exchange
}

// Systems returns one exchange for each system text: they are long, and shared by many questions.
func (p page) Systems() (all []Exchange) {
	for _, e := range slices.Concat(p.Review, p.Judging) {
		if e.System != "" && !slices.ContainsFunc(all, func(other Exchange) bool { return other.System == e.System }) {
			all = append(all, e)
		}
	}
	return all
}

var pageFuncs = template.FuncMap{
	"code":   guard.Code,
	"inline": func(s string) string { return guard.Inline(s, 0) },
	"fence":  guard.Fence,
	"next":   func(i int) int { return i + 1 },
}

const pageText = `# {{code .Case.ID}}: {{inline .Case.Title}}

{{inline .Case.Language}}, {{.Case.Kind}} · {{.Result.Outcome}} · ` +
	`{{if .Result.Passed}}passed{{else}}did not pass: {{inline .Result.Why}}{{end}}
{{range .Result.Unread}}
Not read: {{inline .}}
{{end}}
## Known defects
{{range $i, $_ := .Result.Golden}}
{{next $i}}. **{{if .Hit}}hit by {{.Hit}}{{else}}missed{{if .LostAt}}; a finding near it was lost at {{.LostAt}}` +
	`{{else if .FileHit}}; something else was posted on its file{{end}}{{end}}** · ` +
	`{{code .Path}}, lines {{.LineStart}} to {{.LineEnd}} · {{.Severity}} · {{.Visibility}} · {{inline .Issue}}
{{else}}
None: the change is clean as far as anybody knows.
{{end}}
{{- with .Result.Asked}}
## {{code $.Case.Ticket.Key}}: {{inline $.Case.Ticket.Summary}}
{{range $i, $_ := $.Result.Criteria}}
{{.N}}. **{{.Want}}**, said to be {{.Said}} · {{inline (index $.Case.Ticket.Criteria $i).Text}}
{{end}}
Parts nobody asked for: {{.Named}} of {{.Unasked}} named; {{.Beside}} others named.
{{end}}
## What would be posted (draft {{.Result.Draft}})
{{range .Result.Posted}}
- **{{.ID}}** {{code .Path}}:{{.Line}} · {{.Severity}} · {{.Placement}}` +
	`{{if ge .Golden 0}} · hits {{next .Golden}}{{end}}{{if .Valid}} · the judge calls it valid{{end}}
  {{inline .Title}}
{{else}}
Nothing.
{{end}}
{{- if .Result.Rulings}}
## Decisions
{{range .Result.Rulings}}
- {{.Finding}} {{if ge .Golden 0}}means known defect {{next .Golden}}, {{.Distance}} lines away` +
	`{{else}}is a true defect{{end}}: **{{if .Steered}}no, the judge was steered by the text` +
	`{{else if .Yes}}yes{{else}}no{{end}}{{if not .Votes}}, only by place{{end}}**` +
	`{{if .Votes}} (votes {{.Votes}}) {{inline .Reason}}{{end}}
{{end}}{{end}}
{{- if or .Result.Lost .Result.Moved}}
## Lost and moved on the way

{{range .Result.Lost}}- lost {{template "loss" .}}{{end}}{{range .Result.Moved}}- moved {{template "loss" .}}{{end}}
{{- end}}
{{- define "loss"}}at {{.Stage}}{{if .Known}} **near a known defect**{{end}}: {{code .Path}}:{{.Line}} ` +
	`{{inline .Title}} ({{inline .Why}})
{{end}}
{{- if .Review}}
## What the reviewer was given and answered
{{range .Review}}{{template "exchange" .}}{{end}}{{end}}
{{- if .Judging}}
## What the judge was given and answered
{{range .Judging}}{{template "exchange" .}}{{end}}{{end}}
{{- define "exchange"}}
### {{code .About}}{{if .Answer.Results}}: what the tools gave{{end}}
{{range .Answer.Results}}
{{code .Name}} with {{code .Arguments}}

{{fence (print .Text .Problem) ""}}
{{else}}
{{.Answer.Usage.InputTokens}} input and {{.Answer.Usage.OutputTokens}} output tokens, {{.Answer.Usage.Cost}}, ` +
	`{{printf "%.1f" .Seconds}} s

{{fence .User ""}}
{{range .Answer.Calls}}
Calls {{code .Name}} with {{code .Arguments}}
{{end}}
Answer{{with .Answer.Ended}} ({{.}}){{end}}:

{{fence .Answer.Text ""}}
{{end}}{{end}}
## Diff

{{fence .Case.Diff "diff"}}
{{range .Systems}}
## System text of {{code .About}}

{{fence .System ""}}
{{end}}`
