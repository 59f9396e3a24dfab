package reviewpr_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// wholeCase is one change of testdata/whole, with a ticket or a contradiction.
type wholeCase struct {
	change ingest.Change
	find   struct{ Path, Quote, Other, Title string }
	ticket struct {
		Key, Type, Summary, Description string
		Criteria                        []string
	}
	says struct {
		Criteria []struct {
			N       int
			Verdict finding.Verdict
			At, Old []string
			Lines   []finding.Lines
		}
		Unasked []struct{ At, Text string }
	}
	want struct {
		Criteria [][2]string
		Unasked  []string
	}
}

func wholeCases(t *testing.T, pattern string) map[string]*wholeCase {
	t.Helper()
	files, err := filepath.Glob("testdata/whole/" + pattern)
	require.NoError(t, err)
	all := map[string]*wholeCase{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		c := &wholeCase{}
		for _, f := range txtar.Parse(data).Files {
			into := map[string]any{"find.json": &c.find, "ticket.json": &c.ticket, "says.json": &c.says,
				"want.json": &c.want}[f.Name]
			if f.Name == "change.diff" {
				c.change, err = ingest.Diff("change", strings.NewReader(string(f.Data)))
			} else {
				err = json.Unmarshal(f.Data, into)
			}
			require.NoError(t, err, name)
		}
		c.change.Name, c.change.Head = "#42", head
		c.change.Thread = pull.ThreadID(ref, "", head)
		c.change.Pull = &pull.Pull{Ref: ref, RepoID: 7, HeadRepoID: 7, State: "open", BaseSHA: strings.Repeat("cd", 20),
			HeadSHA: head, Private: true, Title: "TITLEMARK of the change", Body: "BODYMARK\n\nsays it is fine",
			HeadRef: "BRANCHMARK"}
		all[strings.TrimSuffix(filepath.Base(name), ".txtar")] = c
	}
	return all
}

// asks gives the case's ticket as a source would.
func (c *wholeCase) asks() ticket.Context {
	t := ticket.Ticket{Key: c.ticket.Key, Source: "jira", Type: c.ticket.Type, Summary: c.ticket.Summary,
		Description: c.ticket.Description}
	for i, text := range c.ticket.Criteria {
		t.Criteria = append(t.Criteria, ticket.Criterion{N: i + 1, Text: text})
	}
	return ticket.Context{Keys: []ticket.Key{{Key: t.Key, From: ticket.Title}}, Tickets: []ticket.Ticket{t}}
}

// contradicts reports the case's finding where it is shown both of its lines, whoever asks.
func (c *wholeCase) contradicts(r llmtest.Request) llmtest.Answer {
	if r.Question == llmtest.Verify || r.Question == llmtest.Recheck {
		return llmtest.Verdicts(r, func(llmtest.Claim) bool { return true })
	}
	files := []llmtest.WholeFile{{Path: r.Path, Lines: r.Lines}}
	if r.Whole() {
		files = llmtest.WholeFiles(r)
	}
	var found []llmtest.WholeFinding
	other := false
	for _, f := range files {
		for _, l := range f.Lines {
			other = other || l.Op == '+' && strings.Contains(l.Text, c.find.Other)
			if l.Op == '+' && strings.TrimSpace(l.Text) == c.find.Quote && f.Path == c.find.Path {
				found = []llmtest.WholeFinding{{Path: f.Path, Finding: llmtest.Finding{Side: "RIGHT", StartLine: l.New,
					Line: l.New, Quote: l.Text, Title: c.find.Title, Body: "The other file says otherwise.",
					Category: "compatibility", Severity: "major", Confidence: 0.9}}}
			}
		}
	}
	if !other {
		found = nil
	}
	if r.Whole() {
		return llmtest.Seen(r, "The change does two things.", found, nil, nil)
	}
	return llmtest.Findings()
}

// judges answers as the case says, with the lines where the texts stand that it names.
func (c *wholeCase) judges(r llmtest.Request) llmtest.Answer {
	at := func(text string, op byte) (places []finding.Lines) {
		for _, f := range llmtest.WholeFiles(r) {
			for _, l := range f.Lines {
				if l.Op == op && strings.TrimSpace(l.Text) == text {
					n := max(l.New, l.Old)
					places = append(places, finding.Lines{Path: f.Path, StartLine: n, EndLine: n})
				}
			}
		}
		return places
	}
	var criteria []finding.Criterion
	for _, s := range c.says.Criteria {
		// as a model writes it that nothing holds to the schema
		said := strings.ToUpper(strings.ReplaceAll(string(s.Verdict), "_", " "))
		j := finding.Criterion{N: s.N, Verdict: finding.Verdict(said), Evidence: s.Lines}
		for _, text := range s.At {
			j.Evidence = append(j.Evidence, at(text, '+')...)
		}
		for _, text := range s.Old {
			j.Evidence = append(j.Evidence, at(text, '-')...)
		}
		criteria = append(criteria, j)
	}
	var unasked []finding.Unasked
	for _, u := range c.says.Unasked {
		for _, p := range at(u.At, '+') {
			unasked = append(unasked, finding.Unasked{Lines: p, Text: u.Text})
		}
	}
	return llmtest.Seen(r, "The change does what it does.", nil, criteria, unasked)
}

// asking is a run by a scripted model of a change with what was asked for.
type asking struct {
	*world
	server *llmtest.Server
	model  *review.Model
	asked  ticket.Context
	calls  int  // of the sources
	broken bool // the sources give nothing more
}

func newAsking(t *testing.T, c ingest.Change, asked ticket.Context, files, whole llmtest.Script,
	show ticket.Show) *asking {
	t.Helper()
	a := &asking{world: newWorld(nil), asked: asked}
	a.change = c
	a.change.Config = config.Default()
	a.change.Config.Context = config.Context{Show: show, Sources: []config.Source{{}}}
	a.server = llmtest.Start(t, files, func(s *llmtest.Server) { s.Whole = whole })
	chat, err := llm.New(llm.Options{BaseURL: a.server.URL, Model: "m",
		HTTP: transport.New(transport.Options{Tries: 1})})
	require.NoError(t, err)
	a.model = review.NewModel(review.Options{Review: chat, Verify: chat, Random: rand.Reader})
	return a
}

func (a *asking) run(t *testing.T) reviewpr.State {
	t.Helper()
	flow, err := reviewpr.New(a.wired(), a.store)
	require.NoError(t, err)
	r, err := flow.Run(t.Context(), a.change.Thread, a.draft())
	require.NoError(t, err)
	return r.State
}

func (a *asking) wired() reviewpr.Steps {
	a.model.Once = a.paid.Once
	return reviewpr.Steps{
		Ingest:   func(context.Context) (ingest.Change, error) { return a.change, nil },
		Reviewer: a.model, Overview: a.model.Overview, Paid: a.paid,
		Learn: func(pages []prompt.Document, digest string) {
			a.model.Guides.Pages, a.model.Guides.PagesDigest = pages, digest
		},
		Context: func(context.Context, reviewpr.State) ticket.Context {
			if a.calls++; a.broken {
				return ticket.Context{Missing: []string{"Without ticket: Jira does not answer"}}
			}
			return a.asked
		},
	}
}

func TestTwoFilesThatContradictEachOtherAreFoundByTheLookAtTheWholeAlone(t *testing.T) {
	t.Parallel()
	cases := wholeCases(t, "contradiction-*.txtar")
	require.Len(t, cases, 5)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAsking(t, c.change, ticket.Context{}, c.contradicts, c.contradicts, "")
			s := a.run(t)
			kept := finding.Kept(s.Comments)
			require.Len(t, kept, 1)
			require.Equal(t, c.find.Title, kept[0].Title)
			require.Equal(t, finding.Inline, kept[0].Placement)
			require.Equal(t, reviewpr.Paused, s.Outcome())
			require.EqualValues(t, len(c.change.Files)+2, s.Usage.Calls, "one call, and the second look")

			alone := newAsking(t, c.change, ticket.Context{}, c.contradicts, c.contradicts, "")
			steps := alone.wired()
			steps.Overview = nil
			flow, err := reviewpr.New(steps, alone.store)
			require.NoError(t, err)
			r, err := flow.Run(t.Context(), alone.change.Thread, alone.draft())
			require.NoError(t, err)
			require.Equal(t, reviewpr.Clean, r.End, "no reviewer of one file finds it")
		})
	}
}

func TestWhatWasAskedIsHeldAgainstTheChange(t *testing.T) {
	t.Parallel()
	cases := wholeCases(t, "ticket-*.txtar")
	require.Len(t, cases, 8)
	for name, c := range cases {
		for _, show := range []ticket.Show{ticket.ShowKey, ticket.ShowCriteria, ticket.ShowFull} {
			t.Run(name+" "+string(show), func(t *testing.T) {
				t.Parallel()
				a := newAsking(t, c.change, c.asks(), llmtest.Honest, c.judges, show)
				s := a.run(t)
				require.Len(t, s.Whole.Criteria, len(c.want.Criteria))
				text := summary.Draft(s.Review(), summary.Decide{Code: "x"})
				require.Contains(t, text, "### What was asked")
				var rows []string
				for line := range strings.Lines(text) {
					if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| asked for") {
						rows = append(rows, strings.TrimSpace(line))
					}
				}
				require.Len(t, rows, len(c.want.Criteria), text)
				for i, want := range c.want.Criteria {
					require.Contains(t, rows[i], "| "+strings.TrimSpace(want[0]))
					require.Contains(t, plain(rows[i]), want[1])
				}
				for _, want := range c.want.Unasked {
					place, _, _ := strings.Cut(want, ":")
					require.Contains(t, plain(text), "Not asked for:\n\n- "+place)
					require.Equal(t, show != ticket.ShowKey, strings.Contains(plain(text), want))
				}
				calls := map[ticket.Show]int{ticket.ShowKey: 2}[show]
				require.Len(t, a.server.Wholes(), max(1, calls))
				require.Equal(t, 1, a.calls)
			})
		}
	}
}

// plain is Markdown without links.
func plain(text string) string {
	for {
		i := strings.Index(text, "](")
		if i < 0 {
			return text
		}
		open := strings.LastIndex(text[:i], "[")
		end := i + strings.Index(text[i:], ")")
		text = text[:open] + text[open+1:i] + text[end+1:]
	}
}

// T2, T36, D10: with and without title, description and branch a file's prompts are the
// same bytes; the look at the whole change has them between its marks.
func TestT36_TitleAndDescriptionReachTheLookAtTheWholeAlone(t *testing.T) {
	t.Parallel()
	c := wholeCases(t, "contradiction-amount.txtar")["contradiction-amount"]
	framed := newAsking(t, c.change, ticket.Context{}, llmtest.Honest, llmtest.Nothing, "")
	framed.run(t)
	bare := *c.change.Pull
	bare.Title, bare.Body, bare.HeadRef = "", "", ""
	c.change.Pull = &bare
	plain := newAsking(t, c.change, ticket.Context{}, llmtest.Honest, llmtest.Nothing, "")
	plain.run(t)
	require.Equal(t, prompts(plain.server.Requests()), prompts(framed.server.Requests()))
	whole := framed.server.Wholes()[0]
	for _, mark := range []string{"TITLEMARK", "BODYMARK", "BRANCHMARK"} {
		require.NotContains(t, whole.System, mark)
		require.NotContains(t, llmtest.Outside(whole.User), mark)
		require.Contains(t, whole.User, mark)
	}
	require.Empty(t, whole.Tools, "which tools are called is not the model's choice")
}

// prompts are the questions about files, by path, without their random boundaries.
func prompts(all []llmtest.Request) map[string]string {
	out := map[string]string{}
	for _, r := range all {
		number, _, _ := strings.Cut(r.User[strings.Index(r.User, "<<<data ")+8:], " ")
		out[r.Question+" "+r.Path] = r.System + strings.ReplaceAll(r.User, number, "N")
	}
	return out
}
