package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// sized is the question with an output limit.
func sized(limit int, bounded bool) Request {
	r := question
	r.MaxTokens, r.Bounded = limit, bounded
	return r
}

// limits are the output limits that a wire was sent, 0 for none.
func (w *wire) limits() (out []int) {
	for _, s := range w.requests() {
		size := 0.
		for _, name := range []string{"max_completion_tokens", "max_tokens", "max_output_tokens"} {
			if sent, there := s.body[name].(float64); there {
				size = sent
			}
		}
		out = append(out, int(size))
	}
	return out
}

const (
	tooLarge = `{"error":{"message":"max_tokens is too large: this model's maximum context length is 20000 tokens` +
		` and your request has 19000 input tokens"}}`
	oldName = `{"error":{"message":"Unrecognized request argument supplied: max_tokens"}}`
	newName = `{"error":{"message":"Unknown parameter: 'max_completion_tokens'."}}`
)

func TestP9_ALimitThatIsTooLargeIsLoweredForItsRequestAlone(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]int{
		16384: {16384, 8192, 4096, 2048, 1024}, 5000: {5000, 2500, 1250, 1024}, 1024: {1024}, 100: {100},
	} {
		w := serve(t, reply{400, tooLarge})
		c := to(t, w)
		_, err := c.Chat(t.Context(), sized(limit, true))
		require.ErrorContains(t, err, "too large", "at the floor the refusal is the error")
		require.Equal(t, want, w.limits())
		require.Equal(t, form{}, c.dialect.current())
	}
	w := serve(t, reply{400, tooLarge}, reply{400, tooLarge}, reply{body: said})
	c := to(t, w)
	for range 2 {
		_, err := c.Chat(t.Context(), sized(16384, true))
		require.NoError(t, err)
	}
	require.Equal(t, []int{16384, 8192, 4096, 16384}, w.limits(), "the file after a long one has its whole limit")
}

func TestP9_AHalvedLimitStaysHalvedWhenSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, tooLarge}, reply{400, oldName}, reply{400, tooLarge}, reply{body: said})
	c := to(t, w)
	_, err := c.Chat(t.Context(), sized(16384, true))
	require.NoError(t, err)
	require.Equal(t, []int{16384, 8192, 8192, 4096}, w.limits())
	require.Equal(t, form{length: 1}, c.dialect.current())
}

func TestP9_ABoundedRequestIsNeverMadeWithoutALimit(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, oldName}, reply{400, newName}, reply{body: said})
	c := to(t, w)
	for range 2 {
		_, err := c.Chat(t.Context(), sized(100, true))
		require.ErrorIs(t, err, ErrNoLimit)
		require.Equal(t, []int{100, 100}, w.limits(), "known by now, it is not even asked")
	}
	_, err := c.Chat(t.Context(), sized(100, false))
	require.NoError(t, err, "who holds no cap is served all the same")
	require.Equal(t, []int{100, 100, 0}, w.limits())

	_, err = to(t, w).Chat(t.Context(), sized(0, true))
	require.ErrorIs(t, err, ErrNoLimit, "there is none to hold")
	require.Len(t, w.limits(), 3)
}

func TestP9_NoLimitIsSentOnlyWhereBothNamesAreUnknown(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		tooLarge, `{"error":{"message":"max_tokens must be a multiple of 8"}}`,
		`{"error":{"message":"bad max_tokens, max_completion_tokens"}}`,
		`{"error":{"message":"max_tokens above 2048 is not supported"}}`,
		`{"error":{"message":"max_tokens is unknown or too high"}}`,
	} {
		w := serve(t, reply{400, oldName}, reply{400, words})
		c := to(t, w)
		_, err := c.Chat(t.Context(), sized(16384, false))
		require.Error(t, err, words)
		require.NotContains(t, w.limits(), 0, words)
		require.Equal(t, form{length: 1}, c.dialect.current(), words)
	}
}
