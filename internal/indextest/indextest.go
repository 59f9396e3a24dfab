// Package indextest is the contract of index.Source as tests: one suite for all sources.
package indextest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/tree"
)

// Files are a small repository in Go and TypeScript.
var Files = map[string]string{
	"go.mod": "module example.com/shop\n",
	"cart/cart.go": "package cart\n\nfunc AddItem(sku string) {\n\tcheckStock(sku)\n}\n\nfunc Total() int " +
		"{\n\treturn 0\n}\n",
	"cart/stock.go": "package cart\n\nfunc checkStock(sku string) bool {\n\treturn sku != \"\"\n}\n",
	"web/handler.go": "package web\n\nimport \"example.com/shop/cart\"\n\nfunc PostItem() " +
		"{\n\tcart.AddItem(\"a\")\n}\n",
	"cart/cart_test.go": "package cart\n\nfunc TestAddItem() {\n\tAddItem(\"x\")\n}\n\nfunc TestNothing() {\n" +
		"\tpanic(\"nothing\")\n}\n",
	"web/other_test.go": "package web\n\nfunc TestPost() {\n\tcart.AddItem(\"y\")\n}\n",
	"ui/format.ts":      "export function formatPrice(cents) {\n  return cents / 100\n}\n",
	"ui/view.ts": "import { formatPrice } from './format'\n\nexport function view() {\n  return " +
		"formatPrice(1)\n}\n",
}

var definition = regexp.MustCompile(`func(?:tion)? (\w+)`)

// Paths returns the files of an index that have chunks.
func Paths(x *index.Index) (all []string) {
	for _, c := range x.Chunks() {
		all = append(all, c.Path)
	}
	return slices.Compact(all)
}

// Cut makes a chunk of each paragraph, and parses nothing.
func Cut(_ context.Context, path, text string) (all []chunk.Chunk, fallback string) {
	line := 1
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		lines := strings.Count(paragraph, "\n") + 1
		c := chunk.Chunk{Path: path, StartLine: line, EndLine: line + lines - 1, Kind: chunk.Constants, Text: paragraph}
		if m := definition.FindStringSubmatch(paragraph); m != nil {
			c.Kind, c.Name, c.Defines = chunk.Function, m[1], m[1:]
		}
		all = append(all, c)
		line += lines + 1
	}
	return all, ""
}

// Build makes an index of files, by Cut.
func Build(t testing.TB, files map[string]string) *index.Index {
	t.Helper()
	x, _, err := index.Build(t.Context(), tree.Files(files), nil, index.Options{Cut: Cut, Made: "paragraphs"})
	require.NoError(t, err)
	return x
}

// Run runs the suite. open makes a source with the content of an index.
func Run(t *testing.T, open func(t *testing.T, x *index.Index) *index.Source) {
	t.Helper()
	RunPlain(t, open)
	x := Build(t, Files)
	with := x.WithVectors("m", 2, vectors(x))
	t.Run("vectors", func(t *testing.T) { similar(t, open(t, with)) })
}

// RunPlain runs the suite for a source without vectors.
func RunPlain(t *testing.T, open func(t *testing.T, x *index.Index) *index.Source) {
	t.Helper()
	x := Build(t, Files)
	s := open(t, x)
	t.Run("lexical", func(t *testing.T) { lexical(t, s, x) })
	t.Run("names", func(t *testing.T) { names(t, s) })
	t.Run("files", func(t *testing.T) { files(t, s) })
	t.Run("no vectors", func(t *testing.T) {
		hits, err := s.Similar(t.Context(), []float32{1, 0}, 3, nil)
		require.NoError(t, err)
		require.Empty(t, hits)
	})
}

func idsOf[T any](all []T, id func(T) string) []string {
	names := []string{}
	for _, one := range all {
		names = append(names, id(one))
	}
	return names
}

func hits(all []index.Hit, err error) []string {
	return idsOf(all, func(h index.Hit) string { return h.ID() })
}

func chunks(all []chunk.Chunk, err error) []string {
	return idsOf(all, func(c chunk.Chunk) string { return c.ID() })
}

func lexical(t *testing.T, s *index.Source, x *index.Index) {
	ctx := t.Context()
	found, err := s.Lexical(ctx, index.Terms("where is an item added"), 3, nil)
	require.NoError(t, err)
	require.Equal(t, "AddItem", strings.TrimPrefix(found[0].Name, "Test"))
	require.Len(t, found, 3)
	require.GreaterOrEqual(t, found[0].Score, found[1].Score)
	want, err := x.Lexical(ctx, index.Terms("checkStock sku item"), 10, nil)
	require.NoError(t, err)
	got, err := s.Lexical(ctx, index.Terms("checkStock sku item"), 10, nil)
	require.NoError(t, err)
	require.Equal(t, hits(want, nil), hits(got, nil))
	require.InDelta(t, want[0].Score, got[0].Score, 1e-6)
	only := []string{"web/h*"}
	require.Equal(t, []string{"web/handler.go:5-7"}, hits(s.Lexical(ctx, index.Terms("AddItem"), 9, only)))
	require.Empty(t, hits(s.Lexical(ctx, index.Terms("xylophone"), 9, nil)))
	require.Empty(t, hits(s.Lexical(ctx, nil, 9, nil)))
	require.Empty(t, hits(s.Lexical(ctx, index.Terms("item"), 0, nil)))
	synonym := []index.Term{{"xylophone", "stock"}}
	require.NotEmpty(t, hits(s.Lexical(ctx, synonym, 9, nil)))
}

func names(t *testing.T, s *index.Source) {
	ctx := t.Context()
	by, err := s.Defines(ctx, 1, "AddItem", "Total", "additem")
	require.NoError(t, err)
	require.Len(t, by, 2, "case counts")
	require.Equal(t, []string{"cart/cart.go:3-5"}, chunks(by["AddItem"], nil))
	require.ElementsMatch(t, []string{"cart/cart.go:3-5", "cart/stock.go:3-5"},
		chunks(s.Mentions(ctx, "checkStock", 9)))
	require.Len(t, chunks(s.Mentions(ctx, "AddItem", 2)), 2)
	require.Empty(t, chunks(s.Mentions(ctx, "Add", 9)), "a part is no word")
	require.Empty(t, chunks(s.Mentions(ctx, "'; drop table", 9)))
}

func files(t *testing.T, s *index.Source) {
	ctx := t.Context()
	for path := range Files {
		all, err := s.In(ctx, path)
		require.NoError(t, err)
		require.Equal(t, path != "go.mod", len(all) > 0, path)
	}
	require.Equal(t, []string{"cart/cart.go:1-1", "cart/cart.go:3-5", "cart/cart.go:7-9"},
		chunks(s.In(ctx, "cart/cart.go")))
	require.Empty(t, chunks(s.In(ctx, "gone.go")))
	for file, want := range map[string][]string{"web/handler.go": {"cart/cart.go", "cart/stock.go"},
		"ui/view.ts": {"ui/format.ts"}, "cart/stock.go": {"web/handler.go"}, "gone.go": nil} {
		require.ElementsMatch(t, want, s.Linked(file), file)
	}
}

// vectors returns a vector for every chunk but one.
func vectors(x *index.Index) map[string][]float32 {
	all := map[string][]float32{}
	for _, c := range x.Chunks() {
		switch c.Name {
		case "Total":
		case "formatPrice":
			all[c.Key()] = []float32{0, 1}
		default:
			all[c.Key()] = []float32{1, 0}
		}
	}
	return all
}

func similar(t *testing.T, s *index.Source) {
	ctx := t.Context()
	found, err := s.Similar(ctx, []float32{0.6, 0.8}, 1, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ui/format.ts:1-3"}, hits(found, nil))
	require.InDelta(t, 0.8, found[0].Score, 0.02)
	require.Equal(t, []string{"cart/cart.go:1-1", "cart/cart.go:3-5"},
		hits(s.Similar(ctx, []float32{1, 0}, 2, []string{"cart/*"})), "equal ones in order")
	require.Empty(t, hits(s.Similar(ctx, []float32{1, 0, 0}, 2, nil)), "of another length")
	require.Equal(t, index.VectorsInfo{Model: "m", Dimensions: 2, Missing: 1}, s.Vectors())
}
