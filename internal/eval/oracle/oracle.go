// Package oracle is a scripted model: it knows the defects of a case and answers
// with a given share of them and a given amount of noise, so that the whole
// pipeline from answers to figures can be tested without a model.
//
// It reads no code and measures no model. Its shares and distributions are
// assumptions: figures based on them tell what the pipeline does to such answers.
// Start reading at Answer; noise.go makes the useless findings.
package oracle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// Options configures how good the scripted model is.
type Options struct {
	Recall float64 // chance that a known defect is found: 0 for none, 1 for all
	Noise  float64 // expected number of useless findings per reviewed file, capped at 20
	Seed   uint64

	Knows func(golden int) bool // whether the model can know a defect, by index; nil for always
	Turn  string                // the user turn: a long file is reviewed in parts, each asked about apart; "" shows all
}

// claim is a finding as a model writes it, in the prompt's schema.
type claim struct {
	Side       finding.Side     `json:"side"`
	StartLine  int              `json:"start_line"`
	Line       int              `json:"line"`
	Quote      string           `json:"quote"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	Category   string           `json:"category"`
	Severity   finding.Severity `json:"severity"`
	Confidence float64          `json:"confidence"`
	Suggestion string           `json:"suggestion"`
}

// Answer returns the model's answer about a file of a case, in the prompt's schema. Equal
// arguments give equal bytes. Only seed, case and index decide whether a known defect is
// found, so a higher recall adds findings and changes none.
func Answer(o Options, caseID string, golden []dataset.Golden, f diff.File) string {
	all := []claim{}
	if p := newPatch(f.Patch); len(p.lines) > 0 {
		for i, g := range golden {
			r := stream(o.Seed, caseID, "known", fmt.Sprint(i))
			if r.Float64() < o.Recall && g.Path == f.Path && (o.Knows == nil || o.Knows(i)) {
				all = append(all, trueClaim(r, g, p))
			}
		}
		n := noise{Options: o, caseID: caseID, path: f.Path, patch: p, golden: golden}
		all = n.add(all)
		if o.Turn != "" {
			all = p.shown(o.Turn, all)
		}
	}
	return encode(all)
}

// trueClaim returns a true claim about a defect, with a confidence uniform from 0.6 to 1.
func trueClaim(r *rand.Rand, g dataset.Golden, p patch) claim {
	c := claim{
		Side: finding.Right, Title: title(g.Issue), Body: g.Issue, Category: cmp.Or(g.Category, "other"),
		Severity: g.Severity, Confidence: hundredths(0.6 + 0.4*r.Float64()),
	}
	c.StartLine, c.Line, c.Quote = p.nearest(g.LineStart, g.LineEnd)
	return c
}

// maxTitle is the length, in characters, that the prompt asks for.
const maxTitle = 100

// title returns the first sentence of an issue, cut at the end of a word if it is too long.
func title(issue string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(issue), " "), ". ")
	runes := []rune(strings.TrimSuffix(first, "."))
	if len(runes) <= maxTitle {
		return string(runes)
	}
	s := string(runes[:maxTitle])
	if i := strings.LastIndexByte(s, ' '); i > 0 && runes[maxTitle] != ' ' {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:")
}

func encode(all []claim) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string][]claim{"findings": all})
	return strings.TrimSuffix(b.String(), "\n")
}

func stream(seed uint64, purpose ...string) *rand.Rand {
	h := sha256.New()
	fmt.Fprintf(h, "%d,%q", seed, purpose)
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// hundredths truncates a confidence to two decimals, as models write it.
func hundredths(x float64) float64 { return math.Floor(x*100) / 100 }

// Judge returns the model's answer about a case's ticket, for both questions about it. For a
// criterion that it does not know it says what models tend to say: met, without a line.
func Judge(o Options, c dataset.Case) string {
	said := struct {
		Overview string              `json:"overview"`
		Findings []claim             `json:"findings"`
		Criteria []finding.Criterion `json:"criteria"`
		Unasked  []finding.Unasked   `json:"unasked"`
	}{"The change does what its title says.", []claim{}, []finding.Criterion{}, []finding.Unasked{}}
	knows := func(purpose string) bool { return stream(o.Seed, c.ID, purpose).Float64() < o.Recall }
	for i, k := range c.Ticket.Criteria {
		j := finding.Criterion{N: i + 1, Verdict: finding.Met, Evidence: []finding.Lines{}}
		if knows(fmt.Sprint("criterion ", i)) {
			j.Verdict, j.Evidence = k.Verdict, lines(k.Evidence)
		}
		said.Criteria = append(said.Criteria, j)
	}
	for i, at := range lines(c.Ticket.Unasked) {
		if knows(fmt.Sprint("unasked ", i)) {
			said.Unasked = append(said.Unasked, finding.Unasked{Lines: at, Text: "does more than the ticket asks"})
		}
	}
	text, _ := json.Marshal(said) // never fails for plain values
	return string(text)
}

func lines(places []dataset.Place) []finding.Lines {
	all := make([]finding.Lines, len(places))
	for i, p := range places {
		all[i] = finding.Lines{Path: p.Path, StartLine: p.LineStart, EndLine: p.LineEnd}
	}
	return all
}

// numbered matches a line of a diff in a prompt that has a line number on the new
// side.
var numbered = pattern.Lazy(`(?m)^ *[0-9]* +([0-9]+) [ +] `)

// shown returns the claims without those on lines of the patch that a user turn does not show.
func (p patch) shown(turn string, all []claim) []claim {
	lines := map[int]bool{}
	for _, m := range numbered().FindAllStringSubmatch(turn, -1) {
		n, _ := strconv.Atoi(m[1]) // digits by the expression
		lines[n] = true
	}
	return slices.DeleteFunc(all, func(c claim) bool {
		return !lines[c.Line] && slices.ContainsFunc(p.lines, func(l line) bool { return l.number == c.Line })
	})
}

// patch holds the lines of a file's new side that its diff shows.
type patch struct{ lines []line }

type line struct {
	number, hunk int    // line number, and index of the hunk in the patch
	text         string // without a carriage return, as a prompt shows it
}

func newPatch(text string) (p patch) {
	hunks, _ := diff.Hunks(text) // a malformed patch shows no line
	for i, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != diff.Delete {
				p.lines = append(p.lines, line{number: l.New, hunk: i, text: strings.TrimSuffix(l.Text, "\r")})
			}
		}
	}
	return p
}

// nearest returns the lines to report a range on, all in one hunk, and the text of the last: the part
// of the range in the first hunk that it touches or, if it touches none, the nearest line.
// The patch must not be empty.
func (p patch) nearest(start, end int) (from, to int, text string) {
	best := p.lines[0]
	for _, l := range p.lines {
		if gap(l.number, start, end) < gap(best.number, start, end) {
			best = l
		}
	}
	from, to, text = best.number, best.number, best.text
	for _, l := range p.lines {
		if l.hunk == best.hunk && gap(l.number, start, end) == 0 {
			to, text = l.number, l.text
		}
	}
	return from, to, text
}

// gap returns the distance in lines from a line to a range, 0 inside it.
func gap(number, start, end int) int { return max(start-number, number-end, 0) }
