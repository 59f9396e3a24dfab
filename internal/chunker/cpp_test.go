package chunker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunker"
)

// The grammar loses the functions around each of these, or all of the file.
func TestFormsOfCPPDoNotHideWhatIsDefined(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"literal":    "void First() {\n  log(\"x\"sv, R\"j({\"a\": 1})j\"_json);\n}",
		"comparison": "void First() {\n  if (c < '0' || c > '9') return;\n  assert(height > 0);\n}",
		"parameter":  "void First(std::shared_ptr<net::Logger> logger) {\n  use(logger);\n}",
		"result":     "static std::map<int, std::vector<a::b>> First(X* x, int n) {\n  return {};\n}",
		"trailing":   "auto First(X x) const noexcept -> decltype(x.begin()) {\n  return x.begin();\n}",
		"macros":     "X_API const char* First(int n) X_NOEXCEPT {\n  return \"\";\n}",
		"branches":   "int First(int n) {\n#if A\n  if (n) {\n#else\n  if (!n) {\n#endif\n    n++;\n  }\n  return n;\n}",
		"type":       "using size_type = std::size_t;\nconstexpr size_type First() const noexcept {\n  return n_;\n}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "namespace app {\n\nclass X_API Store : public Base {\n public:\n  Store(int n) : n_{n}, m_(n) {\n" +
				"    Base::init(n * m_);\n  }\n\n" + form + "\n\n  int Second(Random* r, const T& t) override {\n" +
				"    return r->next() % 7;\n  }\n  int n_ GUARDED_BY(mu_);\n};\n\n}  // namespace app\n"
			chunks, fallback := chunker.New().Cut(t.Context(), "a.cpp", text)
			require.Empty(t, fallback)
			var symbols []string
			for _, c := range chunks {
				if c.Kind == "function" || c.Kind == "method" {
					symbols = append(symbols, c.Symbol())
				}
			}
			require.Equal(t, []string{"app.Store.Store", "app.Store.First", "app.Store.Second"}, symbols)
		})
	}
}

func TestACFunctionInCPPIsOne(t *testing.T) {
	t.Parallel()
	chunks, _ := chunker.New().Cut(t.Context(), "a.cc", "extern \"C\" int Run(const char* data) {\n  return 0;\n}\n")
	require.Len(t, chunks, 1)
	require.Equal(t, "Run", chunks[0].Symbol())
}

func TestBranchesInABodyInCDoNotHideWhatFollows(t *testing.T) {
	t.Parallel()
	text := "static int first(int n) {\n#ifdef A\n  if (n) {\n#else\n  if (!n) {\n#endif\n    n++;\n  }\n  return n;\n}\n" +
		"\nint second(void) {\n  return 1;\n}\n"
	chunks, fallback := chunker.New().Cut(t.Context(), "a.c", text)
	require.Empty(t, fallback)
	require.Len(t, chunks, 2)
	require.Equal(t, "static int first(int n)", chunks[0].Signature)
	require.Equal(t, "second", chunks[1].Symbol())
}

func TestAMacroWithABodyIsADefinition(t *testing.T) {
	t.Parallel()
	chunks, _ := chunker.New().Cut(t.Context(), "a_test.cc", "// A store opens\nTEST(Store, Opens) {\n  open();\n}\n")
	require.Len(t, chunks, 1)
	require.Equal(t, "function", string(chunks[0].Kind))
	require.Equal(t, "TEST", chunks[0].Name)
}

// The grammar ends a macro at a comment in it, and takes the rest of the file for the rest of an expression.
func TestACommentInAMacroOfCPPHidesNothing(t *testing.T) {
	t.Parallel()
	chunks, _ := chunker.New().Cut(t.Context(), "a.hpp", "#define TEST(a, ...) \\\n    do { \\\n"+
		"        /* once, and not twice */ \\\n        run(a); \\\n    } while (false)\n\n"+
		"#define CHECK(a) \\\n    if (!(a)) \\\n    fail()\n")
	require.Len(t, chunks, 2)
	require.Equal(t, []string{"TEST"}, chunks[0].Defines)
	require.Equal(t, []string{"CHECK"}, chunks[1].Defines)
}

func TestAMacroAfterADestructorEndsNoParse(t *testing.T) {
	t.Parallel()
	_, fallback := chunker.New().Cut(t.Context(), "a.cpp",
		"  ~Exception() X_NOEXCEPT override;\n  ~InvalidScalar() X_NOEXCEPT override;\n")
	require.Empty(t, fallback)
}

func TestT35_ALongTableInCTakesNoLonger(t *testing.T) {
	t.Parallel()
	text := "static const char *table[] = {\n" + strings.Repeat("  \"06S\", X(1, {2, 3}),\n", 3_000) +
		"};\n\nint after(void) {\n  return 1;\n}\n"
	for _, name := range []string{"a.c", "a.cpp"} {
		chunks, fallback := chunker.New().Cut(t.Context(), name, text)
		require.Empty(t, fallback, name)
		require.Equal(t, []string{"table"}, chunks[0].Defines)
		require.Equal(t, "after", chunks[len(chunks)-1].Name)
	}
}

func TestAnErrorInABodyInCIsASyntaxError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{"return 1;": false, "return 1 +;": true} {
		errors, unmatched := chunker.New().Broken(t.Context(), "a.c", "int first(void) {\n  "+body+"\n}\n")
		require.Equal(t, []bool{want, false}, []bool{errors, unmatched}, body)
	}
}

func TestT35_CommentsThatAreNeverClosedTakeNoLonger(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.c", "a.cpp", "A.java"} {
		_, fallback := chunker.New().Cut(t.Context(), name, strings.Repeat("/*\n", 10_000))
		require.Empty(t, fallback, name)
	}
}
