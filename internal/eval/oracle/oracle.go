// Package oracle is a scripted model: it knows the defects of a case and answers
// with a set share of them and a set amount of noise, so that the whole way from
// answers to figures can be tested without a model.
//
// It reads no code and measures no model. Its shares and distributions are
// assumptions: figures that rest on them say what the pipeline does to answers of
// that make. Start reading at Answer; noise.go makes what is of no use.
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
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// Options say how good the scripted model is.
type Options struct {
	Recall float64 // chance that a known defect is found: 0 for none, 1 for all
	Noise  float64 // expected number of findings of no use per reviewed file; counts as 20 above that
	Seed   uint64

	Knows func(golden int) bool // whether a known defect can be told; nil: always
}

// claim is a finding as a model writes it, with the keys of the prompt's schema.
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

// Answer is what the model says about a file of a case, with the keys of the prompt's
// schema. Equal arguments give equal bytes. Whether a known defect is found is settled by
// seed, case and index alone, so that a higher recall adds findings and changes none.
func Answer(o Options, caseID string, golden []dataset.Golden, f diff.File) string {
	all := []claim{}
	if p := newPatch(f.Patch); len(p.lines) > 0 {
		for i, g := range golden {
			r := stream(o.Seed, caseID, "known", fmt.Sprint(i))
			if r.Float64() < o.Recall && g.Path == f.Path && (o.Knows == nil || o.Knows(i)) {
				all = append(all, known(r, g, p))
			}
		}
		n := noise{Options: o, caseID: caseID, path: f.Path, patch: p, golden: golden}
		all = n.add(all)
	}
	return encode(all)
}

// known reports a defect as it is, with a confidence that is even over 0.6 to 1.
func known(r *rand.Rand, g dataset.Golden, p patch) claim {
	c := claim{
		Side: finding.Right, Title: title(g.Issue), Body: g.Issue, Category: cmp.Or(g.Category, "other"),
		Severity: g.Severity, Confidence: hundredths(0.6 + 0.4*r.Float64()),
	}
	c.StartLine, c.Line = p.nearest(g.LineStart, g.LineEnd)
	c.Quote = p.text(c.Line)
	return c
}

// maxTitle is the length, in characters, that the prompt asks for.
const maxTitle = 100

// title makes one short sentence of an issue: the first, cut at a word's end.
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

// hundredths cuts a confidence to two digits, as models write it.
func hundredths(x float64) float64 { return math.Floor(x*100) / 100 }

// Judge is what the model says of a case's ticket, for both questions about it. Of what it
// does not know it says what a model likes to say: met, without a line.
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
	text, _ := json.Marshal(said) // plain values always can be written
	return string(text)
}

func lines(places []dataset.Place) []finding.Lines {
	all := make([]finding.Lines, len(places))
	for i, p := range places {
		all[i] = finding.Lines{Path: p.Path, StartLine: p.LineStart, EndLine: p.LineEnd}
	}
	return all
}

// numbered matches a line of a diff as a prompt shows it that has a number on
// the new side.
var numbered = regexp.MustCompile(`(?m)^ *[0-9]* +([0-9]+) [ +] `)

// Shown leaves out of an answer about a file what is about lines of its patch that
// a user turn does not show: a long file is asked about in parts, and each is
// answered for itself. An answer that is none of Answer's stays as it is.
func Shown(answer, user, patch string) string {
	var said struct {
		Findings []claim `json:"findings"`
	}
	if json.Unmarshal([]byte(answer), &said) != nil {
		return answer
	}
	lines := map[int]bool{}
	for _, m := range numbered.FindAllStringSubmatch(user, -1) {
		n, _ := strconv.Atoi(m[1]) // digits by the expression
		lines[n] = true
	}
	for _, l := range newPatch(patch).lines {
		if !lines[l.number] {
			said.Findings = slices.DeleteFunc(said.Findings, func(c claim) bool { return c.Line == l.number })
		}
	}
	return encode(said.Findings)
}

// patch is the new side of a file as far as its diff shows it.
type patch struct{ lines []line }

type line struct {
	number, hunk int // the hunk's place in the patch
	added        bool
	text         string // as a model is shown it: without a carriage return
}

func newPatch(text string) (p patch) {
	hunks, err := diff.Hunks(text)
	if err != nil {
		return patch{}
	}
	for i, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != diff.Delete {
				p.lines = append(p.lines, line{number: l.New, hunk: i, added: l.Op == diff.Add,
					text: strings.TrimSuffix(l.Text, "\r")})
			}
		}
	}
	return p
}

// nearest gives the lines on which a range is reported, all in one hunk: what of
// it lies in the first hunk that it touches or, where it touches none, the one
// line that is nearest. The patch has lines.
func (p patch) nearest(start, end int) (from, to int) {
	best := p.lines[0]
	for _, l := range p.lines {
		if gap(l.number, start, end) < gap(best.number, start, end) {
			best = l
		}
	}
	from, to = best.number, best.number
	for _, l := range p.lines {
		if l.hunk == best.hunk && gap(l.number, start, end) == 0 {
			to = l.number
		}
	}
	return from, to
}

// gap is the number of lines from a line to a range, 0 inside it.
func gap(number, start, end int) int { return max(start-number, number-end, 0) }

func (p patch) text(number int) string {
	for _, l := range p.lines {
		if l.number == number {
			return l.text
		}
	}
	return ""
}

func (p patch) last() int { return p.lines[len(p.lines)-1].number }
