package chunker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunker"
)

// The grammar reads each of these as errors, and a whole file with them for seconds.
func TestNewerFormsOfCSharpDoNotHideWhatIsDefined(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"empty collections": "int[] b = []; b ??= []; F([], x: []); return b is null ? [] : [];",
		"nested generics":   "var l = Mock.Of<ILogger<Store>>(); var m = new Dictionary<int, List<Tuple<int, A>>>();",
		"discards":          "F((_, _) => 1, _ => 2); M.TryGet(key, out var _);",
		"braces in strings": "throw new E($\"{{{a}}} is none of {b[0]}\");",
		"escaped quotes":    `return $"{{\"0\":{{\"On\":true,\"Keys\":{{\"Key\":\"{key}\"}}}}}}";`,
		"directives":        "return a\n#if NET8\n&& b\n#endif\n;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "public class Base<K> : Handler<K, List<V>> where K : notnull\n{\n    void First()\n" +
				"    {\n        " + form + "\n    }\n\n    int Second<T>(T x) => 1;\n}\n"
			chunks, fallback := chunker.New().Cut(t.Context(), "a.cs", text)
			require.Empty(t, fallback)
			var symbols []string
			for _, c := range chunks {
				symbols = append(symbols, c.Symbol())
			}
			require.Equal(t, []string{"Base", "Base.First", "Base.Second"}, symbols)
			require.Equal(t, "public class Base<K> : Handler<K, List<V>> where K : notnull", chunks[0].Signature)
		})
	}
}
