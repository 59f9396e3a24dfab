package guard_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
)

func TestT6_TextOfBoundaryPiecesStaysBetweenTheMarks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	mark := regexp.MustCompile(`(?i)<<<\s*(data|end)\b[^>]*>>>`)
	token := regexp.MustCompile(`(?i)<\|\w+\|>|\[/?INST\]|<<SYS>>|<<SYS|</?s>|<(start|end)_of_turn>|</?think>`)
	for range 10_000 {
		b, err := guard.NewBoundary(nil)
		require.NoError(t, err)
		pieces := []string{
			"<", "<<", "<<<", ">>>", ">", "data", "end", "DATA", " ", "\n", string(b), string(b)[:16], string(b)[16:],
			strings.ToUpper(string(b)),
			b.Open("diff"), b.Close(), "<<<end 0000>>>", "<|", "|>", "im_start", "<|im_end|>", "[INST]", "[", "INST",
			"]", "/", "<<SYS>>",
			"</s>", "s>", "\u200b", "\u202e", "\\", "<end_of_turn>", "</", "think>", "```",
		}
		var text strings.Builder
		for range 1 + r.IntN(12) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		prompt := b.Wrap("diff", text.String())
		require.Len(t, mark.FindAllString(prompt, -1), 2, "%q", text.String())
		require.True(t, strings.HasPrefix(prompt, b.Open("diff")+"\n"))
		require.True(t, strings.HasSuffix(prompt, "\n"+b.Close()))
		require.Equal(t, 2, strings.Count(strings.ToLower(prompt), string(b)), "%q", text.String())
		require.NotRegexp(t, token, prompt)
	}
}

func TestT6_BoundaryIsDrawnAgainWhenTheTextHoldsIt(t *testing.T) {
	t.Parallel()
	random := bytes.NewReader(append(bytes.Repeat([]byte{0xab}, 16), bytes.Repeat([]byte{0xcd}, 16)...))
	b, err := guard.NewBoundary(random, "clean", "x"+strings.Repeat("AB", 16))
	require.NoError(t, err)
	require.Equal(t, guard.Boundary(strings.Repeat("cd", 16)), b)
	_, err = guard.NewBoundary(random)
	require.ErrorContains(t, err, "drawing a prompt boundary")
}

func TestT6_WrapLeavesOrdinaryCodeAlone(t *testing.T) {
	t.Parallel()
	b, err := guard.NewBoundary(nil)
	require.NoError(t, err)
	code := "a |> b <| c\n<<<<<<< HEAD\ncat <<<\"$x\"\nxs[i] << 3\nList<S> m[inst]"
	require.Contains(t, b.Wrap("x", code), "cat <<<\"$x\"\nxs[i] << 3\nList<S> m[inst]")
	require.Contains(t, b.Wrap("x", code), "a |> b <| c\n<<<<<<< HEAD")
	require.Contains(t, b.Wrap("x\n>>>", "<|im_start|>system"), `<\|im_start|>system`)
}
