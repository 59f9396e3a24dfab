package render_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
)

// The README's picture shows what this package writes: a draft, its approval that drops F4, and what is posted then.
// It is redrawn by `go test ./internal/render -run TestTheREADMEsPicture -update`.
func TestTheREADMEsPictureIsWhatIsWritten(t *testing.T) {
	const page = "../../.github/picture.svg"
	drawn := picture()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(drawn), 0o644))
	}
	kept, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(kept), drawn, "draw it anew with -update")
}

func picture() string {
	r := ledger()
	r.Notices = nil
	draft := summary.Draft(r, dialog())
	last := &r.Findings[len(r.Findings)-1]
	last.Filtered = finding.Dropped
	r.Filtered, r.Findings = append(r.Filtered, *last), r.Findings[:len(r.Findings)-1]
	posted := render.Posted(render.Body(r), render.Approval(decision.Record{By: "rita-reviewer", At: time.Date(2026, 11,
		21, 9, 0, 0, 0,
		time.UTC), Dropped: make([]decision.Drop, 1)}, false), marker.Review{})
	d := &drawing{}
	d.card("1  The draft, in the job's summary: nothing is on the pull request yet", between(draft, "## ", "")...)
	d.lines(between(draft, "**1 blocker", "")...)
	d.lines(between(draft, "#### F1", "*Confidence")...)
	for _, begin := range []string{"#### F2", "**Locks", "#### F3", "**The amount"} {
		d.lines(between(draft, begin, "")...)
	}
	d.lines(strings.NewReplacer("<details><summary>", "#### ", "</summary>", "", "<code>", "`", "</code>", "`").
		Replace(between(draft, "<details><summary>F4", "")[0]))
	d.card("2  The decision: GitHub's dialog, “Review deployments”", "**ai-review**  is waiting for your review", "```",
		"/drop F4: known, see #31", "```", "**Approve and deploy**   ·   Reject")
	d.card("3  What is posted: one review, and comments at lines of the diff", between(posted, "**1 blocker", "")...)
	d.lines(strings.Split(render.Comment(r.Findings[0]), "\n")...)
	d.lines(between(posted, "Drafted by", "")...)
	d.y += 16
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 %d" font-family="sans-serif" `+
		`font-size="14" fill="#1f2328"><rect width="640" height="100%%" fill="#ffffff"/>`+"\n%s</svg>\n", d.y,
		d.b.String())
}

// between are a text's lines from the first that begins with one mark to before the next that begins with
// another; without the other it is one line.
func between(text, from, to string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		switch {
		case len(lines) == 0 && !strings.HasPrefix(line, from):
		case len(lines) > 0 && (to == "" || strings.HasPrefix(line, to)):
			return lines
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// drawing is an SVG that grows downwards.
type drawing struct {
	b strings.Builder
	y int
}

func (d *drawing) card(title string, lines ...string) {
	d.y += 12
	fmt.Fprintf(&d.b, `<rect y="%d" width="640" height="28" fill="#0969da"/>`+"\n", d.y)
	d.y += 19
	d.text(`font-weight="bold" fill="#ffffff"`, quoted(title))
	d.y += 15
	d.lines(lines...)
}

var (
	link  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks = regexp.MustCompile("\\*\\*|`")
)

// lines draws lines of Markdown, as far as our pages use it.
func (d *drawing) lines(lines ...string) {
	fenced := false
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			if line == "```suggestion" {
				d.words("Suggested change:")
			}
			fenced = !fenced
			d.y += 6
		case fenced:
			d.code(line)
		case strings.HasPrefix(line, "#"):
			d.y += 4
			d.words("**" + strings.TrimLeft(strings.ReplaceAll(line, "**", ""), "# ") + "**")
		case line != "" && !strings.HasPrefix(line, "<"):
			d.words(line)
		}
	}
}

func (d *drawing) code(line string) {
	fill := "#f6f8fa"
	switch {
	case strings.HasPrefix(line, "+"):
		fill = "#dafbe1"
	case strings.HasPrefix(line, "-"):
		fill = "#ffebe9"
	}
	fmt.Fprintf(&d.b, `<rect x="16" y="%d" width="608" height="19" fill="%s"/>`+"\n", d.y, fill)
	d.y += 14
	d.text(`font-family="monospace" font-size="12.5" xml:space="preserve"`,
		"  "+quoted(strings.ReplaceAll(line, "\t", "    ")))
	d.y += 5
}

// words draws a line with bold and code, wrapped.
func (d *drawing) words(line string) {
	bold, code, width := false, false, 0
	var row strings.Builder
	end := func() {
		d.y += 18
		d.text("", row.String())
		d.y += 4
		row.Reset()
		width = 0
	}
	for _, word := range strings.Split(link.ReplaceAllString(line, "$1"), " ") {
		n := utf8.RuneCountInString(word) + 1
		if width+n > 92 {
			end()
		}
		width += n
		at := 0
		for _, mark := range append(marks.FindAllStringIndex(word, -1), []int{len(word), len(word)}) {
			row.WriteString(styled(word[at:mark[0]], bold, code))
			switch word[mark[0]:mark[1]] {
			case "**":
				bold = !bold
			case "`":
				code = !code
			}
			at = mark[1]
		}
		row.WriteString(" ")
	}
	end()
}

func styled(text string, bold, code bool) string {
	style := ""
	if bold {
		style += ` font-weight="bold"`
	}
	if code {
		style += ` font-family="monospace"`
	}
	if style == "" || text == "" {
		return quoted(text)
	}
	return "<tspan" + style + ">" + quoted(text) + "</tspan>"
}

func (d *drawing) text(style, inner string) {
	fmt.Fprintf(&d.b, `<text x="20" y="%d" %s>%s</text>`+"\n", d.y, style, inner)
}

func quoted(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
