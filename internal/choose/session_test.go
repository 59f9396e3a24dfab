package choose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
)

// step is a part of the recorded session: what a person thinks, and the keys.
// Each step is one mental operator (M) of the model below.
type step struct{ thinks, keys string }

// session decides twelve findings: three dropped, one edited, two moved, one
// regraded, five kept; then the preview and the approval.
var session = []step{
	{"F1 is right", "j"},
	{"F2 is right", "j"},
	{"F3 is right", "j"},
	{"F4 is a minor one", "s j"},
	{"F5 wants a word more", "e"},
	{"…", "_Swap_them. enter j"},
	{"F6 is wrong here", "d"},
	{"…", "capped enter j"},
	{"F7 is right", "j"},
	{"F8 is right", "j"},
	{"F9 belongs into the summary", "m j"},
	{"F10 is noise", "d enter j"},
	{"F11 belongs into the summary", "m j"},
	{"F12 is noise", "d enter"},
	{"how does it look", "p"},
	{"good", "a"},
	{"the verdict line is right", "y"},
}

// The keystroke-level model (Card, Moran and Newell, 1980): seconds for a key by
// a good and by an average typist, and to make up one's mind. Reading is assumed
// at 238 words a minute (silent, English; Brysbaert, 2019).
const (
	goodKey, averageKey, mental = 0.20, 0.28, 1.35
	wordsAMinute                = 238.0
)

func TestTwelveFindingsAreDecidedWithinAMinute(t *testing.T) {
	t.Parallel()
	m := sized(options(twelve()), 80, 24)
	keys, words, reasons, over := 0, 0, 0, false
	for _, f := range m.Review.Findings {
		words += len(strings.Fields(f.Title))
		reasons += len(strings.Fields(f.Body))
	}
	var page strings.Builder
	for i, s := range session {
		for _, k := range keysOf(s.keys) {
			keys += len([]rune(k))
			if _, ok := special[k]; ok {
				keys += 1 - len([]rune(k))
			}
		}
		fmt.Fprintf(&page, "%-28s  %s\n", s.thinks, s.keys)
		if m, over = press(t, m, keysOf(s.keys)...); i == 4 || i == 13 || i == 14 || i == 15 {
			page.WriteString("\n" + framed(m.View()) + "\n")
		}
		if !over && !m.question.typing { // a practised person does not read what never changes
			_, facts, _ := strings.Cut(strings.TrimSuffix(m.question.words, "y posts it, any other key goes back."),
				"?")
			words += len(strings.Fields(facts))
		}
	}
	require.True(t, over)
	require.Equal(t, decision.Approve, m.currentChoice().Verdict)
	seconds := func(key float64) float64 {
		return float64(keys)*key + float64(len(session))*mental + reading(words)
	}
	require.LessOrEqual(t, time.Duration(seconds(goodKey)*float64(time.Second)), time.Minute)
	head := fmt.Sprintf(sessionHead, keys, len(session), words,
		float64(keys)*goodKey, float64(len(session))*mental, reading(words), seconds(goodKey), seconds(averageKey),
		reasons, reading(reasons))
	golden(t, "session.txt", head+page.String()+"\nThe choice:\n\n"+m.currentChoice().Text+"\n")
}

// reading is how many seconds words take.
func reading(words int) float64 { return float64(words) / wordsAMinute * 60 }

func framed(screen string) string {
	var b strings.Builder
	for _, row := range strings.Split(screen, "\n") {
		b.WriteString(strings.TrimRight("    "+row, " ") + "\n")
	}
	return b.String()
}

const sessionHead = `A decision on 12 findings at a terminal of 80×24: 3 dropped, 1 edited, 2 moved,
1 graded otherwise, 5 kept, a look at the preview, the approval. The same keys sent
to the program in a pane of tmux showed the same screens.

%d keys, %d times of making up one's mind, %d words that have to be read: the
claims, and the counts in the last question. Words that never change are left out,
since the model is one of practised people who make no mistake.

An estimate by the keystroke-level model (Card, Moran and Newell, 1980), not a
measurement of people: K = 0.20 s a key for a good typist, M = 1.35 s before each
step below, no pointing (P) and no moving of the hands (H), no waiting (R: a frame
takes 16 ms). Reading is assumed at 238 words a minute (Brysbaert, 2019).

    keys %.1f s + M %.1f s + reading %.1f s = %.1f s; with 0.28 s a key %.1f s

Reading is the assumption that matters: a person who decides by the claim alone
is meant. Code and reasons stand below the list without a key; reading the reasons
of all findings, %d words, takes %.1f s more.

What a person thinks, the keys (_ is a space), and some of the screens:

`
