package choose

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/testvolume"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update once")
	require.Equal(t, string(want), got)
}

// hostile has text that acts on a terminal or in a log wherever text can be.
func hostile() render.Review {
	r := twelve()
	const bad = "\x1b[2J\x1b]8;;https://collect.example\x07x\r\n::error::y\n##[add-mask]z \u202e\U000e0068 " +
		"\u0085\x9b31m"
	r.Name, r.Title = "\x1b[2J#1", bad
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Path, f.Title, f.Body, f.Suggestion, f.Quote, f.Note, f.Category = bad, bad, strings.Repeat(bad, 5), bad, bad,
			bad, "secret"
		f.Side, f.Placement = finding.Left, finding.Body
	}
	return r
}

func eastAsian() render.Review {
	r := twelve()
	r.Title = "支払いの再試行"
	r.Findings[0].Path = "帳簿/" + strings.Repeat("振替", 20) + "/振替処理.go"
	r.Findings[0].Title = "引き落としに失敗しても受取人に入金される"
	r.Findings[0].Body = "`Debit` が返すエラーを誰も確認しないまま `Credit` が実行されるため、" +
		"残高のない口座からの振替でお金が生まれます。👍🏽 取引は途中で止まりません。"
	r.Findings[1].Title = strings.Repeat("word", 100)
	return r
}

func TestScreens(t *testing.T) {
	t.Parallel()
	colored := options(twelve())
	colored.Color = true
	for name, c := range map[string]struct {
		options       Options
		width, height int
		keys          string
	}{
		"list.txt":        {options(twelve()), 80, 24, "s j d known enter j e enter m j"},
		"list-color.txt":  {colored, 80, 24, "j s"},
		"list-40.txt":     {options(twelve()), 40, 24, "j d enter"},
		"list-30.txt":     {options(twelve()), 30, 12, ""},
		"list-low.txt":    {options(twelve()), 80, 8, "end m"},
		"list-wide.txt":   {options(twelve()), 132, 30, ""},
		"list-cjk-40.txt": {options(eastAsian()), 40, 24, ""},
		"detail.txt":      {options(twelve()), 80, 24, "enter"},
		"hostile.txt":     {options(hostile()), 80, 40, "enter"},
		"edit.txt":        {options(twelve()), 80, 24, "e"},
		"drop-40.txt":     {options(twelve()), 40, 24, "d known_from_the_last_review"},
		"preview.txt":     {options(twelve()), 80, 24, "d enter p pgdown"},
		"approve.txt":     {options(twelve()), 80, 24, "d enter s j m a"},
		"help.txt":        {options(twelve()), 80, 24, "?"},
		"empty.txt":       {options(render.Review{Name: "demo"}), 80, 24, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := press(t, sized(c.options, c.width, c.height), keysOf(c.keys)...)
			golden(t, name, m.View()+"\n")
		})
	}
}

var (
	sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// acts is what a terminal or a runner would follow.
	acts = regexp.MustCompile(`(?m)[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{202a}-\x{202e}\x{e0000}-\x{e007f}]` +
		`|^\s*::|##\[`)
)

func TestT13_EveryScreenFitsAndIsInert(t *testing.T) {
	t.Parallel()
	keys := []string{"up", "down", "pgup", "pgdown", "home", "end", "enter", "esc", "backspace", "space", "d", "e", "m",
		"s", "u", "p", "a", "x", "r", "n", "b", "?", "q", "y", "\x1b::error::", "界"}
	r := rand.New(rand.NewPCG(1, 2))
	for _, review := range []render.Review{twelve(), hostile(), eastAsian(), {Name: "#1"}} {
		for range 10 {
			o := options(review)
			o.Color = r.IntN(2) == 0
			m := sized(o, 1+r.IntN(100), 1+r.IntN(50))
			for range 40 {
				next, cmd := m.Update(message(keys[r.IntN(len(keys))]))
				m = next.(model)
				if r.IntN(10) == 0 {
					next, _ = m.Update(tea.WindowSizeMsg{Width: r.IntN(100), Height: r.IntN(50)})
					m = next.(model)
				}
				checkScreen(t, m)
				checkChoice(t, m, cmd != nil)
				if cmd != nil {
					break
				}
			}
		}
	}
}

func message(key string) tea.KeyMsg {
	if kind, ok := special[key]; ok {
		return tea.KeyMsg{Type: kind}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
}

func checkScreen(t *testing.T, m model) {
	t.Helper()
	rows := strings.Split(sgr.ReplaceAllString(m.View(), ""), "\n")
	require.Len(t, rows, m.height)
	for _, row := range rows {
		require.LessOrEqual(t, column.Width(row), m.width, "%q at %d×%d", row, m.width, m.height)
		require.NotRegexp(t, acts, row)
	}
}

// checkChoice holds what leaves the list against package decision.
func checkChoice(t *testing.T, m model, over bool) {
	t.Helper()
	c := m.currentChoice()
	d, err := decision.Parse(c.Text)
	require.NoError(t, err)
	_, err = d.Check(finding.Items(m.Review.Findings))
	require.NoError(t, err)
	require.Equal(t, c.Verdict, d.Verdict)
	require.Empty(t, d.Note)
	require.True(t, over || c.Verdict == "")
}

func TestFiveHundredFindingsDoNotLag(t *testing.T) { // not parallel: it measures
	r := twelve()
	for len(r.Findings) < 500 {
		f := r.Findings[len(r.Findings)%12]
		f.ID, f.Body = fmt.Sprintf("F%d", len(r.Findings)+1), strings.Repeat(f.Body+"\n", 100)
		r.Findings = append(r.Findings, f)
	}
	m := sized(options(r), 200, 60)
	const keys = 60
	each := testvolume.Took(func() {
		for i := range keys {
			m, _ = press(t, m, []string{"j", "m", "s", "pgdown", "d", "enter"}[i%6])
			require.NotEmpty(t, m.View())
		}
	}) / keys
	t.Logf("%s a key", each)
	require.Less(t, each, 16*time.Millisecond, "a frame of the library's 60 a second")
}
