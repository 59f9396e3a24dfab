package diff_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/testvolume"
)

// apply makes the new text out of the old one and a patch, from the patch's
// own bytes, so that missing line feeds count.
func apply(tb testing.TB, old, patch string) string {
	tb.Helper()
	hunks, err := diff.Hunks(patch)
	require.NoError(tb, err)
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0
	raw := strings.SplitAfter(patch, "\n")
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		for ; at < start; at++ {
			out.WriteString(lines[at])
		}
		raw = raw[1:]
		for range h.Lines {
			op, text := raw[0][0], raw[0][1:]
			raw = raw[1:]
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			if len(raw) > 0 && strings.HasPrefix(raw[0], `\`) {
				raw, text = raw[1:], strings.TrimSuffix(text, "\n")
			}
			if op != '+' {
				require.Equal(tb, lines[at], text, "old line %d", at+1)
				at++
			}
			if op != '-' {
				out.WriteString(text)
			}
		}
	}
	return out.String() + strings.Join(lines[at:], "")
}

func checkBetween(tb testing.TB, old, new string) {
	tb.Helper()
	patch, additions, deletions := diff.Between(old, new)
	require.Equal(tb, new, apply(tb, old, patch), "%q to %q by\n%s", old, new, patch)
	hunks, err := diff.Hunks(patch)
	require.NoError(tb, err)
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case diff.Add:
				additions--
			case diff.Delete:
				deletions--
			}
		}
	}
	require.Zero(tb, additions)
	require.Zero(tb, deletions)
	require.Equal(tb, old == new, patch == "")
}

func FuzzBetween(f *testing.F) {
	f.Add("", "a")
	f.Add("a\nb\r\nc", "a\nc\n")
	f.Add("a\n\n\nb", "a\n\nb\n")
	f.Fuzz(func(t *testing.T, old, new string) { checkBetween(t, old, new) })
}

// edit makes a file and a version of it with some lines changed.
func edit(r *rand.Rand, lines, changes int) (old, new string) {
	a := make([]string, lines)
	for i := range a {
		a[i] = strings.Repeat("\t", r.IntN(4)) + []string{"}", "return nil", "if err != nil {", "x := y", "",
			"call(arg)"}[r.IntN(6)]
		if r.IntN(2) == 0 {
			a[i] += string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26)))
		}
	}
	b := append([]string(nil), a...)
	for range changes {
		i := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b[i] = "changed"
		case 1:
			b = append(b[:i], b[min(len(b), i+1+r.IntN(3)):]...)
		default:
			b = append(b[:i], append([]string{"new line", a[r.IntN(len(a))]}, b[i:]...)...)
		}
		if len(b) == 0 {
			b = []string{"z"}
		}
	}
	end := []string{"", "\n"}
	return strings.Join(a, "\n") + end[r.IntN(2)], strings.Join(b, "\n") + end[r.IntN(2)]
}

func TestBetweenOfRandomEditsAppliesToTheNewText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		old, new := edit(r, 1+r.IntN(80), 1+r.IntN(20))
		checkBetween(t, old, new)
	}
}

func TestBetweenByExample(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"", "a\n", "@@ -0,0 +1 @@\n+a"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a"},
		{"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"},
		{"1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n", "@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5"},
		{"a", "a", ""},
	} {
		patch, _, _ := diff.Between(c[0], c[1])
		require.Equal(t, c[2], patch)
	}
}

func TestBetweenGivesTheHunksOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	equal := 0
	const tries = 100
	for range tries {
		old, new := edit(r, 50+r.IntN(300), 1+r.IntN(60))
		patch, _, _ := diff.Between(old, new)
		if patch == gitPatch(t, dir, old, new) {
			equal++
		}
	}
	t.Logf("%d of %d patches are git's own", equal, tries)
	require.GreaterOrEqual(t, equal, tries*4/5)
}

// gitPatch is git's patch in GitHub's form.
func gitPatch(tb testing.TB, dir, old, new string) string {
	tb.Helper()
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "a"), []byte(old), 0o600))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "b"), []byte(new), 0o600))
	cmd := exec.Command("git", "diff", "--no-index", "--no-color", "a", "b")
	cmd.Dir = dir
	out, _ := cmd.Output() // exit code 1 means a difference
	_, body, ok := strings.Cut(string(out), "+++ b/b\n")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(body, "\n")
}

func TestBetweenIsBoundedForHugeTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	old, _ := edit(r, 200_000, 1)
	new, _ := edit(r, 200_000, 1)
	var patch string
	took := testvolume.Took(func() { patch, _, _ = diff.Between(old, new) })
	require.NotEmpty(t, patch)
	require.Less(t, took, 10*time.Second)
	t.Logf("%d bytes against %d in %v", len(old), len(new), took)
}
